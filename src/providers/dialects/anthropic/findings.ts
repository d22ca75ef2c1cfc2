// What a translation finds on its way: problems that make the request impossible, and parameters that have no place.

import { type Problem, ValidationError } from "../../../errors.ts";

type Place = readonly (string | number)[];

export class Findings {
  readonly dropped = new Set<string>();
  readonly #problems: Problem[] = [];

  /** The vendor has no such thing. */
  unsupported(place: Place, msg: string): void {
    this.#problems.push({ loc: ["body", ...place], msg, type: "unsupported_parameter" });
  }

  invalid(place: Place, msg: string): void {
    this.#problems.push({ loc: ["body", ...place], msg, type: "value_error" });
  }

  /** All problems at once. */
  throwIfAny(): void {
    const [first, ...others] = this.#problems;
    if (first !== undefined) throw new ValidationError([first, ...others]);
  }
}
