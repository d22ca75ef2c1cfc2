// The parts of the playground that need no browser: requests that follow from a conversation, answers from chunks, and checks of schemas.

import { expect, test } from "bun:test";
import { ApiError } from "../../src/dashboard/api/client.ts";
import {
  type Conversation,
  createColumn,
  createConversation,
  createStep,
  type Step,
  type Turn,
  toRequest,
} from "../../src/dashboard/pages/playground-chat/conversation.ts";
import { AnswerReader } from "../../src/dashboard/pages/playground-chat/read-answer.ts";
import { ResponseReader, toResponseParameters } from "../../src/dashboard/pages/playground-responses/response.ts";
import { findMismatch } from "../../src/dashboard/playground/check-schema.ts";
import { readEvents } from "../../src/dashboard/playground/events.ts";
import { initialSettings, readSettings } from "../../src/dashboard/playground/settings.ts";

const column = createColumn("sandbox/echo");
const other = createColumn("sandbox/chat");

function makeTurn(text: string, answers: Turn["answers"]): Turn {
  return { id: text, text, attachments: [], answers };
}

function makeStep(change: Partial<Step>): Step {
  return { ...createStep("sandbox/echo", "", {}), state: "done", ...change };
}

function requestOf(turns: readonly Turn[], columnId = column.id) {
  const conversation: Conversation = { ...createConversation("me", []), columns: [column, other], turns };
  const last = turns.at(-1);
  const index = (last?.answers[columnId]?.length ?? 1) - 1;
  return toRequest(conversation, { turnId: last?.id ?? "", columnId, index }) as { messages: unknown[] };
}

test("a column is sent its own answers, and none of a turn that it did not answer", () => {
  const running = createStep("sandbox/echo", "Be brief.", { temperature: 0 });
  const turns = [
    makeTurn("one", { [column.id]: [makeStep({ content: "first" })], [other.id]: [makeStep({ content: "other" })] }),
    makeTurn("two", { [column.id]: [makeStep({ state: "failed" })] }),
    makeTurn("three", { [column.id]: [running], [other.id]: [running] }),
  ];
  expect(requestOf(turns)).toMatchObject({
    model: "sandbox/echo",
    temperature: 0,
    stream: true,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "one" },
      { role: "assistant", content: "first" },
      { role: "user", content: "three" },
    ],
  });
  expect(requestOf(turns, other.id).messages).toHaveLength(4);
});

test("calls of tools are followed by a result each, also when the person gave none", () => {
  const toolCalls = [
    { id: "a", name: "f", arguments: "{}", extra: { vendor: 1 }, result: "21" },
    { id: "b", name: "g", arguments: "{}", result: null },
  ];
  const returned = { reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] };
  const { messages } = requestOf([
    makeTurn("one", { [column.id]: [makeStep({ toolCalls, returned })] }),
    makeTurn("two", { [column.id]: [createStep("sandbox/echo", "", {})] }),
  ]);
  expect(messages.slice(1, 4)).toMatchObject([
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", extra_content: { vendor: 1 } }, { id: "b" }],
      ...returned,
    },
    { role: "tool", tool_call_id: "a", content: "21" },
    { role: "tool", tool_call_id: "b" },
  ]);
});

test("a call in an answer that was stopped is not sent, because its arguments are not complete", () => {
  const toolCalls = [{ id: "a", name: "f", arguments: '{"ci', result: null }];
  const stopped = makeStep({ state: "stopped", content: "half", toolCalls });
  const { messages } = requestOf([
    makeTurn("one", { [column.id]: [stopped] }),
    makeTurn("two", { [column.id]: [createStep("sandbox/echo", "", {})] }),
  ]);
  expect(messages).toEqual([
    { role: "user", content: "one" },
    { role: "assistant", content: "half" },
    { role: "user", content: "two" },
  ]);
});

test("chunks become text, reasoning, calls and figures", () => {
  const reader = new AnswerReader();
  const delta = (value: object, finish_reason: string | null = null) =>
    reader.read({ choices: [{ index: 0, delta: value, finish_reason }] });
  delta({ role: "assistant", content: "" });
  expect(reader.hasBegun).toBe(false);
  delta({ reasoning_content: "think" });
  delta({ content: "Hel" });
  delta({ content: "lo" });
  delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "" } }] });
  delta({ tool_calls: [{ index: 1, id: "b", function: { name: "g", arguments: "{}" } }] });
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' }, extra_content: { vendor: 2 } }] }, "tool_calls");
  reader.read({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, cost: 0.5 });
  expect(reader.toStep()).toMatchObject({
    content: "Hello",
    reasoning: "think",
    finishReason: "tool_calls",
    toolCalls: [
      { id: "a", name: "f", arguments: '{"x":1}', extra: { vendor: 2 } },
      { id: "b", name: "g", arguments: "{}" },
    ],
    usage: { input: 3, output: 4 },
    cost: 0.5,
  });
});

