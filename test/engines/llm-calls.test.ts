// What a chat model is sent for a task, and what becomes of answers that cannot be used. All answers here are invented.

import { describe, expect, test } from "bun:test";
import type { Engine } from "../../src/engines/engine.ts";
import { attach, attachFrames } from "../../src/engines/llm/attachments.ts";
import { createLlmEngines } from "../../src/engines/llm/index.ts";
import { GatewayError } from "../../src/errors.ts";
import { configureProviders, type Declared } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";
import { answer } from "../support/answers.ts";
import { failureOf, fileOf, image, pdf } from "../support/llm-tasks.ts";
import { openLlmVendor } from "./llm-vendor.ts";

const { vendor, complete, engineWith, run, say, sent } = await openLlmVendor();

const text = { text: "Ada is happy." };

describe("the temperature", () => {
  const atReasoningModel = (temperature: number) => {
    say({ answers: ["A cup."] });
    const input = { texts: ["x"], question: "What?", examples: [], temperature };
    return run("text/question_answer", input, { provider: "zai", model: "glm-5" });
  };

  test("that the caller chooses reaches the model", async () => {
    await run("image/question_answer", { question: "What?", temperature: 0.7 }, { file: image });
    await atReasoningModel(0.7);
    expect([sent().temperature, sent(1).temperature]).toEqual([0.7, 0.7]);
  });

  test("of 0 is not sent to a model that reasons", async () => {
    await atReasoningModel(0);
    expect(sent()).not.toHaveProperty("temperature");
  });
});

describe("an input that is too long for the model", () => {
  test("is refused from the first character above the limit on", async () => {
    await run("text/summarize", { text: "a".repeat(100_000) });
    expect(vendor.requests).toHaveLength(1);
    expect((await failureOf(run("text/summarize", { text: "a".repeat(100_001) }))).message).toContain("100000");
  });

  test("is refused with the name of its longest member", async () => {
    const input = { texts: ["x"], question: "a".repeat(100_000), examples: [] };
    const { problems } = await failureOf(run("text/question_answer", input));
    expect(problems[0]?.loc).toEqual(["body", "input", "question"]);
  });

  test("is refused earlier where the context of the model is short", async () => {
    const row = rows
      .filter(({ name }) => name === "openai")
      .map((one) => ({ ...one, chat: { models: [{ id: "tiny", contextTokens: 100 }] } }));
    const providers = configureProviders(row, { openai: { api_key: "key" } }, () => null);
    const engine = createLlmEngines({ providers: providers.values(), complete }).find(
      ({ task }) => task === "text/summarize",
    );
    const asked = { engine: engine as Engine, model: "tiny" };
    await run("text/summarize", { text: "a".repeat(200) }, asked);
    expect((await failureOf(run("text/summarize", { text: "a".repeat(201) }, asked))).message).toContain("at most 200");
    expect(vendor.requests).toHaveLength(1);
  });

  test("is refused when it is a text in a file, too", async () => {
    const long = fileOf("text/plain", "a".repeat(100_001));
    const { problems } = await failureOf(run("ocr/ocr", { file: "x" }, { file: long }));
    expect(problems[0]).toMatchObject({ loc: ["body", "input", "file"], type: "string_too_long" });
    expect(vendor.requests).toHaveLength(0);
  });
});

test("a model that refuses the schema gets the temperature and the limit as before", async () => {
  vendor.next(answer(400, { error: { message: "response_format is not supported" } }));
  say({ answers: ["A cup."] });
  const input = { file: "x", question: "What?", temperature: 0.5, max_tokens: 100 };
  await run("image/question_answer", input, { provider: "in-house", model: "new", file: image });
  expect(vendor.requests).toHaveLength(2);
  expect(sent(1)).toMatchObject({ temperature: 0.5, max_tokens: 150 });
  expect(sent(1)).not.toHaveProperty("response_format");
});

