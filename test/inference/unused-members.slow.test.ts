// Members of a task's input that a vendor has no parameter for are named, never left out in silence.

import { describe, expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { ValidationError } from "../../src/errors.ts";
import { rows } from "../../src/providers/index.ts";
import { generateImages } from "../../src/providers/stabilityai/images.ts";
import { type ProviderTask, TaskFailure } from "../../src/providers/task.ts";
import { answerOf, callOf, fileOf } from "../engines/vendor-calls.ts";
import { answer } from "../support/answers.ts";
import { ask } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

type Members = Record<string, unknown>;

const vendor = await startVendor();
const at = { base_url: vendor.url, api_key: "k" };
const gateway = await sharedGateway({
  vendor,
  config: { providers: { firecrawl: at, stabilityai: at, tavily: at } },
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_LOCAL_WORKERS: "1" },
});
const key = await gateway.createKey();

describe("each vendor's task", () => {
  test.each(
    rows.flatMap(({ name, tasks = [] }) => tasks.map((task) => [name, task.task, task] as const)),
  )("%s %s uses, refuses or declares every member of the input", async (_row, _name, task) => {
    const names = Object.keys(schemaOf(task));
    const handled = await findHandled(task);
    expect(names.filter((name) => !handled.has(name)).toSorted()).toEqual([...(task.unsupported ?? [])].toSorted());
  });
});

function schemaOf({ task }: { readonly task: string }): Record<string, Members> {
  return (findTask(task)?.inputSchema["properties"] ?? {}) as Record<string, Members>;
}

/** The members that are read while the requests of a task are made; one that is refused is handled, and left out of the next try. */
async function findHandled(task: ProviderTask): Promise<Set<string>> {
  const image = fileOf(Buffer.from("x"), "image/png", "a.png");
  const handled = new Set<string>();
  const refused = new Set<string>();
  for (;;) {
    const given = Object.entries(schemaOf(task)).filter(([name]) => !refused.has(name));
    const input = noting(Object.fromEntries(given.map(([name, schema]) => [name, sampleOf(name, schema)])), handled);
    const named = given
      .map(([name]) => (name === "reference_images" ? "reference_images.0" : name))
      .filter((name) => /^(?:file\d?|mask|reference_images\.0)$/.test(name));
    const files = noting(Object.fromEntries(named.map((name) => [name, image])), handled);
    // Files of a list are found by the names of all files.
    handled.add("reference_images");
    const settings = { bucket: "b", project: "p", location: "us", processor: "p" };
    const model = task.defaultModelFor?.(input) ?? task.defaultModel;
    const call = callOf({ ...(model && { model }), input, files, providerParams: { workspace: "w" }, settings });
    try {
      const asked = await task.toRequest(call);
      for (const name of task.unsupportedFor?.(input) ?? []) handled.add(name);
      for (const json of [{ upload_url: "u", audio_url: "u" }, { Languages: [{ LanguageCode: "en" }] }, detected]) {
        try {
          await task.next?.(answerOf(json), call, asked);
        } catch (error) {
          // Not every task has such an answer.
          if (!(error instanceof TypeError || error instanceof TaskFailure)) throw error;
        }
      }
      return handled;
    } catch (error) {
      const place = error instanceof ValidationError ? String(error.problems[0]?.loc[2]) : null;
      if (place === null || refused.has(place)) throw error;
      refused.add(place);
      handled.add(place);
    }
  }
}

const detected = {
  kind: "LanguageDetectionResults",
  results: { documents: [{ detectedLanguage: { iso6391Name: "en" } }] },
};

function noting<Value>(members: Record<string, Value>, seen: Set<string>): Record<string, Value> {
  return new Proxy(members, {
    get(target, name) {
      if (typeof name === "string") seen.add(name);
      return target[name as string];
    },
  });
}

function sampleOf(name: string, schema: Members): unknown {
  const samples: Members = { resolution: "1024x1024", dimension: "1280x720", duration: 6, reasoning_depth: "S" };
  if (samples[name] !== undefined) return samples[name];
  if (/^file\d?$|url/.test(name)) return "https://example.test/a.png";
  if (name.includes("language")) return "en";
  const values = schema["enum"] as readonly unknown[] | undefined;
  if (values !== undefined) return values.at(-1);
  const types = [schema["type"]].flat();
  if (types.includes("boolean")) return true;
  if (types.includes("integer") || types.includes("number")) return 1;
  if (types.includes("array")) return ["x"];
  return types.includes("object") ? { type: "object" } : "x";
}

