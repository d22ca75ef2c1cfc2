// Speech, transcripts, images and moderation in OpenAI's shapes, by its official client, over the engines of the universal endpoint.

import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { imagesAnswer } from "../../src/contract/images.ts";
import { categoryNames, moderationsAnswer } from "../../src/contract/moderations.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { answer, hang } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { type KeyRequest, providerSecret } from "../support/gateway-settings.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";
import OpenAI, {
  APIError,
  NotFoundError,
  PermissionDeniedError,
  toFile,
  UnprocessableEntityError,
} from "../tools/node_modules/openai/index.mjs";

const maxFileBytes = 200_000;

const vendor = await startVendor(() => answer(404, { error: { message: "no such path" } }));
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  env: {
    SWITCHYARD_MAX_FILE_BYTES: String(maxFileBytes),
    SWITCHYARD_LOCAL_WORKERS: "1",
    OPENAI_API_KEY: providerSecret,
    OPENAI_BASE_URL: `${origin}/openai/v1`,
  },
  config: {
    providers: {
      inhouse: {
        dialect: "openai",
        base_url: `${origin}/tasks/v1`,
        api_key: providerSecret,
        tasks: ["audio/tts", "audio/speech_to_text_async", "text/moderation"],
      },
    },
  },
});
const key = await gateway.createKey();
const client = clientWith(key);

