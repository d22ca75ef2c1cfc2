import type { ChatMessage, ChatRequest } from "../../src/contract/chat-format.ts";
import { ValidationError } from "../../src/errors.ts";
import { amazon as row } from "../../src/providers/amazon/index.ts";
import type { ChatDialect, JsonObject } from "../../src/providers/dialect.ts";
import { bedrock } from "../../src/providers/dialects/bedrock/index.ts";
import { findModelFacts } from "../../src/providers/provider.ts";
import { thrownBy } from "./thrown.ts";
import { makeWeatherTool } from "./weather-tool.ts";

export const chat = bedrock.chat as ChatDialect;

export const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

export const opus = "global.anthropic.claude-opus-4-7";

export const nova = "us.amazon.nova-2-lite-v1:0";

export const llama = "us.meta.llama4-maverick-17b-instruct-v1:0";

export const user: ChatMessage = { role: "user", content: "Hi" };

export const weatherTool = makeWeatherTool();

export interface Body {
  readonly messages: { role: string; content: JsonObject[] }[];
  readonly system?: JsonObject[];
  readonly inferenceConfig?: JsonObject;
  readonly toolConfig?: { tools: JsonObject[]; toolChoice?: JsonObject };
  readonly outputConfig?: JsonObject;
  readonly additionalModelRequestFields?: JsonObject;
  readonly [member: string]: unknown;
}

export function ask(model: string, members: Partial<ChatRequest> = {}, isStream = false) {
  const request = { model: `bedrock/${model}`, messages: [user], ...members };
  const facts = findModelFacts(row, model);
  const made = chat.toRequest(request, { model, facts, isStream });
  return { ...made, body: JSON.parse(made.body) as Body, dropped: made.dropped ?? [] };
}

/** A member of a member, or undefined. */
export function memberOf(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((found, name) => (found as JsonObject | undefined)?.[name], value);
}

export function problemOf(act: () => unknown): { loc: string; type: string } {
  const { loc, type } = thrownBy(act, ValidationError).problems[0];
  return { loc: loc.join("."), type };
}

// Tools

export const called: ChatMessage[] = [
  user,
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } },
      { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{city" } },
    ],
  },
  { role: "tool", tool_call_id: "call_1", content: '{"celsius":30}' },
  { role: "tool", tool_call_id: "call_2", content: "" },
];

export const reading = { model: sonnet, answerTool: null };

// Streams

export type Event = readonly [name: string, value: JsonObject];

export const stop = (at: number): Event => ["contentBlockStop", { contentBlockIndex: at }];

export const end = (stopReason: string): Event => ["messageStop", { stopReason }];