describe("an answer that cannot be used", () => {
  test("is repeated to the model up to 20,000 characters", async () => {
    say("x".repeat(50_000));
    say({ result: "short" });
    await run("text/summarize", text);
    expect(sent(1).messages[2]).toEqual({ role: "assistant", content: "x".repeat(20_000) });
  });

  test("and is empty is not repeated as an empty message, which vendors refuse", async () => {
    say(" \n");
    say({ result: "short" });
    await run("text/summarize", text);
    expect(sent(1).messages[2]).toEqual({ role: "assistant", content: "(no answer)" });
  });

  test("tells the client not to repeat the task, because the answers were paid", async () => {
    say("no JSON");
    say("still no JSON");
    expect((await failureOf(run("text/summarize", text))).details.shouldRetry).toBe(false);
    say("", { choices: [{ index: 0, message: { role: "assistant", content: "{" }, finish_reason: "length" }] });
    expect((await failureOf(run("text/summarize", text))).details.shouldRetry).toBe(false);
  });

  test("because the vendor filtered it is a refusal, and the model is not asked again", async () => {
    say("", { choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "content_filter" }] });
    const { code, message } = await failureOf(run("text/summarize", text));
    expect([code, message, vendor.requests.length]).toEqual([
      "provider_rejected_request",
      "The model 'openai/gpt-4o-mini' refused to work on this input.",
      1,
    ]);
  });

  test("keeps the request in the form that the model accepted", async () => {
    vendor.next(answer(400, { error: { message: "response_format is not supported" } }));
    say("no JSON");
    say({ result: "short" });
    await run("text/summarize", text);
    expect(vendor.requests).toHaveLength(3);
    expect(sent(2)).not.toHaveProperty("response_format");
  });

  /** The engine gets these failures of the chat layer, one after another, and then the answers of the vendor. */
  function runAfter(...failures: readonly GatewayError[]) {
    const left = [...failures];
    const engine = engineWith("text/summarize", (...call) => {
      const failure = left.shift();
      return failure === undefined ? complete(...call) : Promise.reject(failure);
    });
    return run("text/summarize", text, { engine });
  }

  const badAnswer = () => new GatewayError("provider_bad_response", "not what response_format asks for");

  test("to the chat layer, twice, is a failure that says so", async () => {
    const { code, message, details } = await failureOf(runAfter(badAnswer(), badAnswer()));
    expect([code, details.mayHaveExecuted, vendor.requests.length]).toEqual(["provider_bad_response", true, 0]);
    expect(message).toContain(
      "could not be used, and the call to correct it failed: not what response_format asks for",
    );
  });

  test("because it broke off is not requested again, since the provider may have executed the call", async () => {
    const brokenOff = new GatewayError("provider_bad_response", "broke off", { mayHaveExecuted: true });
    expect(await failureOf(runAfter(brokenOff))).toBe(brokenOff as never);
    expect(vendor.requests).toHaveLength(0);
  });

  test("for another reason than a refused parameter is not requested without that parameter", async () => {
    const unreachable = new GatewayError("provider_unreachable", "no route to temperature.example");
    expect(await failureOf(runAfter(unreachable))).toBe(unreachable as never);
    expect(vendor.requests).toHaveLength(0);
  });
});

test("an answer without usage has no tokens", async () => {
  say({ result: "short" }, { usage: undefined });
  expect((await run("text/summarize", text)).units).toEqual({ token: 0 });
});

describe("positions in the text", () => {
  const secret = { category: "PersonalInformation", subcategory: "Name", original_label: "NAME", confidence_score: 1 };

  test("of two entities that overlap cover both, and each character belongs to one of them", async () => {
    say({ entities: ["Maria Berg", "Anna Maria", "Maria Berg"].map((content) => ({ ...secret, content })) });
    const { output } = await run("text/anonymization", { text: "Dr Anna Maria Berg." });
    expect(output["result"]).toBe("Dr ***************.");
    expect(output["entities"]).toMatchObject([
      { content: "Anna ", offset: 3, length: 5 },
      { content: "Maria Berg", offset: 8, length: 10 },
    ]);
  });

  test("of an entity between two longer ones are those of its visible part", async () => {
    const contents = ["Berg & Olsen", "Anna Maria Berg", "Olsen Holm Marie", "Holm"];
    say({ entities: contents.map((content) => ({ ...secret, content })) });
    const { output } = await run("text/anonymization", { text: "Anna Maria Berg & Olsen Holm Marie" });
    expect(output["result"]).toBe("*".repeat(34));
    expect((output["entities"] as { content: string }[]).map(({ content }) => content)).toEqual([
      "Anna Maria Berg",
      " & ",
      "Olsen Holm Marie",
    ]);
  });

  test("of a mistake are its first ones after the previous mistake, where its context is not in the text", async () => {
    const item = { text: "teh", type: "spelling", suggestions: [{ suggestion: "the", score: 1 }] };
    const contexts = ["made up", "made up too", "and a dog"];
    say({ items: contexts.map((context) => ({ ...item, context })) });
    const { output } = await run("text/spell_check", { text: "teh cat, teh cow and a dog" });
    expect(output["items"]).toMatchObject([{ offset: 0 }, { offset: 9 }, { offset: 0 }]);
  });

  test("of an entity that the text does not contain are null", async () => {
    say({ items: [{ type: "PERSON", text: "Bob", sentiment: "Neutral" }] });
    const { output } = await run("text/entity_sentiment", text);
    expect(output["items"]).toMatchObject([{ text: "Bob", begin_offset: null, end_offset: null }]);
  });
});

