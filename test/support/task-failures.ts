// What the tests of the smaller vendors share: bytes of files, and failures of a task.

import { GatewayError, ValidationError } from "../../src/errors.ts";
import { png } from "../engines/vendors-others/ask.ts";

export const pngBase64 = png.toString("base64");

export async function refusalOf(promise: Promise<unknown>): Promise<ValidationError> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ValidationError)) throw new Error(`it was not refused: ${String(error)}`);
  return error;
}

export async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof GatewayError)) throw new Error(`it did not fail: ${String(error)}`);
  return error;
}
