// What a key may use and what a task costs are known from its model and its input: `provider_params` cannot replace either of them.

import { describe, expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import { mergeParams } from "../../src/engines/vendors/merge-params.ts";
import { ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { rows } from "../../src/providers/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import type { ProviderTask, TaskRequest } from "../../src/providers/task.ts";
import { askTask, readError } from "../support/chat.ts";
import { picture } from "../support/cloud-tasks.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { answerOf, callOf, fileOf } from "./vendor-calls.ts";

const vendor = await startVendor();
const access = { base_url: `http://127.0.0.1:${vendor.port}`, api_key: "sk-of-a-test" };
const gateway = await sharedGateway({ vendor, config: { providers: { openai: access } } });

describe("a task at a provider", () => {
  test.each([
    ["audio/tts/openai/tts-1", { model: "tts-1-hd" }, "model"],
    ["audio/tts/openai/tts-1", { input: "a much longer text" }, "input"],
    ["image/generation/openai/gpt-image-1-mini", { model: "gpt-image-2" }, "model"],
    ["image/generation/openai/gpt-image-1-mini", { n: 10 }, "n"],
  ])("%s with %j is refused before it is sent", async (model, provider_params, member) => {
    vendor.clear();
    const key = await gateway.createKey({ allowed_models: [model] });
    const response = await askTask(gateway.url, key, { model, input: { text: "a" }, provider_params });
    expect(await readError(response)).toMatchObject({
      status: 422,
      param: `provider_params.${member}`,
    });
    expect(vendor.requests).toHaveLength(0);
  });
});

type Path = readonly (string | number)[];

const [model, words, count] = ["marked-model", "marked words", 6];
const settings = { bucket: "b", project: "p", location: "us", processor: "projects/p/locations/eu/processors/x" };

/** An input with marks in the members that decide about the cost. */
function inputOf(name: string): JsonObject {
  const { properties = {}, required = [] } = findTask(name as ProviderTask["task"]).inputSchema as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
  };
  const marks: JsonObject = { text: words, language: "en", target_language: "fr", duration: count, num_images: 1 };
  return Object.fromEntries(
    Object.entries(properties).map(([member, { default: usual = null }]) => {
      const isMarked = Object.hasOwn(marks, member);
      return [member, isMarked ? marks[member] : required.includes(member) ? "https://files.example/1" : usual];
    }),
  );
}

/** Returns the request of the task that accepts `provider_params`, or null if none of its requests does. */
async function requestOf(task: ProviderTask): Promise<TaskRequest | null> {
  const [mediaType = "image/png"] = task.files?.mediaTypes ?? [];
  const file = fileOf(picture, mediaType.endsWith("/") ? `${mediaType}png` : mediaType);
  const call = callOf({
    ...(task.models !== undefined && { model }),
    ...{ input: inputOf(task.task), files: { file, file1: file, file2: file }, settings, jobId: "job-1" },
    providerParams: { workspace: "w" },
  });
  const first = await task.toRequest(call);
  if (first.acceptsProviderParams !== false) return first;
  // The file was uploaded.
  const uploaded = answerOf({ upload_url: "https://files.example/1", audio_url: "https://files.example/1" });
  const second = await task.next?.(uploaded, call, { ...first, state: first.state ?? {} });
  return second?.acceptsProviderParams === true ? second : null;
}

/** The members of a request that `provider_params` may reach, as paths of `provider_params`, with their values. */
function membersOf({ body, query = {}, paramsPath = [] }: TaskRequest): (readonly [Path, unknown])[] {
  if (body?.kind === "json") {
    const reached = paramsPath.reduce<unknown>((value, step) => (value as never)?.[step], body.value);
    return leavesOf(reached);
  }
  if (body?.kind === "form")
    return body.parts.flatMap((part) => ("value" in part ? [[[part.name], part.value] as const] : []));
  return Object.entries(body?.kind === "fields" ? body.fields : query).map(([name, value]) => [[name], value] as const);
}

function leavesOf(value: unknown): (readonly [Path, unknown])[] {
  if (typeof value !== "object" || value === null) return [[[], value]];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member).map(([path, leaf]) => [[name, ...path], leaf] as const),
  );
}

function toParams([step, ...path]: Path): unknown {
  return step === undefined ? "another" : { [step]: toParams(path) };
}

