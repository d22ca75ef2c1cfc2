// Providers that the operator declares with `tasks:`, over HTTP: what they are given of files, what may be made of their answers, and
// the operator's own names for them.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { tasks } from "../../src/contract/tasks.ts";
import { binaryMembers } from "../../src/engines/declared-binaries.ts";
import { answer } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { declareTasks, path, png, safe } from "../support/task-gateway.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { uploadFile } from "../support/uploads.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const megabyte = 1_048_576;
// Invented: the least that is recognised as what it is.
const mp3 = Buffer.concat([Buffer.from("ID3\x04\0\0", "latin1"), Buffer.alloc(300, 9)]);
const pngUrl = `data:image/png;base64,${png.toString("base64")}`;
const mp3Url = `data:audio/mpeg;base64,${mp3.toString("base64")}`;

const vendor = await startVendor(() => answer(404, { error: { message: "no such path" } }));
const host = startHost();
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  // The tests fail the same provider again and again.
  env: { SWITCHYARD_EGRESS_ALLOW: "127.0.0.1/32", SWITCHYARD_LOCAL_WORKERS: "1", SWITCHYARD_BREAKER_FAILURES: "0" },
  config: {
    providers: {
      inhouse: declareTasks(vendor, [
        "text/moderation",
        "ocr/ocr",
        "ocr/ocr_async",
        "audio/tts",
        "audio/speech_to_text_async",
        "image/generation",
        "image/face_compare",
        "image/background_removal",
      ]),
      second: declareTasks(vendor, ["text/moderation", "audio/tts"]),
    },
    aliases: {
      "Judge.v2": ["text/moderation/inhouse", "text/moderation/second"],
      chance: [
        { model: "text/moderation/inhouse", weight: 1 },
        { model: "text/moderation/second", weight: 1 },
      ],
      speaker: ["audio/tts/inhouse", "audio/tts/second"],
      painter: "image/generation/inhouse",
      listener: "audio/speech_to_text_async/inhouse",
      pretend: "sandbox/ok",
      fast: "mockchat/echo",
      mixed: ["text/moderation/inhouse", "audio/tts/second"],
    },
  },
});
const key = await gateway.createKey();
afterAll(() => {
  host?.stop();
});

beforeEach(() => vendor.clear());

function send(body: unknown, where = path, as = key): Promise<Response> {
  return ask(gateway.url, as, body, { path: where });
}

interface TaskAnswer {
  readonly provider: string;
  readonly output: Record<string, unknown>;
  readonly original_response?: unknown;
}

