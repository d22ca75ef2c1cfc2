// The error that a call ends with.

import { type Problem, ValidationError } from "../../src/errors.ts";

type Kind<Thrown> = abstract new (...parameters: never[]) => Thrown;

export function thrownBy<Thrown>(act: () => unknown, kind: Kind<Thrown>): Thrown {
  try {
    act();
  } catch (error) {
    return expectKind(error, kind);
  }
  throw new Error("it did not fail");
}

export async function rejectionOf<Thrown>(call: PromiseLike<unknown>, kind: Kind<Thrown>): Promise<Thrown> {
  try {
    await call;
  } catch (error) {
    return expectKind(error, kind);
  }
  throw new Error("it did not fail");
}

/** The problems of an input that `act` refuses; none if it accepts the input. */
export function problemsFoundBy(act: () => unknown): readonly Problem[] {
  try {
    act();
  } catch (error) {
    return expectKind(error, ValidationError).problems;
  }
  return [];
}

/** The problems of an input that `act` must refuse. */
export function problemsOf(act: () => unknown): readonly Problem[] {
  return thrownBy(act, ValidationError).problems;
}

function expectKind<Thrown>(error: unknown, kind: Kind<Thrown>): Thrown {
  if (error instanceof kind) return error;
  throw error;
}
