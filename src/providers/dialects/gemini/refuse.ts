import { type Problem, ValidationError } from "../../../errors.ts";

export function refuse(loc: Problem["loc"], msg: string, type = "value_error"): never {
  throw new ValidationError([{ loc: ["body", ...loc], msg, type }]);
}
