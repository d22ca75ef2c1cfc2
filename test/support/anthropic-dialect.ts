import type { ChatMessage, ChatRequest } from "../../src/contract/chat-format.ts";
import { anthropic as row } from "../../src/providers/anthropic/index.ts";
import type { Reading } from "../../src/providers/dialect.ts";
import { anthropic } from "../../src/providers/dialects/anthropic/index.ts";
import { findModelFacts } from "../../src/providers/provider.ts";
import { problemsFoundBy } from "./thrown.ts";
import { makeWeatherTool } from "./weather-tool.ts";

export const { toRequest, fromAnswer, createStreamReader, readRefusal } = anthropic.chat;

export const plainReading: Reading = { model: "claude-opus-5-5", answerTool: null };

export const question: ChatMessage = { role: "user", content: "How warm is it?" };

export type Body = Record<string, unknown> & {
  messages: { role: string; content: Record<string, unknown>[] }[];
  system?: Record<string, unknown>[];
  tools?: Record<string, unknown>[];
};

export function translate(request: Partial<ChatRequest>, model = "claude-opus-5-5") {
  const facts = findModelFacts(row, model);
  const whole = { model, messages: [question], ...request } as ChatRequest;
  const made = toRequest(whole, { model, facts, isStream: whole.stream === true });
  return { ...made, dropped: made.dropped ?? [], body: JSON.parse(made.body) as Body };
}

export function problemsOf(request: Partial<ChatRequest>, model?: string) {
  return problemsFoundBy(() => translate(request, model));
}

export const weather = makeWeatherTool();