function isRefused(row: ProviderRow, task: ProviderTask, params: JsonObject): boolean {
  try {
    mergeParams({ path: "/", body: { kind: "json", value: {} } }, params, { row, task });
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return true;
  }
}

/** Characters are billed for these tasks: a prompt for a picture or a clip has no price of its own. */
const billsText = (task: string) => /^(?:text|translation)\/|^audio\/tts$/.test(task);

describe("every task of every provider", () => {
  const tasks = rows.flatMap((row) =>
    (row.tasks ?? []).map((task) => [`${task.task}/${row.name}`, row, task] as const),
  );
  let found = 0;

  // It takes an image by its address only.
  test.each(
    tasks.filter(([name]) => name !== "image/ai_detection/winstonai"),
  )("%s: provider_params replace neither the model nor the billed quantity", async (name, row, task) => {
    const request = await requestOf(task);
    const carrying = (request === null ? [] : membersOf(request)).filter(
      ([path, value]) =>
        value === model ||
        (billsText(task.task) && String(value).includes(words)) ||
        (task.task === "video/generation_async" && value === count) ||
        (task.task.startsWith("image/") && String(value) === "1" && /^n$|num|count/i.test(String(path.at(-1)))),
    );
    found += carrying.length;
    for (const [path] of carrying)
      expect([name, path, isRefused(row, task, toParams(path) as JsonObject)]).toEqual([name, path, true]);
  });

  test("the marks were found", () => expect(found).toBeGreaterThan(45));

  test.each([
    ["amazon", "audio/tts", { Engine: "neural" }],
    ["amazon", "ocr/ocr_tables_async", { FeatureTypes: ["FORMS", "TABLES"] }],
    ["amazon", "video/generation_async", { taskType: "MULTI_SHOT_MANUAL" }],
    ["amazon", "video/generation_async", { videoGenerationConfig: { durationSeconds: 120 } }],
    ["amazon", "video/shot_change_detection_async", { SegmentTypes: ["SHOT", "TECHNICAL_CUE"] }],
    ["openai", "audio/tts", { response_format: "mp3" }],
    ["google", "audio/tts", { input: { ssml: "<speak>a</speak>" } }],
    ["google", "audio/tts", { voice: { name: "en-US-Studio-O" } }],
    ["google", "audio/tts", { voice: { model_name: "gemini-2.5-pro-tts" } }],
    ["google", "image/generation", { candidateCount: 4 }],
    ["google", "image/logo_detection", { features: [{ type: "FACE_DETECTION" }, { type: "LOGO_DETECTION" }] }],
    ["google", "translation/automatic_translation", { model: "projects/p/locations/l/models/m" }],
    ["google", "video/generation_async", { duration_seconds: 8 }],
    ["google", "video/generation_async", { sampleCount: 4 }],
    ["microsoft", "image/object_detection", { visualFeatures: "Adult,Brands,Objects" }],
    ["microsoft", "translation/automatic_translation", { text: "a much longer text" }],
    ["replicate", "image/generation", { num_outputs: 4 }],
    ["stabilityai", "image/variation", { model: "sd3.5-large" }],
    ["sightengine", "image/ai_detection", { models: "genai,deepfake" }],
    ["winstonai", "text/ai_detection", { website: "https://long.example" }],
  ])("%s %s refuses %j", (name, taskName, params) => {
    const row = rows.find((one) => one.name === name) as ProviderRow;
    const task = row.tasks?.find((one) => one.task === taskName) as ProviderTask;
    expect(isRefused(row, task, params)).toBe(true);
  });

  test.each([
    ["openai", "audio/tts", { instructions: "whisper", speed: 1.2 }],
    ["google", "audio/tts", { input: { prompt: "cheerfully" }, audioConfig: { sampleRateHertz: 8_000 } }],
    ["google", "audio/speech_to_text_async", { features: { enableWordTimeOffsets: true } }],
    ["google", "video/generation_async", { negativePrompt: "rain" }],
    ["amazon", "translation/automatic_translation", { Settings: { Formality: "FORMAL" } }],
    ["stabilityai", "image/generation", { seed: 7, style_preset: "anime" }],
  ])("%s %s still accepts %j", (name, taskName, params) => {
    const row = rows.find((one) => one.name === name) as ProviderRow;
    const task = row.tasks?.find((one) => one.task === taskName) as ProviderTask;
    expect(isRefused(row, task, params)).toBe(false);
  });
});
