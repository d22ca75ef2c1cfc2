// Searches that a vendor makes itself while it answers: callers are told of them, and a turn that the vendor paused in the middle of them
// can be continued. The shapes are documented (https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool,
// .../build-with-claude/handling-stop-reasons, https://ai.google.dev/gemini-api/docs/google-search); the contents are invented.

import { describe, expect, test } from "bun:test";
import { answer, lastHttpChunk, type Script, streamHead } from "../support/answers.ts";
import { claudeEvent } from "../support/anthropic.ts";
import { ask } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { openTranslatedGateway } from "../support/translated-gateway.ts";

type Members = Record<string, unknown>;

const { vendor, gateway, key } = await openTranslatedGateway();

const question = { role: "user", content: "What is new?" };
const claude = "anthropic/claude-opus-5";

const blocks: readonly Members[] = [
  { type: "text", text: "I will look." },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "news today" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", url: "https://example.com/", title: "News", encrypted_content: "c2VjcmV0" }],
  },
  { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: { query: "news yesterday" } },
];
const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 2 } };
const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-opus-5" };

function paused(): Members {
  return { ...message, content: blocks, stop_reason: "pause_turn", stop_sequence: null, usage };
}

function done(): Members {
  return { ...paused(), content: [{ type: "text", text: "Nothing." }], stop_reason: "end_turn" };
}

function pausedStream(): Script {
  return streamOf(blocks, "pause_turn");
}

function streamOf(content: readonly Members[], stop_reason: string): Script {
  const events: Members[] = content.flatMap((block, index): Members[] => {
    const start = (content_block: Members) => ({ type: "content_block_start", index, content_block });
    const delta = (given: Members) => ({ type: "content_block_delta", index, delta: given });
    const stop = { type: "content_block_stop", index };
    if (block["type"] === "text") {
      const citations = (block["citations"] ?? []) as readonly Members[];
      const cited = citations.map((citation) => delta({ type: "citations_delta", citation }));
      return [start({ type: "text", text: "" }), ...cited, delta({ type: "text_delta", text: block["text"] }), stop];
    }
    if (block["type"] !== "server_tool_use") return [start(block), stop];
    const json = JSON.stringify(block["input"]);
    const pieces = [json.slice(0, 5), json.slice(5)].map((partial_json) =>
      delta({ type: "input_json_delta", partial_json }),
    );
    return [start({ ...block, input: {} }), ...pieces, stop];
  });
  const all = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
    ...events,
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  return [streamHead(), ...all.map((event) => claudeEvent(event as { type: string })), lastHttpChunk];
}

function sentTurns(): readonly Members[] {
  return JSON.parse(vendor.last().body.toString())["messages"];
}

describe("a turn that Anthropic paused is continued with the blocks that it gave", () => {
  const continued = [
    { role: "user", content: [{ type: "text", text: "What is new?" }] },
    { role: "assistant", content: [...blocks] },
  ];

  test("in the chat format", async () => {
    const asked = { model: claude, messages: [question], web_search_options: {} };
    vendor.next(answer(200, paused()));
    const first = (await (await ask(gateway.url, key, asked)).json()) as { choices: { message: Members }[] };
    const [choice] = first.choices;
    expect(choice?.message["web_searches"]).toEqual([
      { id: "srvtoolu_1", query: "news today" },
      { id: "srvtoolu_2", query: "news yesterday" },
    ]);
    vendor.next(answer(200, done()));
    const second = await ask(gateway.url, key, { ...asked, messages: [question, choice?.message] });
    expect(second.status).toBe(200);
    expect(sentTurns()).toEqual(continued);
  });

  test("in the chat format, from a stream", async () => {
    const asked = { model: claude, messages: [question], web_search_options: {} };
    vendor.next(pausedStream());
    const text = await (await ask(gateway.url, key, { ...asked, stream: true })).text();
    const chunks = readEvents(text).events.flatMap(({ data }) => (data.startsWith("{") ? [JSON.parse(data)] : []));
    const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice: { delta: Members }) => choice.delta));
    const content = deltas.map((delta) => delta["content"] ?? "").join("");
    const extra = deltas.find((delta) => delta["extra_content"])?.["extra_content"];
    vendor.next(answer(200, done()));
    const turn = { role: "assistant", content, extra_content: extra };
    await ask(gateway.url, key, { ...asked, messages: [question, turn] });
    expect(sentTurns()).toEqual(continued);
  });

  test.each([false, true])("in the Responses format, with its items sent back (stream: %p)", async (isStream) => {
    const asked = { model: claude, tools: [{ type: "web_search" }], store: false };
    vendor.next(isStream ? pausedStream() : answer(200, paused()));
    const input = [{ type: "message", ...question }];
    const response = await ask(gateway.url, key, { ...asked, input, stream: isStream }, { path: "/v3/responses" });
    const text = await response.text();
    const whole = isStream ? lastResponse(text) : JSON.parse(text);
    const items = whole.output as Members[];
    const searches = items.filter(({ type }) => type === "web_search_call");
    expect(searches).toMatchObject([
      { status: "completed", action: { type: "search", query: "news today" } },
      { status: "completed", action: { type: "search", query: "news yesterday" } },
    ]);
    expect(whole.status).toBe("incomplete");
    vendor.next(answer(200, done()));
    const again = { ...asked, input: [...input, ...items], strict_parameters: true };
    const next = await ask(gateway.url, key, again, { path: "/v3/responses" });
    expect({ status: next.status, text: next.ok || (await next.text()) }).toEqual({ status: 200, text: true });
    expect(sentTurns()).toEqual(continued);
  });

  test("unless the caller has changed what was said", async () => {
    const turn = { role: "assistant", content: "Another text.", extra_content: { anthropic: { content: blocks } } };
    vendor.next(answer(200, done()));
    await ask(gateway.url, key, { model: claude, messages: [question, turn, question], web_search_options: {} });
    expect(sentTurns()[1]).toEqual({ role: "assistant", content: [{ type: "text", text: "Another text." }] });
  });
});