beforeEach(() => vendor.clear());

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v3`, apiKey, maxRetries: 0, timeout: 30_000 });
}

async function keyWith(request: KeyRequest): Promise<OpenAI> {
  return clientWith(await gateway.createKey(request));
}

/** Eight thousand samples of silence: a second. */
function recording(bytes = 16_000): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}

const wave = () => toFile(recording(), "meeting.wav", { type: "audio/wav" });

/** What the vendor was asked. */
function asked(): Record<string, unknown> {
  return JSON.parse(vendor.last().body.toString()) as Record<string, unknown>;
}

/** Whether the group of packages is there. */
function canHear(): boolean {
  const engine = localEngines.find(({ task }) => task === "audio/speech_to_text_async");
  return engine?.packages.every((name) => findPackage(name) !== null) ?? false;
}

interface Refusal {
  readonly status: number | undefined;
  readonly code: string | null | undefined;
  readonly param: string | null | undefined;
  readonly message: string;
}

/** What the client throws. */
async function refusalOf(call: PromiseLike<unknown>): Promise<Refusal> {
  try {
    await call;
  } catch (error) {
    if (error instanceof APIError) {
      const { status, code, param, message } = error;
      return { status, code, param, message };
    }
    throw error;
  }
  throw new Error("expected a refusal, and it was answered");
}

/** Files that are being written, or lent to a request. */
function unfinished(): string[] {
  const folder = join(gateway.dataFolder, "files", "incoming");
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function problemsOf(path: string, body: unknown) {
  const response = await ask(gateway.url, key, body, { path });
  const { detail } = (await response.clone().json()) as { detail: { loc: string[]; type: string }[] };
  const { status } = await readError(response);
  return { status, problems: detail.map(({ loc, type }) => ({ loc, type })) };
}

describe("audio.speech", () => {
  test("answers with the audio itself, in its own type, and tells provider and cost in headers", async () => {
    const { data: speech, response } = await client.audio.speech
      .create({ model: "local", voice: "slt", input: "Good morning.", response_format: "wav" })
      .withResponse();
    expect(response.headers.get("content-type")).toBe("audio/wav");
    expect(response.headers.get("x-switchyard-provider")).toBe("local");
    expect(response.headers.get("x-switchyard-cost")).toBe("0");
    expect(Number(response.headers.get("x-switchyard-provider-time"))).toBeGreaterThan(0);
    const bytes = Buffer.from(await speech.arrayBuffer());
    expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
    expect(bytes.length).toBeGreaterThan(5_000);
  });

  test("is mp3 unless another format is asked for, and a voice may be an object", async () => {
    const { data: speech, response } = await client.audio.speech
      .create({ model: "local", voice: { id: "rms" }, input: "Good morning." })
      .withResponse();
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    const [first = 0, second = 0] = new Uint8Array(await speech.arrayBuffer());
    expect([first, second & 0xe0]).toEqual([0xff, 0xe0]);
  });

  test("keeps nothing on the disk", async () => {
    const before = readdirSync(join(gateway.dataFolder), { recursive: true }).length;
    await client.audio.speech.create({ model: "sandbox/ok", voice: "any", input: "Hello" });
    expect(readdirSync(join(gateway.dataFolder), { recursive: true }).length).toBe(before);
  });

  test("reaches a vendor with all that its format has, and the answer's bytes are the vendor's", async () => {
    const audio = Buffer.from([0xff, 0xf3, 0x10, 0, 1, 2, 3, 254, 255]);
    vendor.next(answer(200, audio, { "content-type": "audio/mpeg" }));
    const { data: speech, response } = await client.audio.speech
      .create({
        model: "openai/tts-1",
        voice: "nova",
        input: "Hello",
        response_format: "mp3",
        speed: 1.5,
        instructions: "Cheerfully.",
      })
      .withResponse();
    expect(Buffer.from(await speech.arrayBuffer())).toEqual(audio);
    expect(response.headers.get("x-switchyard-cost")).toBe("0.000075");
    expect(response.headers.get("x-switchyard-model")).toBe("tts-1");
    expect(response.headers.get("x-switchyard-dropped-params")).toBeNull();
    expect(vendor.last().path).toBe("/openai/v1/audio/speech");
    expect(asked()).toEqual({
      model: "tts-1",
      input: "Hello",
      voice: "nova",
      response_format: "mp3",
      speed: 1.5,
      instructions: "Cheerfully.",
    });
  });

  test("what an engine has no place for is dropped and named, or refused for those who want that", async () => {
    const request = { model: "local", voice: "slt", input: "Hello", instructions: "Whisper." };
    const { response } = await client.audio.speech.create(request).withResponse();
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("instructions");
    const strict = { ...request, strict_parameters: true };
    expect(await refusalOf(client.audio.speech.create(strict))).toMatchObject({
      status: 422,
      code: "unsupported_parameter",
      param: "instructions",
    });
  });

  test("a cost that is not known is not told as 0", async () => {
    vendor.next(answer(200, Buffer.from([0xff, 0xf3, 1]), { "content-type": "audio/mpeg" }));
    const { response } = await client.audio.speech
      .create({ model: "openai/tts-next", voice: "nova", input: "Hello" })
      .withResponse();
    expect(response.headers.get("x-switchyard-cost")).toBeNull();
    expect(response.headers.get("x-switchyard-cost-reason")).toBe("price_unknown");
  });

  test("what is wrong is told by the names of this format", async () => {
    const path = "/v3/audio/speech";
    expect(await problemsOf(path, { voice: 7, speed: 9, stream_format: "sse" })).toEqual({
      status: 422,
      problems: [
        { loc: ["body", "model"], type: "missing" },
        { loc: ["body", "input"], type: "missing" },
        { loc: ["body", "voice"], type: "string_type" },
        { loc: ["body", "speed"], type: "less_than_equal" },
        { loc: ["body", "stream_format"], type: "literal_error" },
      ],
    });
    const request = { model: "local", input: "Good morning" };
    expect((await problemsOf(path, { ...request, response_format: "aac" })).problems).toEqual([
      { loc: ["body", "response_format"], type: "value_error" },
    ]);
    expect((await problemsOf(path, { ...request, voice: "alloy" })).problems).toEqual([
      { loc: ["body", "voice"], type: "value_error" },
    ]);
    expect(
      (await problemsOf(path, { ...request, input: "Guten Morgen, wie geht es Ihnen heute?" })).problems[0]?.loc,
    ).toEqual(["body", "input"]);
    expect((await problemsOf(path, { ...request, fallbacks: ["sandbox/ok"] })).problems).toEqual([
      { loc: ["body", "fallbacks"], type: "value_error" },
    ]);
  });

  test("an unknown provider or model is a 404, and one that is not set up a 503 that says what to do", async () => {
    const speak = (model: string) => client.audio.speech.create({ model, voice: "any", input: "Hello" });
    await expect(Promise.resolve(speak("nowhere/tts"))).rejects.toBeInstanceOf(NotFoundError);
    expect(await refusalOf(speak("nowhere/tts"))).toMatchObject({ code: "provider_not_found", param: "model" });
    expect(await refusalOf(speak("tts-1"))).toMatchObject({ status: 404, code: "provider_not_found" });
    expect(await refusalOf(speak("local/nobody"))).toMatchObject({ status: 404, code: "model_not_found" });
    expect(await refusalOf(speak("../tts"))).toMatchObject({ status: 422, code: "string_pattern_mismatch" });
    const missing = await refusalOf(speak("deepgram/aura-2"));
    expect(missing).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(missing.message).toContain("DEEPGRAM_API_KEY");
  });

  test("a vendor's failure is told as everywhere", async () => {
    vendor.next(answer(401, { error: { message: `bad key ${providerSecret}` } }));
    const refusal = await refusalOf(
      client.audio.speech.create({ model: "openai/tts-1", voice: "nova", input: "Hello" }),
    );
    expect(refusal).toMatchObject({ status: 502, code: "provider_auth_failed" });
    expect(refusal.message).not.toContain(providerSecret);
  });
});

describe("audio.transcriptions", () => {
  const model = "sandbox/ok";
  const said = "Speech of meeting.wav, as the sandbox hears it.";

  test("answers with the text, its provider and cost", async () => {
    const transcript = await client.audio.transcriptions.create({ model, file: await wave() });
    expect(transcript).toMatchObject({ text: said, provider: "sandbox", cost: 0 });
    expect(Object.keys(transcript).sort()).toEqual(["cost", "provider", "provider_time", "text"]);
  });

  test("comes in the format that is asked for", async () => {
    const file = await wave();
    const create = (response_format: "text" | "srt" | "vtt") =>
      client.audio.transcriptions.create({ model, file, response_format });
    expect(await create("text")).toBe(`${said}\n`);
    expect(await create("srt")).toBe(`1\n00:00:00,000 --> 00:00:02,500\n${said}\n`);
    expect(await create("vtt")).toBe(`WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${said}\n`);
    const { response } = await client.audio.transcriptions
      .create({ model, file, response_format: "vtt" })
      .withResponse();
    expect(response.headers.get("content-type")).toBe("text/vtt; charset=utf-8");
    expect(response.headers.get("x-switchyard-provider")).toBe("sandbox");
    const verbose = await client.audio.transcriptions.create({
      model,
      file,
      response_format: "verbose_json",
      language: "en",
      timestamp_granularities: ["segment"],
    });
    expect(verbose).toMatchObject({
      language: "en",
      duration: 2.5,
      text: said,
      segments: [{ id: 0, start: 0, end: 2.5, text: said }],
    });
  });

  test("what the local voice says is written down by the local ear, or the command is told that adds it", async () => {
    const bytes = await Bun.file(join(import.meta.dir, "../../examples/tasks/audio/announcement.mp3")).bytes();
    const file = await toFile(bytes, "announcement.mp3");
    if (!canHear()) {
      const refusal = await refusalOf(client.audio.transcriptions.create({ model: "local", file }));
      expect(refusal).toMatchObject({ status: 503, code: "provider_not_configured" });
      expect(refusal.message).toContain("engines add speech");
      return;
    }
    const spoken = await client.audio.transcriptions.create({ model: "local", file, response_format: "verbose_json" });
    expect(spoken).toMatchObject({ provider: "local", cost: 0 });
    expect(spoken.text.toLowerCase()).toContain("platform");
    expect(spoken.segments?.[0]?.end).toBeGreaterThan(1);
  }, 120_000);

  test("reaches a vendor with the file and all that its format has", async () => {
    const segments = [{ start: 0, end: 1.5, text: " Good morning." }];
    vendor.next(answer(200, { text: "Good morning.", duration: 60, segments }));
    const transcript = await client.audio.transcriptions.create({
      model: "openai/whisper-1",
      file: await wave(),
      language: "en",
      prompt: "Greetings",
      temperature: 0.2,
      response_format: "srt",
    });
    expect(transcript).toBe("1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n");
    const sent = vendor.last().body;
    expect(sent.includes(recording())).toBe(true);
    for (const part of ["Greetings", "0.2", "whisper-1", "meeting.wav"]) expect(sent.includes(part), part).toBe(true);
  });

  test("the file is lent: nothing of it is listed or left", async () => {
    await client.audio.transcriptions.create({ model, file: await wave() });
    expect(unfinished()).toEqual([]);
    const listed = await fetch(`${gateway.url}/v3/upload`, { headers: { authorization: `Bearer ${key}` } });
    expect(((await listed.json()) as { total: number }).total).toBe(0);
  });

  test("nothing is left when it fails, and when the caller leaves", async () => {
    await refusalOf(client.audio.transcriptions.create({ model: "sandbox/error-500", file: await wave() }));
    expect(unfinished()).toEqual([]);
    const leaving = new AbortController();
    const call = client.audio.transcriptions.create(
      { model: "sandbox/hang", file: await wave() },
      { signal: leaving.signal },
    );
    await waitFor("the file to arrive", () => unfinished().length === 1);
    leaving.abort();
    await call.then(
      () => expect.unreachable(),
      () => {},
    );
    await waitFor("the file to be given back", () => unfinished().length === 0);
  });

  test("wrong files are refused: missing, empty, too large, of another kind", async () => {
    const send = (file: File | undefined) =>
      refusalOf(client.audio.transcriptions.create({ model, file: file as File }));
    const empty = await toFile(Buffer.alloc(0), "a.wav");
    expect(await send(empty)).toMatchObject({ status: 422, code: "too_short", param: "file" });
    const large = await toFile(recording(maxFileBytes + 1), "a.wav");
    expect(await send(large)).toMatchObject({ status: 413, code: "payload_too_large", param: "file" });
    const picture = await toFile(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "a.wav", {
      type: "audio/wav",
    });
    expect(await send(picture)).toMatchObject({ status: 422, code: "file_type_not_allowed", param: "file" });
    const text = await toFile(Buffer.from("This is no recording."), "a.mp3", { type: "audio/mpeg" });
    expect(await send(text)).toMatchObject({ status: 422, code: "file_type_not_allowed" });
    expect(unfinished()).toEqual([]);
  });

  test("every problem of a form is told at once", async () => {
    const form = new FormData();
    form.set("model", "no model");
    form.set("response_format", "pdf");
    form.set("temperature", "2");
    form.set("stream", "true");
    const response = await fetch(`${gateway.url}/v3/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    const { detail } = (await response.clone().json()) as { detail: { loc: string[]; type: string }[] };
    expect((await readError(response)).status).toBe(422);
    expect(detail.map(({ loc, type }) => `${loc.join(".")} ${type}`)).toEqual([
      "body.file missing",
      "body.model string_pattern_mismatch",
      "body.response_format literal_error",
      "body.temperature value_error",
      "body.stream literal_error",
    ]);
  });

  test("JSON instead of a form is a 415", async () => {
    const response = await ask(gateway.url, key, { model }, { path: "/v3/audio/transcriptions" });
    expect(await readError(response)).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });

  test("a key without the scope is refused before it has sent its file", async () => {
    const narrow = await keyWith({ scopes: ["chat"] });
    const call = narrow.audio.transcriptions.create({
      model,
      file: await toFile(recording(maxFileBytes + 1), "a.wav"),
    });
    expect(await refusalOf(call)).toMatchObject({ status: 403, code: "insufficient_scope" });
  });

  test("times that were not told make no subtitles", async () => {
    const entries = [{ segment: "Hello", start_time: null, end_time: null, speaker: 1, confidence: null }];
    const output = { text: "Hello", diarization: { total_speakers: 1, entries } };
    const told = answer(200, { status: "success", cost: 0, provider: "x", output });
    vendor.next(told);
    const file = await wave();
    const call = client.audio.transcriptions.create({ model: "inhouse", file, response_format: "srt" });
    expect(await refusalOf(call)).toMatchObject({
      status: 422,
      code: "unsupported_parameter",
      param: "response_format",
    });
    vendor.next(told);
    expect((await client.audio.transcriptions.create({ model: "inhouse", file })).text).toBe("Hello");
  });

  test("a provider who keeps silent is left when the caller leaves", async () => {
    vendor.next([hang]);
    const leaving = new AbortController();
    const call = client.audio.transcriptions.create(
      { model: "inhouse", file: await wave() },
      { signal: leaving.signal },
    );
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    leaving.abort();
    await call.then(
      () => expect.unreachable(),
      () => {},
    );
    await vendor.waitFor("the connection to be closed", (requests) => requests[0]?.leftAt !== null);
  });
});

