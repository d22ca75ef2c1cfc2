// Asking the gateway for a chat completion, and reading both of its error forms.

import { expect } from "bun:test";

export const chatPath = "/v3/chat/completions";
export const hello = { model: "mock/echo", messages: [{ role: "user", content: "hi" }] };

interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** Objects are sent as JSON, text as it is. */
export function ask(url: string, key: string, body: unknown, { headers, path, signal }: Ask = {}): Promise<Response> {
  return fetch(`${url}${path ?? chatPath}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

export function askTask(url: string, key: string, body: unknown): Promise<Response> {
  return ask(url, key, body, { path: "/v3/universal-ai" });
}

/** Sends `body`, and hangs up when the first bytes of the answer have arrived. */
export async function askAndLeave(url: string, key: string, body: unknown): Promise<Response> {
  const left = new AbortController();
  const response = await ask(url, key, body, { signal: left.signal });
  await response.body?.getReader().read();
  left.abort();
  return response;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
  readonly headers: Headers;
}

/** Holds an answer to both error forms and gives back what it says. */
export async function readError(response: Response): Promise<ErrorAnswer> {
  const text = await response.text();
  if (response.ok) throw new Error(`expected an error, got ${response.status}: ${text.slice(0, 300)}`);
  const body = JSON.parse(text) as { error: Omit<ErrorAnswer, "status" | "headers">; detail: unknown };
  expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(body.error.message).not.toBe("");
  if (response.status === 422) expect(body.detail).toBeArray();
  else expect(body.detail).toBe(body.error.message);
  expect(response.headers.get("x-request-id")).toBeTruthy();
  return { status: response.status, headers: response.headers, ...body.error };
}

export interface Completion {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
  readonly usage?: Record<string, number>;
  readonly provider: string;
  readonly cost: number | null;
  readonly provider_time: number;
  readonly [more: string]: unknown;
}

export async function readCompletion(response: Response): Promise<Completion> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`expected a completion, got ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as Completion;
}
