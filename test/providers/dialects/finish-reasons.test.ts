// Why an answer ended, in each vendor's words and in ours. The words are those of the vendors' references.

import { expect, test } from "bun:test";
import { toFinishReason as fromAnthropic } from "../../../src/providers/dialects/anthropic/answer.ts";
import { fromConverseAnswer } from "../../../src/providers/dialects/bedrock/answer.ts";
import { toFinishReason as fromCohere } from "../../../src/providers/dialects/cohere/answer.ts";
import { readFinish } from "../../../src/providers/dialects/gemini/candidate.ts";
import { toFinishReason as fromMistral } from "../../../src/providers/dialects/mistral/answer.ts";
import { toFinishReason as fromOllama } from "../../../src/providers/dialects/ollama/answer.ts";
import { toFinishReason as fromResponses } from "../../../src/providers/dialects/responses/answer.ts";

type Finish = "stop" | "length" | "tool_calls" | "content_filter";
/** The vendor's word, what it means without a tool call, and with one. */
type Row = readonly [reason: string, plain: Finish, withCalls: Finish];

function fromBedrock(stopReason: string, hasCalls: boolean): unknown {
  const call = { toolUse: { toolUseId: "t", name: "f", input: {} } };
  const message = { role: "assistant", content: hasCalls ? [call] : [{ text: "x" }] };
  const answer = { output: { message }, stopReason, usage: { inputTokens: 1, outputTokens: 1 } };
  return fromConverseAnswer(answer, { model: "m", answerTool: null }).choices[0]?.finish_reason;
}

const vendors: Readonly<
  Record<string, { read: (reason: string, hasCalls: boolean) => unknown; rows: readonly Row[] }>
> = {
  anthropic: {
    read: fromAnthropic,
    rows: [
      ["end_turn", "stop", "stop"],
      ["stop_sequence", "stop", "stop"],
      ["max_tokens", "length", "length"],
      ["model_context_window_exceeded", "length", "length"],
      ["pause_turn", "length", "length"],
      ["refusal", "content_filter", "content_filter"],
      ["tool_use", "stop", "tool_calls"],
      ["a_new_reason", "stop", "tool_calls"],
    ],
  },
  bedrock: {
    read: fromBedrock,
    rows: [
      ["end_turn", "stop", "stop"],
      ["stop_sequence", "stop", "stop"],
      ["tool_use", "stop", "tool_calls"],
      ["max_tokens", "length", "length"],
      ["model_context_window_exceeded", "length", "length"],
      ["guardrail_intervened", "content_filter", "content_filter"],
      ["content_filtered", "content_filter", "content_filter"],
      ["refusal", "content_filter", "content_filter"],
      ["a_new_reason", "stop", "tool_calls"],
    ],
  },
  cohere: {
    read: (reason, hasCalls) => fromCohere(reason, hasCalls, null),
    rows: [
      ["COMPLETE", "stop", "tool_calls"],
      ["STOP_SEQUENCE", "stop", "tool_calls"],
      ["MAX_TOKENS", "length", "length"],
      ["TOOL_CALL", "stop", "tool_calls"],
      ["ERROR_TOXIC", "content_filter", "content_filter"],
      ["A_NEW_REASON", "stop", "tool_calls"],
    ],
  },
  gemini: {
    read: (finishReason, hasCalls) => readFinish({ finishReason }, { isEmpty: false, hasCalls }),
    rows: [
      ["STOP", "stop", "tool_calls"],
      ["MAX_TOKENS", "length", "length"],
      ["SAFETY", "content_filter", "content_filter"],
      ["RECITATION", "content_filter", "content_filter"],
      ["LANGUAGE", "content_filter", "content_filter"],
      ["BLOCKLIST", "content_filter", "content_filter"],
      ["PROHIBITED_CONTENT", "content_filter", "content_filter"],
      ["SPII", "content_filter", "content_filter"],
      ["IMAGE_SAFETY", "content_filter", "content_filter"],
      ["MALFORMED_FUNCTION_CALL", "stop", "tool_calls"],
      ["A_NEW_REASON", "stop", "tool_calls"],
    ],
  },
  mistral: {
    read: fromMistral,
    rows: [
      ["stop", "stop", "stop"],
      ["length", "length", "length"],
      ["model_length", "length", "length"],
      ["tool_calls", "tool_calls", "tool_calls"],
      ["content_filter", "content_filter", "content_filter"],
      ["a_new_reason", "stop", "tool_calls"],
    ],
  },
  ollama: {
    read: fromOllama,
    rows: [
      ["stop", "stop", "tool_calls"],
      ["length", "length", "length"],
      ["load", "stop", "tool_calls"],
    ],
  },
  responses: {
    read: (reason, hasCalls) =>
      fromResponses(
        reason === "completed" ? { status: reason } : { status: "incomplete", incomplete_details: { reason } },
        hasCalls,
      ),
    rows: [
      ["completed", "stop", "tool_calls"],
      ["max_output_tokens", "length", "length"],
      ["content_filter", "content_filter", "content_filter"],
    ],
  },
};

for (const [vendor, { read, rows }] of Object.entries(vendors))
  test.each(rows)(`${vendor}: %s is %s, and with tool calls %s`, (reason, plain, withCalls) => {
    expect([read(reason, false), read(reason, true)]).toEqual([plain, withCalls]);
  });

test.each([
  ["mistral", () => fromMistral("error", false)],
  ["cohere", () => fromCohere("ERROR", false, null)],
  ["cohere, too slow", () => fromCohere("TIMEOUT", false, null)],
  ["gemini", () => readFinish({ finishReason: "MALFORMED_FUNCTION_CALL" }, { isEmpty: true, hasCalls: false })],
] as const)("an answer that %s ended in a failure is one", (_vendor, read) => {
  expect(read).toThrow();
});
