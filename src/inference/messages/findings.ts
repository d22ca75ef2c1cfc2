// What a translation of a Messages request finds on its way: members that have no place in the chat format, and problems
// that make the request one which this provider cannot answer. All problems are told at once.

import { ProblemList } from "../../errors.ts";

export type Path = readonly (string | number)[];

export class Findings {
  readonly #problems = new ProblemList();
  readonly #dropped = new Set<string>();

  /** What would change the answer, and cannot be done. */
  refuse(path: Path, msg: string): void {
    this.#problems.add({ loc: ["body", ...path], msg, type: "unsupported_parameter" });
  }

  /** What contradicts itself. */
  reject(path: Path, msg: string): void {
    this.#problems.add({ loc: ["body", ...path], msg, type: "value_error" });
  }

  /** What is left out, and named to the caller. */
  drop(name: string): void {
    this.#dropped.add(name);
  }

  get dropped(): readonly string[] {
    return [...this.#dropped];
  }

  throwProblems(): void {
    this.#problems.throwIfAny();
  }
}