describe("images", () => {
  test("come as signed addresses of the gateway and as base64, the same picture", async () => {
    const images = await client.images.generate({ model: "sandbox/ok", prompt: "A signal box", n: 2, size: "512x512" });
    imagesAnswer.parse(images);
    expect(images).toMatchObject({ provider: "sandbox", cost: 0, model: "ok" });
    expect(Math.abs(images.created - Date.now() / 1_000)).toBeLessThan(60);
    expect(images.data).toHaveLength(2);
    const [first, second] = images.data ?? [];
    expect(first?.b64_json).not.toBe(second?.b64_json);
    expect(first?.url).toStartWith(`${gateway.url}/v3/resources/`);
    const served = await fetch(first?.url ?? "");
    expect(served.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await served.arrayBuffer()).toString("base64")).toBe(first?.b64_json ?? "");
  });

  test("come only as they are asked for, and base64 leaves nothing on the disk", async () => {
    const generate = (response_format: "url" | "b64_json") =>
      client.images.generate({ model: "sandbox/ok", prompt: "A signal box", response_format });
    const before = readdirSync(gateway.dataFolder, { recursive: true }).length;
    const bytes = await generate("b64_json");
    expect(Object.keys(bytes.data?.[0] ?? {})).toEqual(["b64_json"]);
    expect(readdirSync(gateway.dataFolder, { recursive: true }).length).toBe(before);
    expect(Object.keys((await generate("url")).data?.[0] ?? {})).toEqual(["url"]);
  });

  test("reach a vendor with all that its format has", async () => {
    const picture = Buffer.from("89504e470d0a1a0a", "hex").toString("base64");
    vendor.next(answer(200, { created: 1, output_format: "webp", data: [{ b64_json: picture }] }));
    const images = await client.images.generate({
      model: "openai/gpt-image-1",
      prompt: "A signal box",
      size: "auto",
      quality: "low",
      background: "transparent",
      output_format: "webp",
    });
    expect(images.data?.[0]?.b64_json).toBe(picture);
    expect(images).toMatchObject({ provider: "openai", cost: 0.042, model: "gpt-image-1" });
    expect(asked()).toEqual({
      model: "gpt-image-1",
      prompt: "A signal box",
      n: 1,
      quality: "low",
      background: "transparent",
      output_format: "webp",
    });
  });

  test("what is wrong is told by the names of this format", async () => {
    const path = "/v3/images/generations";
    expect((await problemsOf(path, { model: "sandbox/ok" })).problems).toEqual([
      { loc: ["body", "prompt"], type: "missing" },
    ]);
    const request = { model: "sandbox/ok", prompt: "A signal box" };
    const wrong = { ...request, n: 11, size: "huge", response_format: "gif", stream: true };
    expect((await problemsOf(path, wrong)).problems).toEqual([
      { loc: ["body", "n"], type: "less_than_equal" },
      { loc: ["body", "size"], type: "string_pattern_mismatch" },
      { loc: ["body", "response_format"], type: "literal_error" },
      { loc: ["body", "stream"], type: "literal_error" },
    ]);
    expect((await problemsOf(path, { ...request, n: 0 })).problems).toEqual([
      { loc: ["body", "n"], type: "greater_than_equal" },
    ]);
    await expect(Promise.resolve(client.images.generate({ ...request, n: 11 }))).rejects.toBeInstanceOf(
      UnprocessableEntityError,
    );
  });

  test("another engine answers when the first fails", async () => {
    const request = { model: "sandbox/error-500", prompt: "A signal box", fallbacks: ["sandbox/ok"] };
    expect((await client.images.generate(request)).data).toHaveLength(1);
  });
});

