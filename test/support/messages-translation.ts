// What the tests of the Messages format share: requests in their smallest form.

import { expect } from "bun:test";
import type { ChatChunk, ChatMessage } from "../../src/contract/chat-format.ts";
import { createMessagesRequest, type MessagesRequest } from "../../src/contract/messages.ts";
import { parse } from "../../src/contract/problems.ts";
import { fromMessagesRequest } from "../../src/inference/messages/from-messages-request.ts";
import { MessagesStreamWriter } from "../../src/inference/messages/messages-stream.ts";

export const schema = createMessagesRequest(new Set());

export const least = { model: "somewhere/some-model", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };

export function read(members: object): MessagesRequest {
  return parse(schema, { ...least, ...members });
}

export function translate(members: object) {
  return fromMessagesRequest(read(members));
}

export function translateTurns(...messages: readonly object[]): readonly ChatMessage[] {
  return translate({ messages }).request.messages;
}

export const user = (...content: readonly object[]) => ({ role: "user", content });

export const assistant = (...content: readonly object[]) => ({ role: "assistant", content });

export const text = (value: string) => ({ type: "text", text: value });

export const call = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "look_up", input });

export interface Event {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: Record<string, unknown>;
  readonly delta?: Record<string, unknown>;
  readonly message?: Record<string, unknown>;
  readonly usage?: Record<string, unknown>;
}

export function readFrames(frames: readonly string[]): Event[] {
  return frames.map((frame) => {
    const match = /^event: (\w+)\ndata: (.*)\n\n$/.exec(frame);
    const event = JSON.parse(match?.[2] ?? "null") as Event;
    expect(event.type).toBe(match?.[1] as string);
    return event;
  });
}

export function stream(...chunks: readonly ChatChunk[]): Event[] {
  const writer = new MessagesStreamWriter({ model: "asked-for" });
  const frames = chunks.flatMap((each) => writer.write(each));
  return readFrames([...frames, ...writer.end({ cost: 0.25, reason: null })]);
}
