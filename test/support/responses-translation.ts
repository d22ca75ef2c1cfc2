// What the tests of the Responses format share: requests, completions and streams in their smallest form.

import { expect } from "bun:test";
import type { ChatChunk, ChatCompletion, ChatDelta } from "../../src/contract/chat-format.ts";
import { parse } from "../../src/contract/problems.ts";
import { createResponseRequest, type ResponseRequest } from "../../src/contract/responses.ts";
import { fromResponsesRequest } from "../../src/inference/responses/from-responses-request.ts";
import { createDraft } from "../../src/inference/responses/response-defaults.ts";
import { ResponsesStreamWriter } from "../../src/inference/responses/responses-stream.ts";
import type { OutputItem } from "../../src/inference/responses/to-response.ts";

export const schema = createResponseRequest(new Set());

export const least = { model: "somewhere/some-model", input: "Hello" };

export function read(members: object): ResponseRequest {
  return parse(schema, { ...least, ...members });
}

export function translate(members: object, earlier: readonly Record<string, unknown>[] = []) {
  return fromResponsesRequest(read(members), earlier);
}

export const user = (content: unknown) => ({ role: "user", content });

export const call = (id: string, written = "{}") => ({
  type: "function_call",
  call_id: id,
  name: "look_up",
  arguments: written,
});

export const result = (id: string, output: unknown = "found") => ({
  type: "function_call_output",
  call_id: id,
  output,
});

export const tool = { type: "function", name: "look_up", parameters: { type: "object", properties: {} } };

export const pixel = "data:image/png;base64,iVBORw0KGgo=";

export const draftOptions = { id: "resp_1", createdAt: 1_700_000_000, model: "vendor-model", provider: "mock" };

export function createDraftOf(members: object = {}) {
  return createDraft(read(members), draftOptions);
}

export function complete(message: object, members: object = {}, choice: object = {}): ChatCompletion {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_001,
    model: "vendor-model-2",
    choices: [
      { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "stop", ...choice },
    ],
    ...members,
  } as ChatCompletion;
}

export const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

export const signed = { type: "reasoning.text" as const, text: "Hm.", signature: "c2ln" };

export const hidden = { type: "reasoning.encrypted" as const, data: "xyz" };

export const chatCall = (id: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: '{"x":1}' },
  ...more,
});

export interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly delta?: string;
  readonly item?: OutputItem;
  readonly response?: { readonly output: readonly OutputItem[] } & Record<string, unknown>;
  readonly [member: string]: unknown;
}

export function chunk(delta: ChatDelta & Record<string, unknown>, more: object = {}): ChatChunk {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "vendor-model-2",
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  };
}

export const finish = (finish_reason: "stop" | "length" | "tool_calls" | "content_filter") =>
  chunk({}, { finish_reason });

export const piece = (index: number, written: string, more: object = {}) => ({
  tool_calls: [{ index, function: { arguments: written }, ...more }],
});

export const begun = (index: number, id: string, written = "", more: object = {}) => ({
  tool_calls: [{ index, id, type: "function", function: { name: "look_up", arguments: written }, ...more }],
});

export function readFrames(frames: readonly string[]): Event[] {
  return frames.map((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.+)\n\n$/.exec(frame) ?? [];
    const event = JSON.parse(data ?? "null") as Event;
    expect(event.type).toBe(name ?? "");
    return event;
  });
}

export const ours = { provider: "somewhere", cost: 0.5, provider_time: 1.25 };

export function stream(chunks: readonly ChatChunk[], members: object = {}): Event[] {
  const writer = new ResponsesStreamWriter(createDraftOf(members));
  const events = readFrames([...chunks.flatMap((each) => writer.write(each)), ...writer.end(ours)]);
  checkGrammar(events);
  return events;
}

export const typesOf = (events: readonly Event[]) => events.map(({ type }) => type.replace("response.", ""));

export const outputOf = (events: readonly Event[]) => events.at(-1)?.response?.output ?? [];

/** What holds of every stream: numbers, openings and closings, and that the pieces add up to what is told at the end. */
export function checkGrammar(events: readonly Event[]): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(typesOf(events).slice(0, 2)).toEqual(["created", "in_progress"]);
  const open = new Set<number>();
  const parts = new Set<string>();
  const texts = new Map<string, string>();
  let count = 0;
  for (const event of events.slice(2, -1)) {
    const index = event.output_index as number;
    const part = `${index}/${event["content_index"] ?? event["summary_index"] ?? ""}`;
    if (event.type === "response.output_item.added") {
      expect(index).toBe(count++);
      open.add(index);
    } else if (event.type !== "response.output_text.annotation.added") expect(open.has(index)).toBe(true);
    if (/part\.added$/.test(event.type)) parts.add(part);
    if (/part\.done$/.test(event.type)) expect(parts.delete(part)).toBe(true);
    if (/delta$/.test(event.type)) {
      if (!event.type.includes("arguments")) expect(parts.has(part)).toBe(true);
      texts.set(part, `${texts.get(part) ?? ""}${event.delta}`);
    }
    const whole = event["text"] ?? event["arguments"] ?? event["refusal"];
    if (/(?:text|refusal|arguments)\.done$/.test(event.type)) expect(texts.get(part) ?? "").toBe(whole as string);
    if (event.type === "response.output_item.done") open.delete(index);
  }
  expect(open.size).toBe(0);
  expect(parts.size).toBe(0);
  const done = events.filter(({ type }) => type === "response.output_item.done");
  const calls = done.filter(({ item }) => item?.type === "function_call").map((event) => event.output_index ?? 0);
  expect(calls).toEqual(calls.toSorted((left, right) => left - right));
  const last = outputOf(events);
  expect(last).toHaveLength(done.length);
  for (const { output_index: index, item } of done) {
    // A source may be told after its text was closed.
    const { content: _, ...told } = item as Record<string, unknown> & OutputItem;
    expect(last[index as number]).toMatchObject(told);
  }
}
