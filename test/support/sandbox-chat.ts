// Calls of the sandbox provider, and its answers as the tests read them.

import { expect } from "bun:test";
import { sandbox } from "../../src/providers/sandbox/index.ts";
import { readEvents } from "./events.ts";

export type Body = Readonly<Record<string, unknown>>;

export interface Spoken {
  readonly role?: string;
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly Call[];
  readonly function_call?: Partial<Call["function"]>;
}

export interface Call {
  readonly index?: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

export interface Logprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly Omit<Logprob, "top_logprobs">[];
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export interface Written<Part> {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
  readonly service_tier?: string;
  readonly choices: readonly (Part & {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly logprobs: {
      readonly content: readonly Logprob[] | null;
      readonly refusal: readonly Logprob[] | null;
    } | null;
  })[];
  readonly usage?: Usage | null;
}

export type Completion = Written<{ readonly message: Spoken }>;

export type Chunk = Written<{ readonly delta: Spoken }>;

export const url = "http://sandbox.invalid/v1/chat/completions";

export const hello = [{ role: "user", content: "Hello there, dear sandbox" }];

export const clock = { type: "function", function: { name: "get_time" } };

export function send(
  body: string | Body,
  options: { signal?: AbortSignal; method?: string; url?: string } = {},
): Promise<Response> {
  if (sandbox.transport === undefined) throw new Error("the row has no transport");
  return sandbox.transport(options.url ?? url, {
    method: options.method ?? "POST",
    body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
    signal: options.signal ?? new AbortController().signal,
  });
}

export async function complete(body: Body): Promise<Completion> {
  const response = await send({ model: "echo", messages: hello, ...body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  expect(response.headers.get("content-type")).toBe("application/json");
  return JSON.parse(text);
}

export async function completeOne(body: Body) {
  const completion = await complete(body);
  const choice = completion.choices[0];
  if (choice === undefined || completion.usage == null) throw new Error("no choice or no usage");
  return { ...choice, usage: completion.usage };
}

export async function stream(body: Body): Promise<{ chunks: readonly Chunk[]; isDone: boolean }> {
  const response = await send({ model: "echo", messages: hello, stream: true, ...body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const { events, rest } = readEvents(text);
  expect(rest).toBe("");
  const isDone = events.at(-1)?.data === "[DONE]";
  return { chunks: events.slice(0, isDone ? -1 : undefined).map(({ data }) => JSON.parse(data)), isDone };
}

/** What a client puts together from the deltas of one choice. */
export function assemble(chunks: readonly Chunk[], index = 0) {
  const parts = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
  const calls: { id: string; name: string; arguments: string; pieces: number }[] = [];
  for (const { index: at = -1, id, function: part } of parts.flatMap((choice) => choice.delta.tool_calls ?? [])) {
    if (id !== undefined) calls[at] = { id, name: part.name ?? "", arguments: "", pieces: 0 };
    const call = calls[at];
    if (call === undefined) throw new Error(`arguments before call ${at} was opened`);
    call.arguments += part.arguments;
    if (part.arguments !== "") call.pieces++;
  }
  return {
    roles: parts.map((choice) => choice.delta.role).filter((role) => role !== undefined),
    content: parts.map((choice) => choice.delta.content ?? "").join(""),
    reasoning: parts.map((choice) => choice.delta.reasoning_content ?? "").join(""),
    refusal: parts.map((choice) => choice.delta.refusal ?? "").join(""),
    finishes: parts.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
    calls,
    logprobs: parts.flatMap((choice) => choice.logprobs?.content ?? []),
    functionCall: parts.map((choice) => choice.delta.function_call).filter((part) => part !== undefined),
  };
}

/** Parameters of the function get_weather. */
export const weatherParameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