test("Stability has no parameter for the resolution of an image that follows a reference image", () => {
  const input = { text: "a cat", resolution: "1024x1024", num_images: 1, mask: null };
  expect(generateImages.unsupportedFor?.(input)).toEqual([]);
  expect(generateImages.unsupportedFor?.({ ...input, reference_images: ["x"] })).toEqual(["resolution"]);
});

describe("each local engine of a text task", () => {
  const engines = localEngines.filter(
    ({ task, group = "core", packages }) =>
      /^(?:text|translation)\//.test(task) &&
      ["core", "grammar"].includes(group) &&
      packages.every((name) => findPackage(name) !== null),
  );

  test.each(
    engines.map((engine) => [engine.task, engine] as const),
  )("%s reads or declares every member of the input", async (_name, engine) => {
    const names = Object.keys(schemaOf(engine));
    const read = new Set<string>();
    const input = noting<unknown>({ text: "Anna Smith lives in Paris and likes it.", language: "en" }, read);
    const run = await engine.load();
    await run({ model: null, input, files: {}, onProgress: () => undefined });
    expect(names.filter((name) => !read.has(name))).toEqual([...(engine.unsupported ?? [])]);
  });
});

test("other local engines declare members of the input that they do not read", () => {
  const declared = localEngines.flatMap(({ task, unsupported = [] }) =>
    unsupported.length > 0 ? [[task, ...unsupported]] : [],
  );
  expect(declared).toEqual([
    ["text/anonymization", "language"],
    ["text/question_answer", "temperature", "examples_context", "examples"],
    ["audio/speech_to_text_async", "speakers"],
    ["image/embeddings", "representation"],
  ]);
});

describe("over HTTP", () => {
  const header = "x-switchyard-dropped-params";
  const search = (input: Members, more: Members = {}) =>
    ask(gateway.url, key, { model: "web/search/firecrawl", input, ...more }, { path: "/v3/universal-ai" });
  const found = answer(200, { success: true, data: { web: [] } });

  test("a member that the vendor has no parameter for is named in the answer's head", async () => {
    vendor.next(found);
    expect((await search({ query: "x", depth: "deep" })).headers.get(header)).toBe("input.depth");
    vendor.next(found);
    expect((await search({ query: "x", depth: null })).headers.get(header)).toBeNull();
    vendor.next(found);
    expect((await search({ query: "x" })).headers.get(header)).toBeNull();
  });

  test("a member that a local engine does not read is named as well", async () => {
    const input = { text: "Anna Smith", language: "en" };
    const body = { model: "text/anonymization/local", input };
    const answered = await ask(gateway.url, key, body, { path: "/v3/universal-ai" });
    expect([answered.status, answered.headers.get(header)]).toEqual([200, "input.language"]);
  });

  test("a member that the vendor takes only in other requests is named where it is left out", async () => {
    const image = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const form = new FormData();
    form.append("file", new Blob([image]), "dot.png");
    const headers = { authorization: `Bearer ${key}` };
    const stored = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
    const { file_id: file } = (await stored.json()) as { file_id: string };
    vendor.next(answer(200, { image: image.toString("base64"), finish_reason: "SUCCESS" }));
    const input = { text: "a cat", resolution: "1024x1024", num_images: 1, reference_images: [{ file }] };
    const body = { model: "image/generation/stabilityai", input };
    const answered = await ask(gateway.url, key, body, { path: "/v3/universal-ai" });
    expect([answered.status, answered.headers.get(header)]).toEqual([200, "input.resolution"]);
  });

  test("the engine that answered decides, not the one that failed", async () => {
    vendor.next(answer(402, { success: false, error: "Payment Required" }));
    vendor.next(answer(200, { query: "x", results: [] }));
    const answered = await search({ query: "x", depth: "advanced" }, { fallbacks: ["web/search/tavily"] });
    expect(await answered.json()).toMatchObject({ provider: "tavily" });
    expect(answered.headers.get(header)).toBeNull();
  });
});
