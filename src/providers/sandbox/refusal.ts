// Errors of the sandbox: a status and the error body of its dialect.

export class SandboxRefusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, details: { param?: string; code?: string } = {}) {
    super(message);
    this.name = "SandboxRefusal";
    this.status = status;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }
}

const typeOfStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

const codeOfStatus: Readonly<Record<number, string>> = {
  401: "invalid_api_key",
  402: "insufficient_quota",
  404: "not_found",
  429: "rate_limit_exceeded",
};

export function errorBody(refusal: SandboxRefusal): string {
  const type = typeOfStatus[refusal.status] ?? (refusal.status >= 500 ? "server_error" : "invalid_request_error");
  const code = refusal.code ?? codeOfStatus[refusal.status] ?? null;
  return JSON.stringify({ error: { message: refusal.message, type, param: refusal.param, code } });
}
