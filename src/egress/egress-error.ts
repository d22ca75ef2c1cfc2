// Failures of requests to addresses that callers choose. The caller sees the message, so it names no address; private addresses are refused
// before they are dialled, so that no caller learns which internal services exist.

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
  readonly status: number | null;

  constructor(code: EgressErrorCode, message: string, more: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = "EgressError";
    this.code = code;
    this.status = more.status ?? null;
  }
}