test.each([
  ["another order", ["saw", "Ada", "."]],
  ["an added word", ["Ada", "really", "saw", "."]],
  ["a left-out word", ["Ada", "."]],
])("words in %s are reported to the model", async (_, words) => {
  const items = (all: readonly string[]) => ({ items: all.map((word) => ({ word, tag: "Noun", lemma: null })) });
  say(items(words));
  say(items(["Ada", "saw", "."]));
  await run("text/syntax_analysis", { text: "Ada saw." });
  expect(String(sent(1).messages.at(-1)?.content)).toContain("is not next");
});

test.each([
  [0, 1],
  [0.19, 1],
  [0.2, 2],
  [0.99, 5],
  [1, 5],
])("a likelihood of %d is step %d of 5", async (likelihood_score, step) => {
  say({ items: [{ label: "threat", category: "Violence", subcategory: "Threat", likelihood_score }] });
  const { output } = await run("text/moderation", text);
  expect(output).toMatchObject({ nsfw_likelihood: step, items: [{ likelihood: step }] });
});

test("content of the category Safe makes nothing unsafe", async () => {
  say({ items: [{ label: "greeting", category: "Safe", subcategory: "Safe", likelihood_score: 1 }] });
  expect((await run("text/moderation", text)).output).toMatchObject({ nsfw_likelihood: 1, nsfw_likelihood_score: 0 });
});

test("a landmark has a place only if the model knows both of its coordinates", async () => {
  const one = { description: "Tower", confidence: 1 };
  say({
    items: [
      { ...one, latitude: 48.9, longitude: 2.3 },
      { ...one, latitude: 48.9, longitude: null },
      { ...one, latitude: null, longitude: 2.3 },
    ],
  });
  const { output } = await run("image/landmark_detection", { file: "x" }, { file: image });
  const place = { lat_lng: { latitude: 48.9, longitude: 2.3 } };
  expect((output["items"] as { locations: unknown }[]).map(({ locations }) => locations)).toEqual([[place], [], []]);
});

test("cells of a table that span beyond its last row change nothing", async () => {
  const cell = (text: string, row_span: number, col_span: number) => ({ text, row_span, col_span, is_header: false });
  const tableRows = [
    { cells: [cell("a", 1, 1), cell("b", 3, 2)] },
    { cells: [cell("c", 1, 1), cell("d", 1, 1)] },
    { cells: [cell("e", 200, 1)] },
  ];
  say({ pages: [{ tables: [{ rows: tableRows }, { rows: [] }] }, { tables: [] }] });
  const { output } = await run("ocr/ocr_tables_async", { file: "x" }, { file: image });
  const [page] = output["pages"] as { tables: { rows: { cells: { col_index: number }[] }[] }[] }[];
  const sizes = [
    { num_rows: 3, num_cols: 4 },
    { num_rows: 0, num_cols: 0 },
  ];
  expect(output).toMatchObject({ num_pages: 2, pages: [{ tables: sizes }, { tables: [] }] });
  expect(page?.tables[0]?.rows.map(({ cells }) => cells.map(({ col_index }) => col_index))).toEqual([
    [0, 1],
    [0, 3],
    [0],
  ]);
});

test("an invoice without pages is left out", async () => {
  say({
    invoices: [
      { pages: [], confidence: 1 },
      { pages: [1], confidence: 1 },
    ],
  });
  const { output } = await run("ocr/invoice_splitter_async", { file: "x" }, { file: pdf });
  expect(output["extracted_data"]).toEqual([{ page_indexes: [0], confidence: 1 }]);
});

