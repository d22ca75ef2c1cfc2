// Messages between the main thread (sqlite.ts) and the SQLite thread (sqlite-worker.ts). An error loses its class on the way between
// threads, so it travels as a plain object.

import { type ErrorCode, GatewayError, type Problem, ValidationError } from "../errors.ts";

export type ToWorker =
  | { readonly type: "open"; readonly dataDir: string; readonly lockTimeoutMs: number }
  | {
      readonly type: "call";
      readonly id: number;
      readonly store: string;
      readonly name: string;
      readonly args: readonly unknown[];
      /** Epoch milliseconds. A call that has not started by then is not started. */
      readonly deadline: number;
    }
  | { readonly type: "probe"; readonly id: number }
  /** From now on, announce every commit of any process: it may have added work. */
  | { readonly type: "watch-work" }
  | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "opened" }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "error"; readonly id: number; readonly error: PackedError }
  | { readonly type: "failed"; readonly error: PackedError }
  | { readonly type: "changed"; readonly topic: AnnouncedTopic }
  | { readonly type: "closed" };

/** Changes of keys are recognised by their revision. Every other commit may have added work. */
export type AnnouncedTopic = "keys" | "work";

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
