// Calls the public HTTP interface of the gateway. The session is a cookie that scripts cannot read; a request that changes something also
// carries the session's token, which other sites cannot know.

export interface ApiProblem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0: the gateway could not be reached. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly problems: readonly ApiProblem[];

  constructor(
    message: string,
    facts: Pick<ApiError, "status" | "code" | "requestId"> & Partial<Pick<ApiError, "problems">>,
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.problems = facts.problems ?? [];
  }

  /** The problem of one member of the request, such as `budget.amount`. */
  problemOf(member: string): string | null {
    const found = this.problems.find(({ loc }) => loc.slice(1).join(".").startsWith(member));
    return found?.msg ?? null;
  }
}

export type QueryValue = string | number | boolean | null | undefined | readonly string[];
export type Query = Readonly<Record<string, QueryValue>>;

export interface CallOptions {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface ClientSession {
  readonly csrfToken: string;
  /** Tells people apart. */
  readonly person: string;
}

/** The code of the error of a change that was not made, because another person has signed in meanwhile. */
export const sessionChanged = "session_changed";

export class ApiClient {
  session: ClientSession | null = null;
  /** Called when the session has ended. */
  onSignedOut: () => void = () => {};
  /** Called when `session` is not the one of the cookie, because another tab has signed in. Reads the current one. */
  readSession: () => Promise<void> = async () => {};

  /** The JSON of the answer. */
  async call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
    const response = await this.send(method, path, options);
    return (await response.json()) as T;
  }

  /** The answer itself, for streams and files. Throws an ApiError for every status but success. */
  async send(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
    const person = this.session?.person;
    try {
      return await this.#sendOnce(method, path, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "csrf_token_invalid")) throw error;
      await this.readSession();
      if (this.session?.person === person) return await this.#sendOnce(method, path, options);
      throw new ApiError("Another person has signed in in this browser. Nothing was changed.", {
        status: error.status,
        code: sessionChanged,
        requestId: error.requestId,
      });
    }
  }

  async #sendOnce(method: Method, path: string, { query, body, headers, signal }: CallOptions): Promise<Response> {
    const sent: Record<string, string> = { accept: "application/json", ...headers };
    if (body !== undefined && !(body instanceof FormData)) sent["content-type"] = "application/json";
    if (method !== "GET" && this.session !== null) sent["x-switchyard-csrf"] = this.session.csrfToken;
    try {
      return await sendRequest(toUrl(path, query), {
        method,
        headers: sent,
        credentials: "same-origin",
        ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401 && path !== sessionPath) this.onSignedOut();
      throw error;
    }
  }
}

/** Throws an ApiError for every status but success, and when the gateway cannot be reached. */
export async function sendRequest(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError("The gateway cannot be reached. Check that it runs, and try again.", {
      status: 0,
      code: "unreachable",
      requestId: null,
    });
  });
  if (response.ok) return response;
  throw await readError(response);
}

export const sessionPath = "/v3/manage/session";

/** Empty values are left out. A list becomes a repeated parameter. */
export function toUrl(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== null && one !== undefined && one !== "") parameters.append(name, String(one));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** What a refused request was answered with. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id");
  const facts = { status: response.status, requestId };
  try {
    const { error, detail } = (await response.json()) as {
      readonly error: { readonly message: string; readonly code: string };
      readonly detail: unknown;
    };
    const problems = Array.isArray(detail) ? (detail as ApiProblem[]) : [];
    return new ApiError(error.message, { ...facts, code: error.code, problems });
  } catch {
    return new ApiError(`The gateway answered with status ${response.status}.`, { ...facts, code: "unknown" });
  }
}
