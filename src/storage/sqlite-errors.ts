// Errors lose their class on the way between threads: these two put them into a plain object and back.

import { type ErrorCode, GatewayError, type Problem, ValidationError } from "../errors.ts";

export type PackedError =
  | { readonly kind: "gateway"; readonly code: ErrorCode; readonly message: string; readonly retryAfter: number | null }
  | { readonly kind: "validation"; readonly problems: readonly [Problem, ...Problem[]] }
  | { readonly kind: "other"; readonly name: string; readonly message: string; readonly code: string | null };

export function packError(error: unknown): PackedError {
  if (error instanceof GatewayError) {
    const { code, details } = error;
    return { kind: "gateway", code, message: error.message, retryAfter: details.retryAfter ?? null };
  }
  if (error instanceof ValidationError) return { kind: "validation", problems: error.problems };
  if (!(error instanceof Error)) return { kind: "other", name: "Error", message: String(error), code: null };
  const { code } = error as { code?: unknown };
  return { kind: "other", name: error.name, message: error.message, code: typeof code === "string" ? code : null };
}

export function unpackError(packed: PackedError): Error {
  if (packed.kind === "validation") return new ValidationError(packed.problems);
  if (packed.kind === "gateway") {
    const { code, message, retryAfter } = packed;
    return new GatewayError(code, message, retryAfter === null ? {} : { retryAfter });
  }
  return Object.assign(new Error(packed.message), { name: packed.name, code: packed.code });
}
