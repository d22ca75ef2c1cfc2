// Chunks of the chat format become events of the Responses format.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatAnnotation, ChatChunk, ChatDelta } from "../../src/contract/chat-format.ts";
import { completeResponse } from "../../src/inference/responses/response-defaults.ts";
import { ResponsesStreamWriter } from "../../src/inference/responses/responses-stream.ts";
import { toResponse } from "../../src/inference/responses/to-response.ts";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import {
  begun,
  chatCall,
  chunk,
  complete,
  createDraftOf,
  finish,
  hidden,
  ours,
  outputOf,
  piece,
  pixel,
  readFrames,
  signed,
  stream,
  tool,
  typesOf,
  usage,
} from "../support/responses-translation.ts";

/** Some providers of the chat format send only the address. */
const bareSource = { type: "url_citation", url_citation: { url: "https://example.com/" } } as ChatAnnotation;

// The published schemas belong to others and are not a part of this project: they stand beside the checkout, or where told.
const schemaFolder =
  process.env["SWITCHYARD_OPENAI_SCHEMAS"] ?? join(import.meta.dir, "../../../shared/data/openai-schemas");

describe("chunks become events", () => {
  test("text: every level is opened and closed", () => {
    const events = stream([
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      finish("stop"),
      { ...chunk({}), choices: [], usage },
    ]);
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[0]?.response).toMatchObject({ status: "in_progress", output: [], usage: null, id: "resp_1" });
    expect(events[4]).toMatchObject({ delta: "Hel", logprobs: [], content_index: 0, output_index: 0 });
    expect(events.at(-1)?.response).toMatchObject({
      status: "completed",
      model: "vendor-model-2",
      usage: { input_tokens: 10, output_tokens: 5 },
      output: [{ status: "completed", content: [{ text: "Hello", annotations: [], logprobs: [] }] }],
      ...ours,
    });
  });

  test("reasoning, text and a call are items one after the other", () => {
    const events = stream([
      chunk({ role: "assistant", reasoning_content: "H" }),
      chunk({ reasoning_content: "m." }),
      chunk({ reasoning_details: [signed] }),
      chunk({ content: "I look." }),
      chunk(begun(0, "a")),
      chunk(piece(0, '{"x"')),
      chunk(piece(0, ":1}")),
      finish("tool_calls"),
    ]);
    expect(typesOf(events).slice(2, -1)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
    ]);
    expect(outputOf(events)).toMatchObject([
      { type: "reasoning", summary: [{ text: "Hm." }] },
      { type: "message", content: [{ text: "I look." }] },
      { type: "function_call", call_id: "a", arguments: '{"x":1}', status: "completed" },
    ]);
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ name: "look_up", arguments: '{"x":1}', output_index: 2 });
  });

  test("calls that arrive mixed are open side by side and closed in order", () => {
    const events = stream([
      chunk(begun(0, "a")),
      chunk(begun(1, "b")),
      chunk(piece(1, '{"y"')),
      chunk(piece(0, '{"x"')),
      chunk(piece(1, ":2}")),
      chunk(piece(0, ":1}")),
      finish("tool_calls"),
    ]);
    expect(outputOf(events)).toMatchObject([
      { call_id: "a", arguments: '{"x":1}' },
      { call_id: "b", arguments: '{"y":2}' },
    ]);
    const closed = events.filter(({ type }) => type === "response.output_item.done").map((event) => event.output_index);
    expect(closed).toEqual([0, 1]);
  });

  test("a complete call is closed when the next begins, and a late empty piece changes nothing", () => {
    const events = stream([
      chunk(begun(0, "a", '{"x":1}')),
      chunk(begun(1, "b", "{")),
      chunk(piece(0, "")),
      chunk(piece(1, "}")),
      finish("tool_calls"),
    ]);
    const types = typesOf(events);
    expect(types.indexOf("output_item.done")).toBeLessThan(types.lastIndexOf("output_item.added"));
    expect(outputOf(events)).toMatchObject([
      { call_id: "a", arguments: '{"x":1}' },
      { call_id: "b", arguments: "{}" },
    ]);
  });

  test("calls that all have the same number are told apart by their ids", () => {
    const events = stream([chunk(begun(0, "a", "{}")), chunk(begun(0, "b", "{}")), finish("tool_calls")]);
    expect(outputOf(events)).toMatchObject([{ call_id: "a" }, { call_id: "b" }]);
  });

  test("arguments wait for the name of their call", () => {
    const events = stream([
      chunk(piece(0, '{"x"', { id: "a" })),
      chunk({ tool_calls: [{ index: 0, function: { name: "look_up", arguments: ":1}" } }] }),
      finish("tool_calls"),
    ]);
    expect(outputOf(events)).toMatchObject([{ call_id: "a", name: "look_up", arguments: '{"x":1}' }]);
  });

  test("a call that a limit cuts before its name has arrived is incomplete", () => {
    const events = stream([chunk({ content: "A" }), chunk(piece(0, '{"x"', { id: "a" })), finish("length")]);
    expect(outputOf(events)).toMatchObject([
      { type: "message", status: "completed" },
      { type: "function_call", status: "incomplete" },
    ]);
  });

  test("a refusal has its own part and events", () => {
    const events = stream([
      chunk({ content: "Well" }),
      chunk({ refusal: "N" }),
      chunk({ refusal: "o." }),
      finish("stop"),
    ]);
    expect(typesOf(events)).toContain("refusal.delta");
    expect(outputOf(events)).toMatchObject([{ content: [{ text: "Well" }, { type: "refusal", refusal: "No." }] }]);
  });

  test("sources before, in and after the text belong to it", () => {
    const source = (url: string) => ({
      annotations: [{ type: "url_citation" as const, url_citation: { url, title: "T", start_index: 0, end_index: 2 } }],
    });
    const events = stream([
      chunk(source("https://a.example/")),
      chunk({ content: "Hi", ...source("https://b.example/") }),
      chunk(begun(0, "a", "{}")),
      chunk(source("https://c.example/")),
      finish("tool_calls"),
    ]);
    const added = events.filter(({ type }) => type === "response.output_text.annotation.added");
    expect(added.map((event) => event["annotation_index"])).toEqual([0, 1, 2]);
    expect(outputOf(events)).toMatchObject([
      {
        content: [
          {
            annotations: [{ url: "https://a.example/" }, { url: "https://b.example/" }, { url: "https://c.example/" }],
          },
        ],
      },
      { type: "function_call" },
    ]);
  });

  test("log probabilities are told with their piece of text, and all at its end", () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: [65], top_logprobs: [] });
    const events = stream([
      chunk({ content: "A" }, { logprobs: { content: [entry("A")] } }),
      chunk({ content: "B" }, { logprobs: { content: [entry("B")] } }),
      finish("stop"),
    ]);
    const told = events.filter(({ type }) => type.startsWith("response.output_text."));
    expect(told.map((event) => (event["logprobs"] as object[]).length)).toEqual([1, 1, 2]);
  });

  test.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ] as const)("%s ends with response.incomplete, and so does the item that was cut off", (reason, expected) => {
    const events = stream([chunk({ reasoning_content: "Hm." }), chunk({ content: "Hal" }), finish(reason)]);
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: { reason: expected },
        output: [{ status: "completed" }, { status: "incomplete" }],
      },
    });
  });

  test("thoughts between words are items between items", () => {
    const events = stream([
      chunk({ content: "A" }),
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "B" }),
      finish("stop"),
    ]);
    expect(outputOf(events).map(({ type }) => type)).toEqual(["message", "reasoning", "message"]);
  });

  test("signed blocks are parts of their own, and details without text beside them are told", () => {
    const events = stream([
      chunk({ reasoning_content: "Hm." }),
      chunk({ reasoning_details: [signed] }),
      chunk({ reasoning_details: [{ ...signed, text: "So." }] }),
      chunk({ content: "A" }),
      finish("stop"),
    ]);
    expect(outputOf(events)[0]).toMatchObject({ summary: [{ text: "Hm." }, { text: "So." }] });
  });

  test("an answer of nothing has an empty text", () => {
    const events = stream([chunk({ role: "assistant", content: "" }), finish("stop")]);
    expect(outputOf(events)).toMatchObject([{ type: "message", content: [{ type: "output_text", text: "" }] }]);
  });

  test("only the first of several choices is told", () => {
    const other = { ...chunk({ content: "B" }), choices: [{ index: 1, delta: { content: "B" }, finish_reason: null }] };
    expect(outputOf(stream([chunk({ content: "A" }), other, finish("stop")]))).toMatchObject([
      { content: [{ text: "A" }] },
    ]);
  });

  test("a stream that breaks off ends with an error and response.failed", () => {
    const writer = new ResponsesStreamWriter(createDraftOf());
    const before = readFrames(writer.write(chunk({ content: "Hal" })));
    const events = readFrames(writer.fail({ code: "provider_disconnected", message: "It closed." }));
    expect(events).toMatchObject([
      {
        type: "error",
        code: "provider_disconnected",
        message: "It closed.",
        param: null,
        error: { type: "upstream_error", code: "provider_disconnected", message: "It closed.", param: null },
        detail: "It closed.",
        sequence_number: (before.at(-1)?.sequence_number ?? 0) + 1,
      },
      {
        type: "response.failed",
        response: {
          status: "failed",
          error: { code: "server_error", message: "It closed." },
          output: [{ status: "incomplete", content: [{ text: "Hal" }] }],
        },
      },
    ]);
    expect(writer.end(ours)).toEqual([]);
    const limited = new ResponsesStreamWriter(createDraftOf()).fail({
      code: "provider_rate_limited",
      message: "Slow.",
    });
    expect(readFrames(limited).at(-1)?.response).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    const refused = new ResponsesStreamWriter(createDraftOf()).fail({
      code: "provider_rejected_request",
      message: "Too long.",
    });
    expect(readFrames(refused).at(-1)?.response).toMatchObject({ error: { code: "invalid_prompt" } });
  });

  test.each(["stop", "length"] as const)("an answer that ended with %s and then failed is only failed", (reason) => {
    const writer = new ResponsesStreamWriter(createDraftOf());
    writer.write(chunk({ content: "Hi" }));
    writer.write(finish(reason));
    const unsent = readFrames(writer.end(ours)).at(-1);
    const events = readFrames(writer.fail({ code: "internal_error", message: "It could not be stored." }));
    expect(events).toMatchObject([
      { type: "error", sequence_number: unsent?.sequence_number },
      { type: "response.failed", response: { status: "failed", completed_at: null, incomplete_details: null } },
    ]);
  });

  test("a source is told with the message that has its text, and its positions count from there", () => {
    const cite = (url: string, start_index?: number, end_index?: number) => {
      const at = start_index === undefined || end_index === undefined ? {} : { start_index, end_index };
      return { type: "url_citation", url_citation: { url, ...at } } as ChatAnnotation;
    };
    const events = stream([
      chunk({ content: "One two." }),
      chunk({ web_searches: [{ id: "s", query: "q" }] }),
      chunk({ content: " Three." }),
      chunk({
        annotations: [
          cite("https://example.com/two", 4, 7),
          cite("https://example.com/both", 4, 14),
          cite("https://example.com/three", 9, 14),
          cite("https://example.com/somewhere"),
        ],
      }),
      finish("stop"),
    ]);
    const parts = outputOf(events).flatMap((item) => (item.type === "message" ? item.content : []));
    const told = parts.map((part) =>
      part.type === "output_text"
        ? part.annotations.map(({ url, start_index, end_index }) => [url.split("/").at(-1), start_index, end_index])
        : [],
    );
    expect(told).toEqual([
      [
        ["two", 4, 7],
        ["both", 4, 8],
      ],
      [
        ["three", 1, 6],
        ["somewhere", 0, 0],
      ],
    ]);
  });

  test("whatever the order of the pieces, the grammar holds", () => {
    // Always the same: what fails once fails again.
    let seed = 7;
    const draw = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (seed >> 8) % below;
    };
    const makers: (() => ChatDelta & Record<string, unknown>)[] = [
      () => ({ content: "word " }),
      () => ({ content: "" }),
      () => ({ reasoning_content: "hm " }),
      () => ({ reasoning_details: [draw(2) === 0 ? signed : hidden] }),
      () => ({ refusal: "no " }),
      () => begun(draw(3), `call-${draw(4)}`, ["", "{}", '{"a":'][draw(3)]),
      () => piece(draw(3), ["", "{}", "1}", " "][draw(4)] ?? ""),
      () => ({ annotations: [bareSource] }),
      () => ({ extra_content: { google: { thought_signature: "s" } } }),
      () => ({ images: [{ image_url: { url: pixel } }] }),
    ];
    for (let round = 0; round < 300; round++) {
      const chunks = Array.from({ length: draw(12) }, () =>
        chunk((makers[draw(makers.length)] as (typeof makers)[number])()),
      );
      const events = stream([...chunks, finish(draw(4) === 0 ? "length" : "stop")]);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      const told = outputOf(events).flatMap((item) => (item.type === "message" ? item.content : []));
      expect(told.map((part) => (part.type === "output_text" ? part.text : "")).join("")).toBe(text);
    }
  });
});