describe("moderations", () => {
  test("judge a text, in the names of this format", async () => {
    const judged = await client.moderations.create({ model: "local", input: "You are a bastard." });
    moderationsAnswer.parse(judged);
    expect(judged.id).toStartWith("modr-");
    expect(judged).toMatchObject({ model: "local", provider: "local", cost: 0 });
    const [result] = judged.results;
    expect(result?.flagged).toBe(true);
    expect(Object.keys(result?.categories ?? {}).sort()).toEqual([...categoryNames].sort());
    expect(result?.categories.harassment).toBe(true);
    expect(result?.category_scores.harassment).toBe(0.8);
    expect(result?.category_applied_input_types.harassment).toEqual(["text"]);
    expect(result?.categories["self-harm"]).toBe(false);
    expect(result?.category_applied_input_types["self-harm"]).toEqual([]);
  });

  test("a category that the format does not know keeps a name of its own", async () => {
    const judged = await client.moderations.create({ model: "local", input: "This is shit." });
    const [result] = judged.results;
    expect(result?.categories).toMatchObject({ "toxic/profanity": true, harassment: false });
    expect(result?.flagged).toBe(true);
  });

  test("several texts have a result each, in their order; parts of one text have one", async () => {
    const texts = ["Good morning.", "You are a bastard.", "Good evening.", "Thank you.", "See you.", "You bastard."];
    const judged = await client.moderations.create({ model: "local", input: texts });
    expect(judged.results.map(({ flagged }) => flagged)).toEqual([false, true, false, false, false, true]);
    const parts = texts.map((text) => ({ type: "text" as const, text }));
    const whole = await client.moderations.create({ model: "local", input: parts });
    expect(whole.results.map(({ flagged }) => flagged)).toEqual([true]);
  });

  test("a vendor's own judgement is passed on as it is, and costs add up", async () => {
    const scores = Object.fromEntries(categoryNames.map((name) => [name, 0.01]));
    const own = {
      flagged: true,
      categories: { ...Object.fromEntries(categoryNames.map((name) => [name, false])), violence: true },
      category_scores: { ...scores, violence: 0.31 },
      category_applied_input_types: Object.fromEntries(categoryNames.map((name) => [name, ["text"]])),
    };
    vendor.on("omni-moderation-latest", answer(200, { id: "modr-1", model: "omni", results: [own] }));
    const judged = await client.moderations.create({ model: "openai/omni-moderation-latest", input: ["one", "two"] });
    expect(judged.results as unknown[]).toEqual([own, own]);
    expect(judged).toMatchObject({ provider: "openai", model: "omni-moderation-latest", cost: 0 });
    expect(vendor.requests).toHaveLength(2);
    expect(asked()).toEqual({ model: "omni-moderation-latest", input: "two" });
  });

  test("one text that fails fails all, and no others are begun", async () => {
    const result = { flagged: false, categories: {}, category_scores: {} };
    vendor.on("omni-moderation-latest", ({ body }) =>
      body.includes('text 1"') ? answer(400, { error: { message: "too long" } }) : answer(200, { results: [result] }),
    );
    const call = client.moderations.create({
      model: "openai/omni-moderation-latest",
      input: Array.from({ length: 20 }, (_, index) => `text ${index}`),
    });
    expect(await refusalOf(call)).toMatchObject({ status: 400, code: "provider_rejected_request" });
    expect(vendor.requests.length).toBeLessThan(9);
  });

  test("pictures, nothing, and too much are refused", async () => {
    const path = "/v3/moderations";
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const problems = async (input: unknown) => (await problemsOf(path, { model: "local", input })).problems;
    expect(await problems([image])).toEqual([
      { loc: ["body", "input", 0, "type"] as never, type: "literal_error" },
      { loc: ["body", "input", 0, "text"] as never, type: "missing" },
    ]);
    expect(await problems("")).toEqual([{ loc: ["body", "input"], type: "string_too_short" }]);
    expect(await problems([])).toEqual([{ loc: ["body", "input"], type: "too_short" }]);
    expect(await problems(Array.from({ length: 33 }, () => "a"))).toEqual([
      { loc: ["body", "input"], type: "too_long" },
    ]);
    expect(await problems(["a", { type: "text", text: "b" }])).toEqual([
      { loc: ["body", "input"], type: "value_error" },
    ]);
    expect(await problems(7)).toEqual([{ loc: ["body", "input"], type: "string_type" }]);
  });
});

