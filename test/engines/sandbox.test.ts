// The sandbox answers every task in the true shape. The judge is another validator than our own.

import { describe, expect, test } from "bun:test";
import { crc32, inflateSync } from "node:zlib";
import { z } from "zod";
import { type Task, tasks } from "../../src/contract/tasks.ts";
import type { Engine, InputFile, TaskCall, TaskResult } from "../../src/engines/engine.ts";
import { createSandboxEngines } from "../../src/engines/sandbox/index.ts";
import { type GatewayError, ValidationError } from "../../src/errors.ts";
import { CallTicket } from "../../src/providers/call-ticket.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { makeExample } from "../../src/providers/sandbox/schema-example.ts";
import { rejectionOf } from "../support/thrown.ts";
import { withBinaries } from "./vendors-others/ask.ts";

const engines = new Map<string, Engine>(createSandboxEngines().map((engine) => [engine.task, engine]));

const file: InputFile = {
  name: "invoice.pdf",
  mediaType: "application/pdf",
  size: 4,
  read: async () => Buffer.from("%PDF"),
};

interface Asked {
  readonly model?: string;
  readonly signal?: AbortSignal;
  readonly withinMs?: number;
}

function run(task: string, input: JsonObject, asked: Asked = {}): Promise<TaskResult> {
  const { model = null, signal = new AbortController().signal, withinMs = 60_000 } = asked;
  const deadline = performance.now() + withinMs;
  const call: TaskCall = {
    model,
    input,
    files: { file },
    providerParams: {},
    signal,
    deadline,
    ticket: new CallTicket(),
    requestId: "req-1",
    owner: "key:test",
  };
  return (engines.get(task) as Engine).run(call);
}

async function outputOf(task: string, input: JsonObject): Promise<JsonObject> {
  return (await run(task, input)).output;
}

const failureOf = (promise: Promise<unknown>) => rejectionOf(promise, Error);

function inputFor(task: Task): JsonObject {
  return makeExample(task.inputSchema) as JsonObject;
}

describe("every task", () => {
  for (const task of tasks) {
    const name = `${task.feature}/${task.subfeature}`;
    test(`${name} is answered in its own shape, for nothing, and the same each time`, async () => {
      const { output, binaries, charge } = await run(name, inputFor(task));
      const judge = z.fromJSONSchema(task.outputSchema as Parameters<typeof z.fromJSONSchema>[0]);
      expect(judge.safeParse(withBinaries(output, binaries)).error?.issues).toBeUndefined();
      expect(charge).toMatchObject({ cost: 0, reason: null, pico: 0 });
      const again = await run(name, inputFor(task));
      expect(again.output).toEqual(output);
      expect(again.binaries?.map(({ bytes }) => Bun.hash(bytes))).toEqual(
        binaries?.map(({ bytes }) => Bun.hash(bytes)),
      );
    });
  }

  test("no score and no relative box lies outside 0 to 1", async () => {
    const relative = new Set("confidence score importance left top width height x_min x_max y_min y_max".split(" "));
    for (const task of tasks) {
      const { output } = await run(`${task.feature}/${task.subfeature}`, inputFor(task));
      JSON.stringify(output, (name, value: unknown) => {
        if (relative.has(name) && typeof value === "number") expect(value).toBeWithin(0, 1.000_001);
        return value;
      });
    }
  });
});

describe("what the answers have to do with the input", () => {
  test("sentiment follows a few words", async () => {
    const good = await outputOf("text/sentiment_analysis", { text: "I love this. It is great." });
    const bad = await outputOf("text/sentiment_analysis", { text: "An awful day." });
    expect([good["general_sentiment"], bad["general_sentiment"]]).toEqual(["Positive", "Negative"]);
  });

  test("a language is recognised by its common words", async () => {
    const { items } = await outputOf("translation/language_detection", { text: "Der Hund und die Katze" });
    expect(items).toEqual([{ language: "de", display_name: "German", confidence: 0.9 }]);
  });

  test("what was read names the file", async () => {
    expect((await outputOf("ocr/ocr", { file: "x" }))["text"]).toContain("invoice.pdf");
  });

  test("offsets count characters, also after an emoji", async () => {
    const { entities, result } = await outputOf("text/anonymization", { text: "😀 mail me@example.com now" });
    expect(entities).toMatchObject([{ offset: 7, length: 14, content: "me@example.com" }]);
    expect(result).toBe("😀 mail ************** now");
  });

  test("a vector has the dimensions that were asked for, up to a limit", async () => {
    const { items } = await outputOf("text/embeddings", { texts: ["a", "b"], dimensions: 40 });
    expect((items as { embedding: number[] }[]).map(({ embedding }) => embedding.length)).toEqual([40, 40]);
    const failure = await failureOf(run("text/embeddings", { texts: ["a"], dimensions: 5_000_000 }));
    expect(failure).toBeInstanceOf(ValidationError);
  });
});

