// What the tests of the smaller vendors share: bytes of files, and failures of a task.

import { GatewayError, ValidationError } from "../../src/errors.ts";
import { png } from "../engines/vendors-others/ask.ts";

export const pngBase64 = png.toString("base64");

/** What the promise was rejected with, which must be of this class. */
async function rejectionOf<Kind extends Error>(promise: Promise<unknown>, kind: new (...args: never[]) => Kind) {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof kind)) throw new Error(`expected a ${kind.name}, got ${String(error)}`);
  return error;
}

export const refusalOf = (promise: Promise<unknown>) => rejectionOf(promise, ValidationError);
export const failureOf = (promise: Promise<unknown>) => rejectionOf(promise, GatewayError);
