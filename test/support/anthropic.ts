// What a mock vendor of Anthropic's Messages format puts on the wire. The shapes are documented
// (https://platform.claude.com/docs/en/build-with-claude/streaming); the contents are invented.

import { answer, httpChunk, lastHttpChunk, type Script, type Step, streamHead } from "./answers.ts";

const claudeUsage = { input_tokens: 9, output_tokens: 3 };

export function claudeMessage(text: string): Record<string, unknown> {
  return {
    id: "msg_mock_1",
    type: "message",
    role: "assistant",
    model: "claude-mock-1",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: claudeUsage,
  };
}

export function claudeEvent(payload: ClaudePayload): Step {
  return httpChunk(`event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`);
}

type ClaudePayload = { readonly type: string; readonly [more: string]: unknown };

function begunEvents(texts: readonly string[]): ClaudePayload[] {
  const message = {
    ...claudeMessage(""),
    content: [],
    stop_reason: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...texts.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  ];
}

/** The events of a complete stream. */
export function claudeEvents(texts: readonly string[]): ClaudePayload[] {
  return [
    ...begunEvents(texts),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: claudeUsage },
    { type: "message_stop" },
  ];
}

/** The head of a stream, and its events up to the last of these pieces of text. */
export function claudeBegun(texts: readonly string[]): Step[] {
  return [streamHead(), ...begunEvents(texts).map(claudeEvent)];
}

function claudeStream(texts: readonly string[]): Script {
  return [streamHead(), ...claudeEvents(texts).map(claudeEvent), lastHttpChunk];
}

export function claudeAnswer(text: string, isStream: boolean): Script {
  return isStream ? claudeStream([text]) : answer(200, claudeMessage(text));
}

export function claudeError(
  type: string,
  message: string,
): { type: "error"; error: { type: string; message: string } } {
  return { type: "error", error: { type, message } };
}
