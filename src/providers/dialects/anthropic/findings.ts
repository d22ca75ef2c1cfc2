// What a translation finds on its way: problems that make the request impossible, and parameters that have no place.

import { ProblemList } from "../../../errors.ts";

type Place = readonly (string | number)[];

export class Findings {
  readonly dropped = new Set<string>();
  readonly #problems = new ProblemList();

  /** The vendor has no such thing. */
  unsupported(place: Place, msg: string): void {
    this.#problems.add({ loc: ["body", ...place], msg, type: "unsupported_parameter" });
  }

  invalid(place: Place, msg: string): void {
    this.#problems.add({ loc: ["body", ...place], msg, type: "value_error" });
  }

  /** All problems at once. */
  throwIfAny(): void {
    this.#problems.throwIfAny();
  }
}