async function run(body: unknown, where = path): Promise<TaskAnswer> {
  const response = await send(body, where);
  const text = await response.text();
  if (!response.ok) throw new Error(`expected an answer, got ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as TaskAnswer;
}

/** The job at its end. */
async function runJob(body: unknown): Promise<Record<string, unknown>> {
  const { job_id } = (await run(body, `${path}/async`)) as unknown as { job_id: string };
  const headers = { authorization: `Bearer ${key}` };
  let job: Record<string, unknown> = {};
  await waitFor("the job to end", async () => {
    job = (await (await fetch(`${gateway.url}${path}/async/${job_id}`, { headers })).json()) as typeof job;
    return job["status"] !== "processing";
  });
  return job;
}

const upload = (bytes: Uint8Array<ArrayBuffer>) => uploadFile(gateway.url, key, bytes);

function transcribe(bytes: Uint8Array<ArrayBuffer>, model: string): Promise<Response> {
  const form = new FormData();
  form.append("file", new Blob([bytes]), "secret-name.mp3");
  form.append("model", model);
  const headers = { authorization: `Bearer ${key}` };
  return fetch(`${gateway.url}/v3/audio/transcriptions`, { method: "POST", headers, body: form });
}

/** What the provider was given as the input. */
function given(): Record<string, unknown> {
  return (JSON.parse(vendor.last().body.toString()) as { input: Record<string, unknown> }).input;
}

describe("a file reaches a declared provider as its bytes", () => {
  const read = answer(200, { output: { text: "read" } });

  test("when it is an upload", async () => {
    vendor.next(read);
    expect((await run({ model: "ocr/ocr/inhouse", input: { file: await upload(png) } })).output).toEqual({
      text: "read",
    });
    expect(given()["file"]).toBe(pngUrl);
  });

  test("when it is an address, which the provider never sees", async () => {
    vendor.next(read);
    await run({ model: "ocr/ocr/inhouse", input: { file: `${host.url}/scan.png` } });
    expect(given()["file"]).toBe(pngUrl);
    expect(vendor.last().body.toString()).not.toContain(host.url);
  });

  test("in a job", async () => {
    const output = { raw_text: "read", pages: [], number_of_pages: 1 };
    vendor.next(answer(200, { output }));
    await runJob({ model: "ocr/ocr_async/inhouse", input: { file: await upload(png) } });
    expect(given()["file"]).toBe(pngUrl);
  });

  test("wherever in the input it stands, and the caller's other members stay as they are", async () => {
    vendor.next(answer(200, { output: { items: [{ image: png.toString("base64"), image_resource_url: "" }] } }));
    const reference_images = [await upload(png), { file: `${host.url}/scan.png`, kind: "style" }];
    await run({ model: "image/generation/inhouse", input: { text: "a cat", reference_images } });
    expect(given()).toMatchObject({
      text: "a cat",
      mask: null,
      reference_images: [pngUrl, { file: pngUrl, kind: "style" }],
    });
  });

  test("when it came with the request itself, whose name says nothing", async () => {
    vendor.next(answer(200, { output: { text: "Hello", diarization: { total_speakers: 0, entries: [] } } }));
    const response = await transcribe(mp3, "inhouse");
    expect(await response.json()).toMatchObject({ text: "Hello", provider: "inhouse" });
    expect(given()["file"]).toBe(mp3Url);
    expect(vendor.last().body.toString()).not.toContain("secret-name");
  });

  test("up to 20 MB together; above that, the error names the file that exceeds the limit, and no provider is called", async () => {
    const half = await upload(Buffer.concat([png, Buffer.alloc(10 * megabyte - png.length)]));
    const body = (file2: string) => ({ model: "image/face_compare/inhouse", input: { file1: half, file2 } });
    vendor.next(answer(200, { output: { items: [] } }));
    await run(body(half));
    expect(String(given()["file1"]).length).toBeGreaterThan(10 * megabyte);
    vendor.clear();
    const more = await upload(Buffer.concat([png, Buffer.alloc(10 * megabyte - png.length + 1)]));
    const refused = await send(body(more));
    expect(await refused.clone().json()).toMatchObject({
      detail: [{ loc: ["body", "input", "file2"], type: "file_too_large" }],
    });
    expect((await readError(refused)).message).toContain("20 MB");
    expect(vendor.requests).toHaveLength(0);
  });
});

describe("what a declared provider made", () => {
  const speech = { model: "audio/tts/inhouse", input: { text: "hi" } };
  const made = (output: object) => answer(200, { output });

  async function download(url: unknown): Promise<{ bytes: Buffer; type: string | null }> {
    const response = await fetch(String(url));
    return { bytes: Buffer.from(await response.arrayBuffer()), type: response.headers.get("content-type") };
  }

  const ways: [string, () => object][] = [
    ["base64", () => ({ audio: mp3.toString("base64") })],
    ["a data: URL beside the address", () => ({ audio: mp3Url, audio_resource_url: "https://10.0.0.1/a.mp3" })],
    ["a data: URL in the address's place", () => ({ audio_resource_url: mp3Url })],
    ["an address", () => ({ audio_resource_url: `${host.url}/speech.mp3` })],
  ];

  test.each(ways)("as %s is an address of the gateway's on /v3/universal-ai", async (_what, output) => {
    vendor.next(made(output()));
    const answered = await run(speech);
    expect(Object.keys(answered.output)).toEqual(["audio_resource_url"]);
    expect(String(answered.output["audio_resource_url"])).toStartWith(`${gateway.url}/v3/resources/`);
    expect(await download(answered.output["audio_resource_url"])).toEqual({ bytes: mp3, type: "audio/mpeg" });
  });

  test.each(ways)("as %s is audio on /v3/audio/speech", async (_what, output) => {
    vendor.next(made(output()));
    const response = await send({ model: "inhouse", voice: "any", input: "hi" }, "/v3/audio/speech");
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(mp3);
  });

  test("is shown as it came to those who want to see it", async () => {
    const output = { audio: mp3.toString("base64") };
    vendor.next(made(output));
    expect((await run({ ...speech, show_original_response: true })).original_response).toEqual({ output });
  });

  test("is both base64 and an address where the task has both, whichever the provider returned", async () => {
    const image = png.toString("base64");
    const items = [
      { image },
      { image_resource_url: `${host.url}/scan.png` },
      { image: pngUrl, image_resource_url: "" },
    ];
    vendor.next(made({ items }));
    const response = await send({ model: "inhouse", prompt: "a cat", n: 3 }, "/v3/images/generations");
    const { data } = (await response.json()) as { data: { url: string; b64_json: string }[] };
    expect(data.map(({ b64_json }) => b64_json)).toEqual([image, image, image]);
    for (const { url } of data) expect(await download(url)).toEqual({ bytes: png, type: "image/png" });
  });

  test("is a 502 when the files that it names exceed 64 MB together, though each of them does not", async () => {
    const image_resource_url = `${host.url}/large.png`;
    vendor.next(made({ items: [{ image_resource_url }, { image_resource_url }] }));
    const body = {
      model: "image/generation/inhouse",
      input: { text: "a cat", resolution: "1024x1024", num_images: 2 },
    };
    const refused = await readError(await send(body));
    expect(refused).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect(refused.message).toContain("too_large");
  });

  test("as samples without a mark of their own is what it is said to be", async () => {
    vendor.next(made({ audio_resource_url: `${host.url}/samples` }));
    const { output } = await run(speech);
    expect((await download(output["audio_resource_url"])).type).toBe("audio/pcm");
  });

  test.each([
    ["an inner address", "http://127.0.0.2/a.mp3", "provider_bad_response", "url_not_allowed"],
    ["a redirect to an inner address", "/redirect-inside", "provider_bad_response", "url_not_allowed"],
    ["an address that leads nowhere", "/missing", "provider_bad_response", "status 404"],
    ["an address that fails", "/failing", "provider_error", "status 500"],
    ["an address of nothing", "/empty", "provider_bad_response", "is empty"],
    ["an address of a page", "/page", "provider_bad_response", "text/plain"],
    ["an address of a picture", "/scan.png", "provider_bad_response", "image/png"],
    ["no address at all", "later", "provider_bad_response", "neither an http(s) address nor a data: URL"],
    ["a file of its own", "file:///etc/passwd", "provider_bad_response", "neither an http(s) address nor a data: URL"],
    ["an empty text", "", "provider_bad_response", "neither an http(s) address nor a data: URL"],
  ])("as %s is a 502 that says what is wrong", async (_what, where, code, words) => {
    const audio_resource_url = where.startsWith("/") ? `${host.url}${where}` : where;
    for (const ask of [
      () => send(speech),
      () => send({ model: "inhouse", voice: "any", input: "hi" }, "/v3/audio/speech"),
    ]) {
      vendor.next(made({ audio_resource_url }));
      const refused = await readError(await ask());
      expect(refused).toMatchObject({ status: 502, code });
      expect(refused.message).toContain("inhouse");
      expect(refused.message).toContain(words);
    }
  });

  test.each([
    ["text that is not base64", { image_b64: "no, sorry" }, "'image_b64' that is not base64"],
    ["base64 of nothing", { image_b64: "====" }, "not base64"],
    ["a sound for a picture", { image_b64: mp3.toString("base64") }, "audio/mpeg"],
    ["something else", { picture: "x" }, "not the output of image/background_removal"],
  ])("as %s is a 502 that says what is wrong", async (_what, output, words) => {
    vendor.next(made(output));
    const body = { model: "image/background_removal/inhouse", input: { file: await upload(png) } };
    const refused = await readError(await send(body));
    expect(refused).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect(refused.message).toContain(words);
  });

  test("is known for every task that has results of that kind", () => {
    const members = tasks.flatMap(({ outputSchema }) => JSON.stringify(outputSchema).match(/\w+_resource_url/g) ?? []);
    expect([...new Set(members)].filter((member) => !Object.hasOwn(binaryMembers, member))).toEqual([]);
  });
});

test("a task that does not exist keeps the gateway from starting, and one line says which is meant", async () => {
  const mine = { dialect: "openai", base_url: "http://127.0.0.1:1/v1", api_key: "k", tasks: ["text/moderatoin"] };
  const failure = await testGateway({ vendor, config: { providers: { mine } } }).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(failure).toMatch(
    /^.*switchyard\.yaml:\d+:\d+: providers\.mine\.tasks\.0: there is no task 'text\/moderatoin'; did you mean 'text\/moderation'\?$/,
  );
});

describe("an alias of the operator's", () => {
  const moderated = (provider: string) => vendor.on(`text/moderation/${provider}`, answer(200, { output: safe }));
  const failing = (model: string) => vendor.on(model, answer(500, { error: { message: "down" } }));
  const text = { text: "hello" };

  test("resolves to task models that are tried in order, for tasks and for jobs", async () => {
    failing("text/moderation/inhouse");
    moderated("second");
    expect(await run({ model: "Judge.v2", input: text })).toMatchObject({ provider: "second", output: safe });
    const job = await runJob({ model: "Judge.v2", input: text });
    expect(job).toMatchObject({ status: "success", provider: "second", subfeature: "moderation", output: safe });
  });

  test("may be a fallback", async () => {
    moderated("inhouse");
    const body = { model: "text/moderation/sandbox/error-500", input: text, fallbacks: ["Judge.v2"] };
    expect(await run(body)).toMatchObject({ provider: "inhouse" });
  });

  test("draws by weight", async () => {
    moderated("inhouse");
    moderated("second");
    const providers = new Set<string>();
    for (let count = 0; count < 40 && providers.size < 2; count += 1)
      providers.add((await run({ model: "chance", input: text })).provider);
    expect([...providers].toSorted()).toEqual(["inhouse", "second"]);
  });

  test("resolves to a model in OpenAI's formats as well, with or without the task's name", async () => {
    moderated("inhouse");
    const judged = await send({ model: "Judge.v2", input: "hello" }, "/v3/moderations");
    expect(await judged.json()).toMatchObject({ provider: "inhouse", results: [{ flagged: false }] });
    const pretended = await send({ model: "pretend", input: "hello" }, "/v3/moderations");
    expect(await pretended.json()).toMatchObject({ provider: "sandbox", model: "ok" });
    vendor.on("image/generation/inhouse", answer(200, { output: { items: [{ image: png.toString("base64") }] } }));
    const painted = await send({ model: "painter", prompt: "a cat" }, "/v3/images/generations");
    expect(await painted.json()).toMatchObject({ provider: "inhouse" });
    const output = { text: "Hello", diarization: { total_speakers: 0, entries: [] } };
    vendor.on("audio/speech_to_text_async/inhouse", answer(200, { output }));
    expect(await (await transcribe(mp3, "listener")).json()).toMatchObject({ text: "Hello", provider: "inhouse" });
  });

  test("is one provider where a task allows no fallbacks", async () => {
    failing("audio/tts/inhouse");
    const spoken = await readError(await send({ model: "speaker", voice: "any", input: "hi" }, "/v3/audio/speech"));
    expect(spoken).toMatchObject({ status: 502, code: "provider_error" });
    expect(await readError(await send({ model: "speaker", input: text }))).toMatchObject({ status: 502 });
    expect(new Set(vendor.requests.map(({ model }) => model))).toEqual(new Set(["audio/tts/inhouse"]));
  });

  test("that resolves to another task is not found", async () => {
    for (const model of ["fast", "mixed"]) {
      const refused = await readError(await send({ model, input: text }));
      expect(refused).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
      expect(refused.message).toContain(model);
    }
    const spoken = await readError(await send({ model: "Judge.v2", voice: "any", input: "hi" }, "/v3/audio/speech"));
    expect(spoken).toMatchObject({ status: 404, code: "provider_not_found" });
  });

  test("that is not declared is a 422 where a name needs a slash", async () => {
    for (const where of [path, `${path}/async`]) {
      const refused = await readError(await send({ model: "judge", input: text }, where));
      expect(refused).toMatchObject({ status: 422, code: "string_pattern_mismatch" });
    }
  });

  test("gives a key no access to a model that the key may not use", async () => {
    const narrow = await gateway.createKey({ allowed_models: ["Judge.v2", "openai/*"] });
    const forbidden = { status: 403, code: "model_not_allowed" };
    expect(await readError(await send({ model: "Judge.v2", input: text }, path, narrow))).toMatchObject(forbidden);
    const judged = await send({ model: "Judge.v2", input: "hello" }, "/v3/moderations", narrow);
    expect(await readError(judged)).toMatchObject(forbidden);
    expect(vendor.requests).toHaveLength(0);
  });

  test("leads a sandbox key to the sandbox", async () => {
    const sandboxed = await gateway.createKey({ kind: "sandbox" });
    const response = await send({ model: "Judge.v2", input: text }, path, sandboxed);
    expect(await response.json()).toMatchObject({ provider: "sandbox" });
    expect(vendor.requests).toHaveLength(0);
  });
});

/** A server of files on loopback, good and bad ones. */
function startHost() {
  const served = (bytes: Uint8Array<ArrayBuffer> | string, type: string) =>
    new Response(bytes, { headers: { "content-type": type } });
  const files: Readonly<Record<string, () => Response>> = {
    "/scan.png": () => served(png, "text/html"),
    "/large.png": () => served(Buffer.concat([png, Buffer.alloc(40 * megabyte)]), "image/png"),
    "/speech.mp3": () => served(mp3, "application/octet-stream"),
    "/samples": () => served(Buffer.alloc(100), "audio/pcm; rate=24000"),
    "/page": () => served("<!doctype html><title>Log in</title>", "audio/mpeg"),
    "/empty": () => served("", "audio/mpeg"),
    "/failing": () => new Response("down", { status: 500 }),
    "/redirect-inside": () => new Response(null, { status: 302, headers: { location: "http://127.0.0.2:1/" } }),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => files[new URL(request.url).pathname]?.() ?? new Response("none", { status: 404 }),
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
}