test("a price that is not known is not shown as zero", () => {
  const reader = new AnswerReader();
  reader.read({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, cost: null });
  expect(reader.toStep().cost).toBeNull();
});

test("settings that are empty are not sent, and JSON that cannot be read is named", () => {
  expect(readSettings(initialSettings)).toEqual({ parameters: {}, problem: null });
  expect(readSettings({ ...initialSettings, temperature: 0, maxTokens: 5 }).parameters).toEqual({
    temperature: 0,
    max_completion_tokens: 5,
  });
  expect(readSettings({ ...initialSettings, usesTools: true, tools: "[" }).problem?.field).toBe("tools");
  expect(readSettings({ ...initialSettings, usesSchema: true, schema: "[]" }).problem?.field).toBe("schema");
});

test("parameters of chats are spelled as responses spell them", () => {
  const tools = JSON.stringify([{ type: "function", function: { name: "f", parameters: {} } }]);
  const { parameters } = readSettings({
    ...initialSettings,
    maxTokens: 9,
    reasoningEffort: "low",
    usesTools: true,
    tools,
    usesSchema: true,
    schema: '{"type":"object"}',
  });
  expect(toResponseParameters(parameters ?? {})).toEqual({
    max_output_tokens: 9,
    reasoning: { effort: "low", summary: "auto" },
    tools: [{ type: "function", name: "f", parameters: {} }],
    tool_choice: "auto",
    text: { format: { type: "json_schema", name: "answer", strict: true, schema: { type: "object" } } },
  });
});

test("the smallest part of an answer that does not follow the schema is named", () => {
  const schema = {
    type: "object",
    properties: {
      people: { type: "array", items: { $ref: "#/$defs/person" } },
      note: { type: "string", pattern: "^[a-z]+$" },
    },
    required: ["people"],
    additionalProperties: false,
    $defs: { person: { type: "object", properties: { age: { type: "integer" } }, required: ["age"] } },
  };
  expect(findMismatch({ people: [{ age: 3 }] }, schema)).toBeNull();
  expect(findMismatch({}, schema)).toBe("The answer has no member people.");
  expect(findMismatch({ people: [{ age: 3 }, { age: "4" }] }, schema)).toContain("people[1].age");
  expect(findMismatch({ people: [{}] }, schema)).toBe("people[0] has no member age.");
  expect(findMismatch({ people: [], note: "A1" }, schema)).toContain("note");
  expect(findMismatch({ people: [], extra: 1 }, schema)).toBe("extra is not allowed.");
  expect(findMismatch({}, { $ref: "https://elsewhere.example" })).toContain("cannot be applied");
});

function toResponse(...parts: readonly string[]): Response {
  const stream = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  return new Response(stream, { headers: { "x-request-id": "request-1" } });
}

test("events that arrive in pieces are read, and heartbeats are not events", async () => {
  const events = await Array.fromAsync(
    readEvents(
      toResponse(': keep-alive\n\ndata: {"a"', ':"ü', '"}\n', "\nevent: x\r\ndata:{}\r\n\r\n", "data: [DONE]\n\n"),
    ),
  );
  expect(events).toEqual([{ a: "ü" }, {}]);
});

test("a stream that breaks off, and one that reports an error, fail with the id of the request", async () => {
  const read = async (text: string) => {
    const error = await Array.fromAsync(readEvents(toResponse(text))).catch((failure: unknown) => failure);
    if (!(error instanceof ApiError)) throw new Error("it did not fail");
    return [error.code, error.requestId];
  };
  expect(await read('data: {"choices":[]}\n\n')).toEqual(["cut_off", "request-1"]);
  expect(await read('data: {"error":{"message":"no","code":"provider_error"}}\n\n')).toEqual([
    "provider_error",
    "request-1",
  ]);
});

test("the events of a response become items, and its last event replaces them", () => {
  const reader = new ResponseReader();
  const read = (event: Readonly<Record<string, unknown>>) => reader.read(event, null);
  read({ type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } });
  read({ type: "response.output_item.added", output_index: 0, item: { type: "message", content: [] } });
  read({ type: "response.output_text.delta", output_index: 0, delta: "Hel" });
  read({ type: "response.output_text.delta", output_index: 0, delta: "lo" });
  expect(reader.items).toMatchObject([{ type: "message", partialText: "Hello" }]);
  const output = [{ type: "message", content: [{ type: "output_text", text: "Hello" }] }];
  read({ type: "response.completed", response: { id: "resp_1", status: "completed", output } });
  expect(reader.items).toEqual(output);
  expect(() => read({ type: "error", message: "broken", code: "provider_error" })).toThrow("broken");
});
