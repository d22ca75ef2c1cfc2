// Validation errors for documents that cannot be read.

import { ValidationError } from "../../../errors.ts";

export function refuseFile(message: string, type = "value_error"): ValidationError {
  return new ValidationError([{ loc: ["body", "input", "file"], msg: message, type }]);
}

export function refuseLanguage(message: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", "language"], msg: message, type: "value_error" }]);
}
