// Asking the gateway for responses, and reading their events.

import { expect } from "bun:test";
import { ask } from "./chat.ts";
import { readEvents } from "./events.ts";
import type { Gateway } from "./gateway-settings.ts";

export const responsesPath = "/v3/responses";

export interface OwnResponse {
  readonly id: string;
  readonly object: string;
  readonly status: string;
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly output: readonly Record<string, unknown>[];
  readonly store: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly usage: Record<string, unknown> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly provider: string;
  readonly cost: number | null;
  readonly provider_time: number | null;
  readonly [more: string]: unknown;
}

export interface Client {
  readonly key: string;
  /** Sends the request and gives back whatever comes. */
  post(
    body: unknown,
    path?: string,
    init?: { signal?: AbortSignal; headers?: Record<string, string> },
  ): Promise<Response>;
  get(path: string): Promise<Response>;
  remove(id: string): Promise<Response>;
  /** A response that must succeed. */
  create(body: Record<string, unknown>): Promise<OwnResponse>;
  retrieve(id: string, query?: string): Promise<OwnResponse>;
  stream(body: Record<string, unknown>): Promise<ResponseStream>;
}

export function createClient(gateway: Pick<Gateway, "url">, key: string): Client {
  const call = (method: string, path: string) =>
    fetch(`${gateway.url}${responsesPath}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  return {
    key,
    post: (body, path = "", init = {}) => ask(gateway.url, key, body, { path: `${responsesPath}${path}`, ...init }),
    get: (path) => call("GET", `/${path}`),
    remove: (id) => call("DELETE", `/${id}`),
    async create(body) {
      return readResponse(await this.post({ model: "mock/echo", ...body }));
    },
    async retrieve(id, query = "") {
      return readResponse(await call("GET", `/${id}${query}`));
    },
    async stream(body) {
      return readResponseStream(await (await this.post({ model: "mock/echo", stream: true, ...body })).text());
    },
  };
}

export async function readResponse(answer: Response): Promise<OwnResponse> {
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`expected a response, got ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as OwnResponse;
}

export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response?: OwnResponse;
  readonly delta?: string;
  readonly [more: string]: unknown;
}

export interface ResponseStream {
  readonly text: string;
  readonly events: readonly ResponseEvent[];
  readonly types: readonly string[];
  readonly done: boolean;
  /** Of the first event. */
  readonly id: string;
  readonly last: ResponseEvent;
  readonly said: string;
}

/** Holds a stream to its grammar: names equal types, numbers without gaps, nothing after the end. */
export function readResponseStream(text: string, firstNumber = 0): ResponseStream {
  const { events: frames, rest } = readEvents(text);
  if (rest.trim() !== "") throw new Error(`the stream ends inside an event: ${rest.slice(0, 200)}`);
  const done = frames.at(-1)?.data === "[DONE]";
  const named = done ? frames.slice(0, -1) : frames;
  const events = named.map(({ name, data }) => {
    const event = JSON.parse(data) as ResponseEvent;
    expect(name).toBe(event.type);
    return event;
  });
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index + firstNumber));
  const last = events.at(-1);
  if (last === undefined) throw new Error(`a stream without events: ${text.slice(0, 300)}`);
  const said = events
    .filter(({ type }) => type === "response.output_text.delta")
    .map(({ delta }) => delta)
    .join("");
  const types = events.map(({ type }) => type);
  return { text, events, types, done, id: events[0]?.response?.id ?? "", last, said };
}

export function textOf({ output }: Pick<OwnResponse, "output">): string {
  return output
    .filter(({ type }) => type === "message")
    .flatMap(({ content }) => content as { text?: string }[])
    .map(({ text }) => text ?? "")
    .join("");
}
