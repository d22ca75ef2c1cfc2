// Requests and answers in the format of Gemini, in their smallest form.

import type { ChatChunk, ChatMessage, ChatRequest } from "../../src/contract/chat-format.ts";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { gemini, vertexai } from "../../src/providers/dialects/gemini/index.ts";
import { thrownBy } from "./thrown.ts";
import { makeWeatherTool } from "./weather-tool.ts";

export const user: ChatMessage = { role: "user", content: "Hello" };

export const weather = makeWeatherTool("weather");

export const reading = { model: "gemini-3.8-flash", answerTool: null };

export const chat = gemini.chat as NonNullable<typeof gemini.chat>;

export const cloudChat = vertexai.chat as NonNullable<typeof vertexai.chat>;

export interface Written {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly dropped: readonly string[];
  readonly answerTool: string | null;
}

export function write(
  request: Partial<ChatRequest> = {},
  model = "gemini-3.8-flash",
  dialect = chat,
  isStream = false,
): Written {
  const made = dialect.toRequest(
    { model: `gemini/${model}`, messages: [user], ...request },
    { model, facts: null, isStream },
  );
  const { path, body, dropped = [], reading: read } = made;
  return { path, body: JSON.parse(body), dropped, answerTool: read.answerTool };
}

export const contents = (messages: readonly unknown[], model?: string, dialect = chat) =>
  write({ messages: messages as ChatMessage[] }, model, dialect).body["contents"];

export function problemOf(request: Partial<ChatRequest>, model?: string) {
  return thrownBy(() => write(request, model), ValidationError).problems[0];
}

export function answerOf(parts: readonly unknown[], other: object = {}): JsonObject {
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0, ...other }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
    modelVersion: "gemini-3.8-flash",
    responseId: "r-1",
  };
}

export function choiceOf(answer: JsonObject, answerTool: string | null = null) {
  const choice = chat.fromAnswer(answer, { ...reading, answerTool }).choices[0];
  if (choice === undefined) throw new Error("there is no choice");
  return choice;
}

export function readStream(events: readonly unknown[], answerTool: string | null = null) {
  const reader = chat.createStreamReader({ ...reading, answerTool });
  const chunks: ChatChunk[] = [];
  for (const value of events) chunks.push(...reader.read({ name: "", value: value as JsonObject }));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return { reader, chunks, choices, deltas: choices.map((choice) => choice.delta) };
}

/** One event of a stream. */
export function event(parts: readonly unknown[], other: object = {}): JsonObject {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...other }],
    responseId: "r-1",
    modelVersion: "m-1",
  };
}