describe("keys", () => {
  test("a sandbox key is answered by the sandbox, whatever the model", async () => {
    const sandbox = await keyWith({ kind: "sandbox" });
    const request = { model: "openai/tts-1", voice: "nova", input: "Hello" };
    const { response } = await sandbox.audio.speech.create(request).withResponse();
    expect(response.headers.get("x-switchyard-provider")).toBe("sandbox");
    const transcript = await sandbox.audio.transcriptions.create({ model: "openai/whisper-1", file: await wave() });
    expect(transcript).toMatchObject({ provider: "sandbox", cost: 0 });
    expect(await sandbox.images.generate({ model: "openai/dall-e-3", prompt: "A" })).toMatchObject({
      provider: "sandbox",
    });
    expect(await sandbox.moderations.create({ model: "openai/omni", input: "A" })).toMatchObject({
      provider: "sandbox",
    });
    expect(vendor.requests).toHaveLength(0);
  });

  test("a key's models may be named as here, or as the task's", async () => {
    for (const pattern of ["sandbox/*", "text/moderation/*", "text/moderation/sandbox/ok"]) {
      const narrow = await keyWith({ allowed_models: [pattern] });
      expect((await narrow.moderations.create({ model: "sandbox/ok", input: "Hello" })).results).toHaveLength(1);
      if (pattern === "text/moderation/*") continue;
      const other = narrow.moderations.create({ model: "openai/omni", input: "Hello" });
      expect(await refusalOf(other)).toMatchObject({ status: 403, code: "model_not_allowed", param: "model" });
    }
    const narrow = await keyWith({ allowed_models: ["sandbox/*"] });
    const withFallback = { model: "sandbox/ok", prompt: "A", fallbacks: ["openai/dall-e-3"] };
    await expect(Promise.resolve(narrow.images.generate(withFallback))).rejects.toBeInstanceOf(PermissionDeniedError);
  });

  test("a key without the scope is refused", async () => {
    const narrow = await keyWith({ scopes: ["chat", "embeddings", "responses"] });
    const calls = [
      narrow.audio.speech.create({ model: "local", voice: "slt", input: "Hello" }),
      narrow.images.generate({ model: "sandbox/ok", prompt: "A" }),
      narrow.moderations.create({ model: "local", input: "Hello" }),
    ];
    for (const call of calls) expect(await refusalOf(call)).toMatchObject({ status: 403, code: "insufficient_scope" });
  });
});

describe("voices", () => {
  interface Voice {
    readonly model: string;
    readonly provider: string;
    readonly voice: string;
  }

  test("are listed without a key, and each of the local ones can be spoken with", async () => {
    const response = await fetch(`${gateway.url}/v3/info/audio/tts/voices`);
    const { items } = (await response.json()) as { items: Voice[] };
    expect(items).toContainEqual({
      model: "openai/tts-1",
      provider: "openai",
      voice: "nova",
      languages: null,
    } as Voice);
    const local = items.filter(({ provider, model }) => provider === "local" && model === "local");
    expect(local.length).toBeGreaterThan(2);
    for (const { model, voice } of local)
      await client.audio.speech.create({ model, voice, input: "Hello", response_format: "wav" });
  });
});