describe("a search is an item of a response, with its events", () => {
  test("of Anthropic", async () => {
    vendor.next(pausedStream());
    const asked = { model: claude, input: "What is new?", tools: [{ type: "web_search" }], stream: true };
    const text = await (await ask(gateway.url, key, asked, { path: "/v3/responses" })).text();
    const events = readEvents(text).events.flatMap(({ data }) => (data.startsWith("{") ? [JSON.parse(data)] : []));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const [{ item_id }] = events.filter(({ type }) => type === "response.web_search_call.in_progress");
    const ofFirst = events.filter((event) => event.item_id === item_id || event.item?.id === item_id);
    expect(ofFirst.map(({ type }) => type)).toEqual([
      "response.output_item.added",
      "response.web_search_call.in_progress",
      "response.web_search_call.searching",
      "response.web_search_call.completed",
      "response.output_item.done",
    ]);
  });

  test.each([false, true])("of Gemini (stream: %p)", async (isStream) => {
    const groundingMetadata = { webSearchQueries: ["a", "b"], groundingChunks: [] };
    const candidate = { content: { parts: [{ text: "News." }] }, finishReason: "STOP", groundingMetadata };
    const native = { candidates: [candidate], usageMetadata: { promptTokenCount: 1, totalTokenCount: 2 } };
    vendor.next(
      isStream
        ? answer(200, `data: ${JSON.stringify(native)}\n\n`, { "content-type": "text/event-stream" })
        : answer(200, native),
    );
    const asked = { model: "gemini/gemini-3.8-flash", input: "x", tools: [{ type: "web_search" }], stream: isStream };
    const text = await (await ask(gateway.url, key, asked, { path: "/v3/responses" })).text();
    const { output, status } = isStream ? lastResponse(text) : JSON.parse(text);
    expect(status).toBe("completed");
    const searches = (output as Members[]).filter(({ type }) => type === "web_search_call");
    expect(searches.map(({ action }) => (action as Members)["query"])).toEqual(["a", "b"]);
  });
});

test("citations of a streamed response have positions in the text of their own message", async () => {
  const cite = (url: string) => [{ type: "web_search_result_location", url, title: "T", cited_text: "c" }];
  const [before, search, result] = blocks as [Members, Members, Members];
  const turn = [
    before,
    search,
    result,
    { type: "text", text: "The capital is " },
    { type: "text", text: "Paris", citations: cite("https://example.com/paris") },
    { type: "text", text: "." },
  ];
  vendor.next(streamOf(turn, "end_turn"));
  const asked = { model: claude, input: "Which capital?", tools: [{ type: "web_search" }], stream: true };
  const text = await (await ask(gateway.url, key, asked, { path: "/v3/responses" })).text();
  const messages = (lastResponse(text).output as Members[]).filter(({ type }) => type === "message");
  const parts = messages.flatMap(({ content }) => content as { text: string; annotations: Members[] }[]);
  expect(parts.map(({ annotations }) => annotations.length)).toEqual([0, 1]);
  const [cited] = parts.flatMap(({ text: told, annotations }) =>
    annotations.map(({ start_index, end_index }) => told.slice(Number(start_index), Number(end_index))),
  );
  expect(cited).toBe("Paris");
});

function lastResponse(text: string): Members & { output: unknown } {
  const values = readEvents(text).events.flatMap(({ data }) => (data.startsWith("{") ? [JSON.parse(data)] : []));
  return values.findLast((value) => value.response !== undefined).response;
}
