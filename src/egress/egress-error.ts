// What can go wrong on the way to an address that a caller chose. The message is for that caller: it names no address, and a private
// address is refused before it is dialled, so that nobody learns what listens inside.

export type EgressErrorCode =
  | "url_not_allowed"
  | "unreachable"
  | "timeout"
  | "too_large"
  | "bad_response"
  | "redirect_refused"
  | "too_many_redirects";

export class EgressError extends Error {
  readonly code: EgressErrorCode;
  /** The status of the answer, where there was one. */
  readonly status: number | null;

  constructor(code: EgressErrorCode, message: string, more: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = "EgressError";
    this.code = code;
    this.status = more.status ?? null;
  }
}