describe.skipIf(!existsSync(schemaFolder))("everything that is written fits the published schemas", () => {
  function createCheck(name: string): (value: unknown) => void {
    const published = JSON.parse(readFileSync(join(schemaFolder, `${name}.json`), "utf8")) as unknown;
    return (value) => {
      const document = new SchemaDocument(published);
      if (!fitsSchema(JSON.parse(JSON.stringify(value)) as Json, document.root, document))
        throw new Error(`does not fit ${name}: ${JSON.stringify(value)}`);
    };
  }

  const full = {
    instructions: "Be brief.",
    tools: [tool],
    tool_choice: { type: "function", name: "look_up" },
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low" },
    metadata: { a: "b" },
    user: "u",
    previous_response_id: "resp_0",
  };
  const annotations = [bareSource];
  const logprobs = { content: [{ token: "A", logprob: -1, bytes: null, top_logprobs: [] }] };
  const streams: readonly (readonly ChatChunk[])[] = [
    [finish("stop")],
    [chunk({ content: "Hi", annotations }, { logprobs }), finish("stop"), { ...chunk({}), choices: [], usage }],
    [chunk({ reasoning_content: "Hm.", reasoning_details: [signed] }), chunk({ content: "A" }), finish("length")],
    [chunk(begun(0, "a", "{}")), chunk(begun(1, "b", "{}")), finish("tool_calls")],
    [chunk({ content: "A" }), chunk({ refusal: "No." }), finish("content_filter")],
  ];

  test.each(["openai.responses.event.calibrated", "openresponses.event"])("events: %s", (name) => {
    const check = createCheck(name);
    for (const members of [{}, full])
      for (const chunks of streams) for (const event of stream(chunks, members)) check(event);
    const writer = new ResponsesStreamWriter(createDraftOf(full));
    writer.write(chunk({ content: "Hal" }));
    for (const event of readFrames(writer.fail({ code: "provider_timeout", message: "Too slow." }))) check(event);
  });

  test.each(["openai.responses.response.calibrated", "openresponses.response"])("answers: %s", (name) => {
    const check = createCheck(name);
    const messages = [
      { content: "Hi", annotations },
      { content: "", reasoning_content: "Hm.", tool_calls: [chatCall("a")] },
      { refusal: "No." },
    ];
    for (const members of [{}, full])
      for (const message of messages) check(toResponse(createDraftOf(members), complete(message, { usage })));
    check(completeResponse({ id: "resp_1", status: "completed", model: "m", output: [] }));
  });

  test("answers with a schema: openai.responses.response.calibrated", () => {
    // The other description has no place for the schema in an answer.
    const text = { format: { type: "json_schema", name: "answer", schema: { type: "object" } } };
    createCheck("openai.responses.response.calibrated")(
      toResponse(createDraftOf({ text }), complete({ content: "{}" })),
    );
  });
});