describe("a file", () => {
  const anyModel = { name: "openai/new", facts: null };
  const mebibytes = (count: number) => count * 1_048_576;

  test("is sent up to 20 MiB", async () => {
    const withSize = (size: number) => attach({ ...image, size }, "image", anyModel);
    expect(await withSize(mebibytes(20))).toHaveProperty("part");
    expect((await failureOf(withSize(mebibytes(20) + 1))).message).toContain("larger than the 20971520 bytes");
  });

  test.each([
    ["scan", "scan.pdf"],
    ["SCAN.PDF", "SCAN.PDF"],
    ["", "document.pdf"],
  ])("called %j is sent as %s", async (name, filename) => {
    expect(await attach(fileOf("application/pdf", "%PDF", name), "document", anyModel)).toMatchObject({
      part: { file: { filename } },
    });
  });

  test.each([
    ["document", "audio/mpeg", "a PNG, JPEG, WebP or GIF image, a PDF or a text, and is of type audio/mpeg"],
    ["image", "text/plain", "a PNG, JPEG, WebP or GIF image, and is of type text/plain"],
    ["pdf", "text/plain", "a PDF, and is of type text/plain"],
  ] as const)("for a task that reads %s is refused as %s", async (reads, mediaType, wanted) => {
    const { message } = await failureOf(attach(fileOf(mediaType), reads, anyModel));
    expect(message).toContain(`The file should be ${wanted}`);
  });

  test("that the model cannot read is refused, with what to send instead", async () => {
    const reader = (...input: ("text" | "image" | "file")[]) => ({ name: "openai/x", facts: { id: "x", input } });
    const refusalOf = async (file: typeof pdf, input: Parameters<typeof reader>) =>
      (await failureOf(attach(file, "document", reader(...input)))).message;
    expect(await refusalOf(pdf, ["text", "image"])).toContain("does not read PDF files; send its pages as images");
    expect(await refusalOf(image, ["text", "file"])).toEndWith("does not read images");
    expect(await attach(pdf, "pdf", reader("file"))).toHaveProperty("part");
    expect(await attach(image, "document", { name: "openai/x", facts: { id: "x" } })).toHaveProperty("part");
  });
});

describe("a video", () => {
  const framesEngine = (unavailableReason: string | null): Engine => ({
    provider: "local",
    task: "video/question_answer_async",
    models: [],
    acceptsAnyModel: false,
    unavailableReason,
    run: async () => {
      const frames = [0, 2.5].map((time) => ({ time, jpeg: btoa(`frame at ${time}`) }));
      return { output: { frames }, original: null, units: {} };
    },
  });

  function videoEngine(frames: Engine | undefined): Engine {
    const providers = configureProviders(rows, { openai: { api_key: "key" } }, () => null);
    const engines = createLlmEngines({ providers: providers.values(), complete, frames });
    const found = engines.find(({ task, provider }) => task.startsWith("video/") && provider === "openai");
    return found as Engine;
  }

  test("is sent as images, with the time of each", async () => {
    const engine = videoEngine(framesEngine(null));
    expect(engine.unavailableReason).toBeNull();
    await run(engine.task, { file: "x", text: "What happens?" }, { engine, file: fileOf("video/mp4") });
    const parts = (sent().messages[1]?.content ?? []) as readonly { text?: string; image_url?: { url: string } }[];
    const [first, second, prompt] = parts;
    expect([first?.image_url?.url, second?.image_url?.url]).toEqual(
      ["frame at 0", "frame at 2.5"].map((frame) => `data:image/jpeg;base64,${btoa(frame)}`),
    );
    expect(prompt?.text).toContain("at these seconds: 0, 2.5");
    expect(prompt?.text).toContain("What happens?");
  });

  test("is refused for a model that reads no images", () => {
    const reader = { name: "openai/x", facts: { id: "x", input: ["text" as const] } };
    expect(() => attachFrames([], reader)).toThrow("does not read images");
  });

  test("cannot be read on a machine without the engine that extracts frames", () => {
    expect(videoEngine(undefined).unavailableReason).toBe("Videos cannot be read on this machine.");
    expect(videoEngine(framesEngine("Run the installer.")).unavailableReason).toBe("Run the installer.");
  });
});

describe("the default model of a task", () => {
  function defaultOf(task: string, declared: Declared = {}, row = "openai"): string | null {
    const all = configureProviders(rows, { [row]: { api_key: "key", ...declared } }, () => null);
    const engines = createLlmEngines({ providers: all.values(), complete });
    const engine = engines.find((one) => one.task === task && one.provider === row);
    return engine?.needsModel ? null : (engine?.defaultModel ?? null);
  }

  test("is the operator's choice for the task, then the operator's general choice, then the provider's", () => {
    const general = { "*": "gpt-5", "text/summarize": "gpt-4o" };
    expect(defaultOf("text/summarize", { default_model: general })).toBe("gpt-4o");
    expect(defaultOf("text/moderation", { default_model: general })).toBe("gpt-5");
    expect(defaultOf("text/moderation")).toBe("gpt-6-luna");
  });

  test("can read the input of the task, unless nothing is known about it", () => {
    expect(defaultOf("image/question_answer", { default_model: "gpt-6.1-sol" })).toBe("gpt-6-luna");
    expect(defaultOf("image/question_answer", { default_model: "my-own" })).toBe("my-own");
    expect(defaultOf("ocr/invoice_splitter_async", { default_model: "gpt-5" })).toBe("gpt-6-luna");
  });
});