describe("files that it makes can be opened", () => {
  test("pictures, as many as were asked for", async () => {
    const { binaries = [] } = await run("image/generation", { text: "A cup", num_images: 3 });
    expect(binaries.map(({ bytes }) => readPng(Buffer.from(bytes)))).toEqual([
      { width: 64, height: 64, pixelBytes: 64 * (1 + 64 * 3) },
      { width: 64, height: 64, pixelBytes: 64 * (1 + 64 * 3) },
      { width: 64, height: 64, pixelBytes: 64 * (1 + 64 * 3) },
    ]);
  });

  test("a tone of WAV samples", async () => {
    const { binaries = [] } = await run("audio/tts", { text: "Hello" });
    const wav = Buffer.from(binaries[0]?.bytes ?? []);
    expect(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12)).toBe("RIFFWAVE");
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
    expect(Math.max(...new Int16Array(wav.buffer, wav.byteOffset + 44, 400))).toBeGreaterThan(7_000);
  });

  test("a clip whose lists are as long as they say", async () => {
    const { binaries = [] } = await run("video/generation_async", { text: "A cup" });
    const avi = Buffer.from(binaries[0]?.bytes ?? []);
    expect(avi.toString("latin1", 0, 4) + avi.toString("latin1", 8, 12)).toBe("RIFFAVI ");
    expect(avi.readUInt32LE(4)).toBe(avi.length - 8);
    const movie = 12 + 8 + avi.readUInt32LE(16);
    expect(avi.toString("latin1", movie + 8, movie + 12)).toBe("movi");
    expect(movie + 8 + avi.readUInt32LE(movie + 4)).toBe(avi.length);
  });

  test("a PDF that says what it is", async () => {
    const { binaries = [] } = await run("ocr/anonymization_async", { file: "x" });
    const pdf = Buffer.from(binaries[0]?.bytes ?? []).toString("latin1");
    expect(pdf).toStartWith("%PDF-");
    expect(pdf.trimEnd()).toEndWith("%%EOF");
    expect(pdf).toContain("(invoice.pdf, as the sandbox redacts it.)");
    // The table of objects is where the file says that it is, and each object where the table says.
    const table = Number(/startxref\s+(\d+)/.exec(pdf)?.[1]);
    expect(pdf.slice(table)).toStartWith("xref");
    const places = [...pdf.slice(table).matchAll(/^(\d{10}) \d{5} n/gm)].map(([, place]) => Number(place));
    expect(places.length).toBeGreaterThan(3);
    for (const [index, place] of places.entries()) expect(pdf.slice(place)).toStartWith(`${index + 1} 0 obj`);
  });
});

/** Chunk by chunk, checksums included. */
function readPng(bytes: Buffer): { width: number; height: number; pixelBytes: number } {
  expect(bytes.toString("latin1", 0, 8)).toBe("\x89PNG\r\n\x1a\n");
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    expect(bytes.readUInt32BE(end)).toBe(crc32(bytes.subarray(at + 4, end)));
    chunks.push({ type: bytes.toString("latin1", at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  expect(chunks.map(({ type }) => type)).toEqual(["IHDR", "IDAT", "IEND"]);
  const header = chunks[0]?.data ?? Buffer.alloc(13);
  const pixelBytes = inflateSync(chunks[1]?.data ?? Buffer.alloc(0)).length;
  return { width: header.readUInt32BE(0), height: header.readUInt32BE(4), pixelBytes };
}

describe("faults by the model's name", () => {
  const text = { text: "Hello" };

  for (const [model, code] of [
    ["error-429", "provider_rate_limited"],
    ["error-500", "provider_error"],
    ["error-401", "provider_auth_failed"],
    ["error-400", "provider_rejected_request"],
    ["cut", "provider_disconnected"],
    ["no-such", "model_not_found"],
  ] as const)
    test(`${model} is ${code}`, async () => {
      const failure = await failureOf(run("text/summarize", text, { model }));
      expect((failure as GatewayError).code).toBe(code);
    });

  test("a summary has one sentence, or as many as are asked for", async () => {
    const long = "First one. Second one. Third one.";
    const resultOf = async (output_sentences: number | null) =>
      (await run("text/summarize", { text: long, output_sentences })).output;
    expect(await resultOf(null)).toEqual({ result: "First one." });
    expect(await resultOf(2)).toEqual({ result: "First one. Second one." });
  });

  test("garbage does not fit the task", async () => {
    const { output } = await run("text/summarize", text, { model: "garbage" });
    expect(output).not.toHaveProperty("result");
  });

  test("slow-<ms> answers after that time", async () => {
    const startedAt = performance.now();
    const { output } = await run("text/summarize", text, { model: "slow-80" });
    expect(output).toEqual({ result: "Hello" });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(78);
  });

  test("hang ends when the time is up, as a timeout", async () => {
    const failure = await failureOf(run("text/summarize", text, { model: "hang", withinMs: 60 }));
    expect((failure as GatewayError).code).toBe("provider_timeout");
  });

  test("hang ends at once when the caller leaves", async () => {
    const caller = new AbortController();
    const failure = failureOf(run("text/summarize", text, { model: "hang", signal: caller.signal }));
    const reason = new Error("the caller left");
    caller.abort(reason);
    expect(await failure).toBe(reason);
  });
});
