// Speech and transcripts in OpenAI's shapes, by its official client, over the engines of the universal endpoint.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { answer, hang } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { canHear, maxFileBytes, openMediaGateway, recording, refusalOf, wave } from "../support/media-gateway.ts";
import { waitFor } from "../support/wait.ts";
import { NotFoundError, toFile } from "../tools/node_modules/openai/index.mjs";

const { vendor, gateway, key, client, keyWith, asked, unfinished, problemsOf } = await openMediaGateway();

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
  }, 300_000);

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
    for (const part of ["Greetings", "0.2", "whisper-1", "meeting.wav", 'name="language"'])
      expect(sent.includes(part), part).toBe(true);
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

  test("parameters of a provider may not name a prototype", async () => {
    const parameters = { provider_params: '{ "openai": { "__proto__": {} } }' };
    const refused = await refusalOf(client.audio.transcriptions.create({ model, file: await wave(), ...parameters }));
    expect(refused).toMatchObject({ status: 422, code: "forbidden_key", param: "provider_params" });
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
