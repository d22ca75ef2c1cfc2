// Collects what a translation could not express: dropped parameters, which the caller is told, and problems that make the request impossible,
// which are reported all at once.

import { ProblemList } from "../errors.ts";

export type Path = readonly (string | number)[];

export class TranslationReport {
  readonly #dropped = new Set<string>();
  readonly #problems = new ProblemList();

  get dropped(): readonly string[] {
    return [...this.#dropped];
  }

  drop(name: string): void {
    this.#dropped.add(name);
  }

  /** The member would change the answer, and the target format has no such member. */
  unsupported(path: Path, msg: string): void {
    this.#problems.add({ loc: ["body", ...path], msg, type: "unsupported_parameter" });
  }

  /** The value contradicts itself or another value. */
  invalid(path: Path, msg: string): void {
    this.#problems.add({ loc: ["body", ...path], msg, type: "value_error" });
  }

  throwProblems(): void {
    this.#problems.throwIfAny();
  }
}
