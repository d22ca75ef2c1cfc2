// Requests and answers of vendors at their edges: limits of a member, failures inside an answer, values that are missing. The shapes are
// documented on the pages that the providers name; the values are invented.

import { describe, expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { rows } from "../../src/providers/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { TaskFailure, type TaskRequest } from "../../src/providers/task.ts";
import { rejectionOf } from "../support/thrown.ts";
import { answerOf, callOf, fileOf, read, taskOf } from "./vendor-calls.ts";

const picture = fileOf(Buffer.from("89504e470d0a1a0a0000000d49484452000000c80000006408020000", "hex"), "image/png");
const text = "Anna met Bob.";

function rowOf(vendor: string): ProviderRow {
  const row = rows.find(({ name }) => name === vendor);
  if (row === undefined) throw new Error(`there is no ${vendor}`);
  return row;
}

interface Asked {
  readonly model?: string;
  readonly file?: typeof picture;
  readonly settings?: Readonly<Record<string, string>>;
}

/** `<task> of <vendor>` */
const find = (name: string) => {
  const [task = "", vendor = ""] = name.split(" of ");
  return { row: rowOf(vendor), task };
};

function callWith(name: string, input: JsonObject, { model, file = picture, settings }: Asked = {}) {
  const { row, task } = find(name);
  const chosen = model ?? taskOf(row, task).defaultModel;
  return callOf({
    input,
    files: { file },
    ...(chosen && { model: chosen }),
    ...(settings && { settings }),
    jobId: "j",
  });
}

async function bodyOf(name: string, input: JsonObject, asked: Asked = {}): Promise<unknown> {
  const { row, task } = find(name);
  const { body } = await taskOf(row, task).toRequest(callWith(name, input, asked));
  if (body?.kind === "json") return JSON.parse(JSON.stringify(body.value));
  if (body?.kind !== "form") return body;
  return Object.fromEntries(body.parts.map((part) => [part.name, "value" in part ? part.value : part.fileName]));
}

async function outputOf(name: string, json: unknown, input: JsonObject = { text }): Promise<JsonObject> {
  const { row, task } = find(name);
  return (await read(row, task, json, callWith(name, input))).output;
}

/** The member of the input that the vendor does not take. */
async function refusedMember(request: Promise<unknown>): Promise<unknown> {
  return (await rejectionOf(request, ValidationError)).problems[0].loc.at(-1);
}

describe("what the caller chooses reaches the vendor", () => {
  const search = { query: "trains", max_results: 7, depth: null };
  test.each([
    ["web/search of tavily", { ...search, depth: "advanced" }, { max_results: 7, search_depth: "advanced" }],
    ["web/search of linkup", search, { q: "trains", depth: "standard", maxResults: 7 }],
    ["web/search of firecrawl", search, { query: "trains", limit: 7 }],
    ["ocr/financial_parser of tabscanner", { document_type: "invoice" }, { documentType: "invoice" }],
    ["ocr/financial_parser of tabscanner", { document_type: "receipt" }, { documentType: "receipt" }],
    ["ocr/financial_parser of tabscanner", { document_type: "auto-detect" }, { documentType: "auto" }],
    ["web/research_async of linkup", { prompt: "Why?", reasoning_depth: "S" }, { reasoningDepth: "S" }],
    ["web/research_async of linkup", { prompt: "Why?", schema: {} }, { outputType: "structured", reasoningDepth: "L" }],
    [
      "translation/automatic_translation of deepl",
      { text, target_language: "en_gb", source_language: "fr-CA" },
      { target_lang: "EN-GB", source_lang: "FR" },
    ],
  ])("%s with %j sends %j", async (name, input, sent) => {
    expect(await bodyOf(name, input)).toMatchObject(sent);
  });

  test("and what the caller leaves open is not sent", async () => {
    const open = { query: "trains", max_results: null, depth: null };
    expect(await bodyOf("web/search of firecrawl", open)).toEqual({ query: "trains" });
    expect(await bodyOf("web/search of tavily", open)).not.toContainAnyKeys(["max_results", "search_depth"]);
    expect(await bodyOf("web/search of linkup", open)).not.toContainAnyKeys(["maxResults"]);
    const input = { text, target_language: "de", source_language: null };
    expect(await bodyOf("translation/automatic_translation of deepl", input)).not.toHaveProperty("source_lang");
  });
});

describe("a clip of Amazon", () => {
  const name = "video/generation_async of amazon";
  const inputOf = async (duration: number | null, more: JsonObject = {}, withFile = false) => {
    const input = { text, duration, dimension: null, seed: null, ...more };
    const task = taskOf(rowOf("amazon"), "video/generation_async");
    const call = { ...callWith(name, input, { settings: { bucket: "b" } }), ...(!withFile && { files: {} }) };
    const { body } = await task.toRequest(call);
    return (body?.kind === "json" ? body.value : null) as { modelInput: JsonObject };
  };

  test.each([
    [null, "TEXT_VIDEO", 6],
    [6, "TEXT_VIDEO", 6],
    [12, "MULTI_SHOT_AUTOMATED", 12],
    [120, "MULTI_SHOT_AUTOMATED", 120],
  ])("of %p seconds is of the kind %s", async (duration, taskType, durationSeconds) => {
    expect((await inputOf(duration)).modelInput).toMatchObject({
      taskType,
      videoGenerationConfig: { durationSeconds },
    });
  });

  test.each([[5], [7], [126]])("of %d seconds is refused", async (duration) => {
    expect(await refusedMember(inputOf(duration))).toBe("duration");
  });

  test("begins with a frame only if it has 6 seconds", async () => {
    expect((await inputOf(6, { seed: 0 }, true)).modelInput).toMatchObject({
      textToVideoParams: { images: [{ format: "png" }] },
      videoGenerationConfig: { seed: 0 },
    });
    expect(await refusedMember(inputOf(12, {}, true))).toBe("file");
  });
});

describe("speech of Amazon", () => {
  const name = "audio/tts of amazon";
  const speak = (input: JsonObject, model = "standard") => bodyOf(name, { text: "Hi", ...input }, { model });

  test("is marked up only if the caller changes how it is spoken", async () => {
    expect(await speak({})).toMatchObject({ Text: "Hi", TextType: "text", VoiceId: "Joanna", OutputFormat: "mp3" });
    const changed = { speed: 0.5, speaking_pitch: -10, speaking_volume: 100 };
    expect(await speak({ ...changed, voice: "Amy" })).toMatchObject({
      Text: '<speak><prosody rate="50%" pitch="-10%" volume="+6.02dB">Hi</prosody></speak>',
      TextType: "ssml",
      VoiceId: "Amy",
    });
  });

  test("has a speed of 0.2 to 2, and a pitch only with standard voices", async () => {
    expect([await speak({ speed: 0.2 }), await speak({ speed: 2 })]).toMatchObject([{}, {}]);
    for (const speed of [0.19, 2.01]) expect(await refusedMember(speak({ speed }))).toBe("speed");
    expect(await refusedMember(speak({ speaking_pitch: 1 }, "neural"))).toBe("speaking_pitch");
  });
});

/** What the answer leads to: the status of a failure, null when the work is done, otherwise the next request. */
async function stepAfter(name: string, json: unknown, request: TaskRequest, status = 200) {
  const { row, task } = find(name);
  const found = taskOf(row, task);
  try {
    return (await found.next?.(answerOf(json, status), callWith(name, { text }), request)) ?? null;
  } catch (error) {
    if (error instanceof TaskFailure) return error.status;
    throw error;
  }
}

describe("a failure inside an answer has the status of its reason", () => {
  const poll: TaskRequest = { method: "GET", path: "/x", state: { token: "t", arn: "a/b", key: "k", mediaType: "x" } };
  const transcribe = "audio/speech_to_text_async of amazon";

  test.each([
    ["web/research_async of tavily", { status: "failed" }, 502],
    ["web/research_async of linkup", { status: "failed", error: "No." }, 502],
    ["ocr/financial_parser of tabscanner", { success: false, token: "t" }, 400],
    ["ocr/financial_parser of tabscanner", { status: "failed" }, 400],
    ["translation/document_translation of deepl", { status: "error" }, 400],
    ["audio/speech_to_text_async of gladia", { status: "error", error_code: 404 }, 404],
    ["audio/speech_to_text_async of gladia", { status: "error", error_code: 400 }, 400],
    ["audio/speech_to_text_async of gladia", { status: "error", error_code: 399 }, 502],
    ["audio/speech_to_text_async of gladia", { status: "error", error_code: 600 }, 502],
    ["audio/speech_to_text_async of gladia", { status: "error" }, 502],
    ["video/generation_async of amazon", { status: "Failed" }, 400],
    [transcribe, { TranscriptionJob: { TranscriptionJobStatus: "FAILED" } }, 400],
    ["ocr/ocr_async of microsoft", { status: "failed", error: { code: "InvalidRequest" } }, 400],
    ["ocr/ocr_async of microsoft", { status: "Canceled", error: { code: "InternalServerError" } }, 502],
    ["ocr/ocr_async of microsoft", { status: "cancelled" }, 502],
  ])("%s: %j is %d", async (name, json, status) => {
    expect(await stepAfter(name, json, poll)).toBe(status as never);
  });

  test.each([
    [{ __type: "com.amazon#ThrottlingException", Message: "Slow." }, 429],
    [{ __type: "AccessDeniedException" }, 403],
    [{ __type: "BadRequestException" }, 400],
  ])("a transcription that Amazon refuses with %j is %d", async (json, status) => {
    expect(await stepAfter(transcribe, json, poll, 400)).toBe(status as never);
  });

  test("a transcription that an earlier run of the job has started is polled", async () => {
    expect(await stepAfter(transcribe, { __type: "x#ConflictException" }, poll, 400)).toMatchObject({
      waitMs: "growing",
      headers: { "x-amz-target": "Transcribe.GetTranscriptionJob" },
    });
  });
});

describe("work that is not done is polled", () => {
  const poll: TaskRequest = { method: "GET", path: "/x" };

  test.each([
    ["translation/document_translation of deepl", { status: "queued" }, 500],
    ["translation/document_translation of deepl", { status: "translating", seconds_remaining: 4 }, 2_000],
    ["translation/document_translation of deepl", { status: "translating", seconds_remaining: 90 }, 10_000],
    ["ocr/financial_parser of tabscanner", { status: "pending" }, 1_000],
    ["web/research_async of tavily", { status: "in_progress" }, "growing"],
    ["web/research_async of linkup", { status: "pending" }, "growing"],
    ["ocr/ocr_async of microsoft", { status: "notStarted" }, "growing"],
    ["ocr/ocr_async of microsoft", { status: "running" }, "growing"],
  ])("%s: %j after %p", async (name, json, waitMs) => {
    expect(await stepAfter(name, json, poll)).toMatchObject({ path: "/x", waitMs });
  });

  test.each([
    ["web/research_async of tavily", { status: "completed" }],
    ["web/research_async of linkup", { status: "completed" }],
    ["ocr/financial_parser of tabscanner", { status: "done" }],
    ["ocr/ocr_async of microsoft", { status: "succeeded" }],
  ])("%s: %j is done", async (name, json) => {
    expect(await stepAfter(name, json, poll)).toBeNull();
  });

  test.each([
    ["0", 100],
    ["3", 3_000],
    ["60", 10_000],
  ])("an operation of Microsoft that names %s seconds is polled after %d ms", async (seconds, waitMs) => {
    const task = taskOf(rowOf("microsoft"), "ocr/ocr_async");
    const headers = { "operation-location": "https://x.example/y/op-1?api-version=1", "retry-after": seconds };
    const next = await task.next?.(answerOf({}, 202, headers), callOf(), { path: "/y" });
    expect([next?.waitMs, next?.path.includes("op-1")]).toEqual([waitMs, true]);
    expect(() => task.next?.(answerOf({}, 202), callOf(), { path: "/y" })).toThrow("id of the operation");
  });
});

describe("an answer without a value", () => {
  test("has an image's score from either member", async () => {
    const scoreOf = async (json: JsonObject) =>
      (await outputOf("image/ai_detection of winstonai", json, { file: "https://a.example/x.png" }))["ai_score"];
    expect([await scoreOf({ ai_probability: 0.9, score: 50 }), await scoreOf({ score: 20 })]).toEqual([0.9, 0.8]);
    await expect(scoreOf({})).rejects.toThrow("no score");
  });

  test("has candidates that are plagiarized only with a score", async () => {
    const source = { url: "https://a.example", title: "A", score: 0, plagiarismFound: [{ sequence: "x" }] };
    const older = { url: "https://b.example", title: "B", excerpts: ["y"] };
    const { items } = await outputOf("text/plagia_detection of winstonai", { score: 10, sources: [source, older] });
    expect(items).toMatchObject([
      { candidates: [{ prediction: "not plagiarized", plagia_score: 0 }] },
      { candidates: [{ prediction: "plagiarized", plagia_score: 1 }] },
    ]);
  });

  test.each([
    [[0.1, 0.2, 0.3]],
    [[0.1, null, 0.3, 0.4]],
    [[null, 0.2, 0.3, 0.4]],
    [[0.1, 0.2, null, 0.4]],
  ])("has no edges of the box %j", async (box) => {
    const object = { box, entities: [{ kind: "classes", classes: { cat: 0.9 } }] };
    const json = { results: [{ entities: [{ kind: "objects", objects: [object] }] }] };
    const { items } = await outputOf("image/object_detection of api4ai", json);
    expect(items).toEqual([{ label: "cat", confidence: 0.9, x_min: null, x_max: null, y_min: null, y_max: null }]);
  });

  test("cannot hide personal data without a position", async () => {
    const json = (location: JsonObject) => [
      { processed_text: "[NAME_1]", entities: [{ best_label: "NAME", labels: { NAME: 0.9 }, location }] },
    ];
    const name = "text/anonymization of privateai";
    expect(await outputOf(name, json({ stt_idx: 5, end_idx: 8 }))).toMatchObject({ result: "Anna *** Bob." });
    for (const location of [{ stt_idx: 5 }, { end_idx: 8 }])
      await expect(outputOf(name, json(location))).rejects.toThrow("without a position");
  });

  test("has the amounts that the page shows", async () => {
    const field = (more: JsonObject) => ({ type: "currency", content: "12,50", ...more });
    const total = async (fields: JsonObject) => {
      const json = { analyzeResult: { documents: [{ docType: "invoice", fields }], pages: [] } };
      const output = await outputOf("ocr/financial_parser of microsoft", json, { document_type: "invoice" });
      const [first] = output["extracted_data"] as { payment_information: JsonObject }[];
      return first?.payment_information["total"];
    };
    expect(await total({ InvoiceTotal: field({ valueCurrency: { amount: 13 } }) })).toBe(13);
    expect(await total({ InvoiceTotal: field({}) })).toBe(12.5);
  });
});

describe("images of MiniMax", () => {
  const name = "image/generation of minimax";
  const one = Buffer.from("x").toString("base64");

  test("that the filter blocked are a refusal only if no image is left", async () => {
    const { row, task } = find(name);
    const imagesOf = async (image_base64: readonly string[], failed_count: number) => {
      const answer = answerOf({ data: { image_base64 }, metadata: { failed_count } });
      return (await taskOf(row, task).fromResponse(answer, callOf(), { path: "/" })).binaries?.length;
    };
    expect([await imagesOf([one], 0), await imagesOf([one], 2)]).toEqual([1, 1]);
    expect((await rejectionOf(imagesOf([], 1), TaskFailure)).status).toBe(400);
    await expect(imagesOf([], 0)).rejects.toThrow(TypeError);
  });

  test.each([
    [1001, 504],
    [1002, 429],
    [1008, 402],
    [1004, 401],
    [1026, 400],
    [9999, 502],
  ])("that fail with code %d have the status %d", async (status_code, status) => {
    const { row, task } = find(name);
    const answer = answerOf({ base_resp: { status_code, status_msg: "No." } });
    const read = async () => taskOf(row, task).fromResponse(answer, callOf(), { path: "/" });
    expect(await rejectionOf(read(), TaskFailure)).toMatchObject({ status, message: "No." });
  });

  test.each([
    ["512x2048", { width: 512, height: 2_048 }],
    ["504x896", { aspect_ratio: "9:16" }],
    ["1:1", { aspect_ratio: "1:1" }],
  ])("of %s have %j", async (resolution, sent) => {
    const input = { text, num_images: 9, resolution, mask: null };
    expect(await bodyOf(name, input)).toMatchObject({ n: 9, ...sent });
    expect(await refusedMember(bodyOf(name, { ...input, num_images: 10 }))).toBe("num_images");
    expect(await refusedMember(bodyOf(name, { ...input, mask: "x" }))).toBe("mask");
  });
});

describe("collections of faces at Amazon", () => {
  const { row, task } = find("image/face_recognition of amazon");
  const { collections } = taskOf(row, task);

  test("find faces that have an id and a score", async () => {
    const face = (Similarity: unknown, FaceId: unknown) => ({ Similarity, Face: { FaceId } });
    const json = { FaceMatches: [face(90, "a"), face(null, "b"), face(80, null)] };
    expect(await outputOf("image/face_recognition of amazon", json)).toEqual({
      items: [{ confidence: 0.9, face_id: "a" }],
    });
  });

  test.each([
    ["create", "ResourceAlreadyExistsException"],
    ["deleteFaces", "ResourceNotFoundException"],
    ["delete", "ResourceNotFoundException"],
  ] as const)("%s accepts %s, and no other failure", async (operation, kind) => {
    const after = async (__type: string) => collections?.[operation].fromResponse(answerOf({ __type }, 400));
    expect(await after(kind)).toEqual({ output: {}, units: {} });
    expect(await rejectionOf(after("x#ThrottlingException"), TaskFailure)).toMatchObject({
      status: 429,
      message: "ThrottlingException",
    });
    expect((await rejectionOf(after("InvalidParameterException"), TaskFailure)).status).toBe(400);
    expect(await collections?.[operation].fromResponse(answerOf({}))).toEqual({ output: {}, units: {} });
  });
});
