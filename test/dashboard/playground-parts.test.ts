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
  titleOf,
  toRequest,
  withoutRunning,
  withSteps,
} from "../../src/dashboard/pages/playground-chat/conversation.ts";
import { AnswerReader } from "../../src/dashboard/pages/playground-chat/read-answer.ts";
import {
  argumentsOf,
  callsOf,
  ResponseReader,
  reasoningOf,
  refusalOf,
  textOf,
  toInputItems,
  toResponseParameters,
} from "../../src/dashboard/pages/playground-responses/response.ts";
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

test("results of tools continue the same turn, after the calls that asked for them", () => {
  const call = { id: "a", name: "f", arguments: "{}", result: "21" };
  const steps = [makeStep({ toolCalls: [call] }), makeStep({ content: "21!" }), createStep("sandbox/echo", "", {})];
  const request = requestOf([makeTurn("one", { [column.id]: steps })]);
  expect(request.messages).toEqual([
    { role: "user", content: "one" },
    {
      ...{ role: "assistant", content: null },
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: "21" },
    { role: "assistant", content: "21!" },
  ]);
  // Without this, a stream has no tokens and no cost.
  expect(request).toMatchObject({ stream_options: { include_usage: true } });
});

test("a step that the conversation does not have cannot be sent", () => {
  const conversation = { ...createConversation("me", []), turns: [makeTurn("one", {})] };
  for (const turnId of ["one", "two"])
    expect(() => toRequest(conversation, { turnId, columnId: column.id, index: 0 })).toThrow("not a part");
});

test.each([
  ["an answer", makeStep({ content: "yes" }), { content: "yes" }],
  ["a refusal", makeStep({ refusal: "no" }), { content: "no" }],
  ["a single call", makeStep({ toolCalls: [{ id: "a", name: "f", arguments: "", result: "" }] }), { content: null }],
  ["an answer that was stopped", makeStep({ state: "stopped", content: "ye" }), { content: "ye" }],
  ["an answer that is still arriving", makeStep({ state: "running", content: "ye" }), null],
  ["nothing", makeStep({}), null],
])("the next message follows %s", (_, step, answer) => {
  const running = createStep("sandbox/echo", "", {});
  const { messages } = requestOf([
    makeTurn("one", { [column.id]: [step] }),
    makeTurn("two", { [column.id]: [running] }),
  ]);
  const earlier = answer === null ? [] : [{ content: "one" }, { role: "assistant", ...answer }];
  expect(messages.filter((message) => (message as { role: string }).role !== "tool")).toMatchObject([
    ...earlier,
    { content: "two" },
  ]);
});

test("an answer that said nothing, and was asked again within its turn, is sent as an empty text", () => {
  const { messages } = requestOf([makeTurn("one", { [column.id]: [makeStep({}), makeStep({ state: "running" })] })]);
  expect(messages.slice(1)).toEqual([{ role: "assistant", content: "" }]);
});

const attachment = { id: "1", name: "notes.txt", type: "text/plain", bytes: 2, dataUrl: "data:text/plain;base64,aGk=" };

test("files are sent after the text of their message, as the parts that chats have for them", () => {
  const attachments = [
    attachment,
    { ...attachment, type: "image/png", dataUrl: "data:image/png;base64,aGk=" },
    { ...attachment, type: "audio/mpeg", dataUrl: "data:audio/mpeg;base64,aGk=" },
  ];
  const contentOf = (text: string) => {
    const answers = { [column.id]: [createStep("sandbox/echo", "", {})] };
    const [message] = requestOf([{ ...makeTurn(text, answers), attachments }]).messages;
    return (message as { content: unknown }).content;
  };
  const parts = [
    { type: "file", file: { filename: "notes.txt", file_data: attachment.dataUrl } },
    { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
    { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
  ];
  expect(contentOf("look")).toEqual([{ type: "text", text: "look" }, ...parts]);
  expect(contentOf("")).toEqual(parts);
});

test("a chat is named by its title, its first message or its first file", () => {
  const turn = makeTurn("one", {});
  const nameOf = (title: string, ...turns: Turn[]) => titleOf({ title, turns });
  expect(nameOf("Mine", turn)).toBe("Mine");
  expect(nameOf("")).toBe("New chat");
  expect(nameOf("", { ...turn, text: "  two\n lines " }, turn)).toBe("two lines");
  expect(nameOf("", { ...turn, text: " ", attachments: [attachment] })).toBe("notes.txt");
  expect(nameOf("", { ...turn, text: "" })).toBe("Chat");
  expect(nameOf("", { ...turn, text: "a".repeat(60) })).toBe("a".repeat(60));
  expect(nameOf("", { ...turn, text: "a".repeat(61) })).toBe(`${"a".repeat(60)}…`);
});

test("a chat has one column for each of its first four models", () => {
  const models = ["a", "b", "c", "d", "e"];
  expect(createConversation("me", models).columns.map(({ model }) => model)).toEqual(["a", "b", "c", "d"]);
});

test("steps are changed in one column of one turn", () => {
  const answers = { [column.id]: [makeStep({ content: "1" })], [other.id]: [makeStep({ content: "2" })] };
  const before = { ...createConversation("me", []), turns: [makeTurn("one", answers), makeTurn("two", answers)] };
  const place = { turnId: "two", columnId: column.id };
  const { turns } = withSteps(before, place, (steps) => [...steps, makeStep({ content: "3" })]);
  const contents = turns.map(({ answers: all }) =>
    [column, other].map(({ id }) => all[id]?.map(({ content }) => content)),
  );
  expect(contents).toEqual([
    [["1"], ["2"]],
    [["1", "3"], ["2"]],
  ]);
  // A column that was added after the turn has no steps there yet.
  const added = withSteps(before, { turnId: "one", columnId: "new" }, (steps) => [...steps, makeStep({})]);
  expect(added.turns[0]?.answers["new"]).toHaveLength(1);
});

test("answers that were arriving when the page was closed are stopped, and others stay as they are", () => {
  const states = ["running", "done", "stopped", "failed"] as const;
  const answers = { [column.id]: states.map((state) => makeStep({ state })) };
  const { turns } = withoutRunning({ ...createConversation("me", []), turns: [makeTurn("one", answers)] });
  const after = turns[0]?.answers[column.id]?.map(({ state }) => state);
  expect(after).toEqual(["stopped", "done", "stopped", "failed"]);
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

test.each([
  ["text", { content: "a" }],
  ["reasoning", { reasoning_content: "a" }],
  ["a refusal", { refusal: "a" }],
  ["a call", { tool_calls: [{ id: "a", function: { name: "f" } }] }],
])("an answer has begun with %s", (_, delta) => {
  const reader = new AnswerReader();
  reader.read({ choices: [{ delta: { role: "assistant" } }] });
  expect(reader.hasBegun).toBe(false);
  reader.read({ choices: [{ delta }] });
  expect(reader.hasBegun).toBe(true);
});

test("a call without an index is the first one", () => {
  const reader = new AnswerReader();
  reader.read({ choices: [{ delta: { tool_calls: [{ id: "a", function: { name: "f", arguments: "{" } }] } }] });
  reader.read({ choices: [{ delta: { tool_calls: [{ function: { arguments: "}" } }] } }] });
  expect(reader.toStep().toolCalls).toEqual([{ id: "a", name: "f", arguments: "{}", result: null }]);
});

test("what the provider needs back with the answer is kept, and nothing else", () => {
  const reader = new AnswerReader();
  reader.read({ choices: [{ delta: { content: "a" } }] });
  expect(reader.toStep().returned).toEqual({});
  const details = [{ type: "reasoning.text" }, { type: "reasoning.encrypted" }];
  for (const detail of details)
    reader.read({ choices: [{ delta: { reasoning_content: "x", reasoning_details: [detail] } }] });
  reader.read({ choices: [{ delta: { extra_content: { one: 1 } } }] });
  reader.read({ choices: [{ delta: { extra_content: { two: 2 } } }] });
  expect(reader.toStep().returned).toEqual({
    ...{ reasoning_content: "xx", reasoning_details: details },
    extra_content: { one: 1, two: 2 },
  });
});

test("tokens of reasoning and of caches are counted where the answer states them", () => {
  const read = (details: object) => {
    const reader = new AnswerReader();
    reader.read({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, ...details } });
    return reader.toStep().usage;
  };
  expect(read({})).toEqual({ input: 3, output: 4, reasoning: 0, cached: 0 });
  const prompt_tokens_details = { cached_tokens: 2 };
  expect(read({ prompt_tokens_details, completion_tokens_details: { reasoning_tokens: 1 } })).toEqual({
    ...{ input: 3, output: 4, reasoning: 1, cached: 2 },
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
  for (const schema of ["[]", "null", "5", "{", ""])
    expect(readSettings({ ...initialSettings, usesSchema: true, schema }).problem?.field).toBe("schema");
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

test("a response has begun with its first text, and not with an empty item", () => {
  const reader = new ResponseReader();
  const read = (event: Readonly<Record<string, unknown>>) => reader.read(event, "request-1");
  read({ type: "response.output_item.added", output_index: 0, item: { type: "message", content: [] } });
  read({ type: "response.output_text.delta", output_index: 0 });
  read({ type: "response.audio.delta", output_index: 0, delta: "AAAA" });
  expect(reader.hasBegun).toBe(false);
  expect(reader.items).toEqual([{ type: "message", content: [] }]);
  read({ type: "response.refusal.delta", output_index: 0, delta: "no" });
  expect(reader.hasBegun).toBe(true);
  // The items of an answer may arrive in any order.
  read({ type: "response.reasoning_text.delta", output_index: 2, delta: "because" });
  expect(reader.items).toEqual([
    { type: "message", content: [], partialRefusal: "no" },
    { partialReasoning: "because" },
  ]);
  expect(() => read({ type: "error" })).toThrow("The response failed.");
});

test("what a person sends is an input of a response", () => {
  const message = (text: string, attachments: readonly (typeof attachment)[]) =>
    toInputItems({ kind: "message", text, attachments });
  expect(message("hello", [])).toBe("hello");
  const image = { ...attachment, type: "image/png" };
  const parts = [
    { type: "input_file", filename: "notes.txt", file_data: attachment.dataUrl },
    { type: "input_image", image_url: image.dataUrl },
  ];
  expect(message("", [attachment, image])).toEqual([{ role: "user", content: parts }]);
  expect(message("look", [attachment])).toEqual([
    { role: "user", content: [{ type: "input_text", text: "look" }, parts[0]] },
  ]);
  expect(toInputItems({ kind: "results", results: [{ callId: "a", output: "21" }] })).toEqual([
    { type: "function_call_output", call_id: "a", output: "21" },
  ]);
});

test("tools that responses have and chats have not are sent as they are", () => {
  const tools = [{ type: "web_search" }, null, "x"];
  expect(toResponseParameters({ tools })).toEqual({ tools });
});

test("the parts of an item are shown once they are complete, and before that as far as they have arrived", () => {
  const parts = [{ type: "output_text", text: "Hel" }, null, { type: "output_text", text: "lo" }];
  expect(textOf({ content: parts, partialText: "He" })).toBe("Hello");
  expect(textOf({ content: "Hello" })).toBe("Hello");
  expect(textOf({ content: [], partialText: "He" })).toBe("He");
  expect(textOf({})).toBe("");
  expect(refusalOf({ content: [{ refusal: "no" }], partialRefusal: "n" })).toBe("no");
  expect(refusalOf({ content: [], partialRefusal: "n" })).toBe("n");
  expect(reasoningOf({ summary: [{ text: "short" }], content: [{ text: "long" }] })).toBe("short");
  expect(reasoningOf({ summary: [], content: [{ text: "long" }], partialReasoning: "lo" })).toBe("long");
  expect(reasoningOf({ summary: [], partialReasoning: "lo" })).toBe("lo");
  expect(argumentsOf({ arguments: "{}", partialArguments: "{" })).toBe("{}");
  expect(argumentsOf({ arguments: "", partialArguments: "{" })).toBe("{");
  const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
  expect(callsOf([{ type: "message" }, call])).toEqual([{ callId: "a", name: "f", arguments: "{}" }]);
});
