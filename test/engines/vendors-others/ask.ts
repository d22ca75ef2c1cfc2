// Asks a vendor's engine for a task over real HTTP: a server of this machine stands for the vendor, records what arrives and gives the
// answers that the test names. What comes out is judged by the task's output schema, by another validator than our own.

import { z } from "zod";
import { findTask } from "../../../src/contract/tasks.ts";
import type { BinaryResult, Engine, InputFile, TaskResult } from "../../../src/engines/engine.ts";
import { createVendorEngines } from "../../../src/engines/vendors/vendor-engine.ts";
import { createTicker } from "../../../src/lib/ticker.ts";
import { createLog } from "../../../src/log.ts";
import { CallTicket } from "../../../src/providers/call-ticket.ts";
import { configureProviders } from "../../../src/providers/configure.ts";
import type { JsonObject } from "../../../src/providers/dialect.ts";
import { HttpClient } from "../../../src/providers/http-client.ts";
import type { ProviderRow } from "../../../src/providers/provider.ts";

export interface Asked {
  readonly row: ProviderRow;
  readonly task: string;
  /** In the order of the requests; a function sees the request that it answers. */
  readonly answers: readonly (Answer | ((seen: Seen) => Answer))[];
  readonly input: JsonObject;
  readonly files?: Readonly<Record<string, InputFile>>;
  readonly model?: string;
  readonly providerParams?: JsonObject;
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Seen {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  readonly json: JsonObject;
  /** Fields as text, files as `name (media type, bytes)`. */
  readonly form: Readonly<Record<string, string>>;
}

export interface Got {
  readonly answer: TaskResult;
  /** With base64 and addresses where the engine says that they go. */
  readonly output: JsonObject;
  readonly seen: readonly Seen[];
}

export const key = "secret-of-the-operator";
export const clocks = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 60_000,
};

export async function ask(asked: Asked): Promise<Got> {
  const { row, task, answers, input, files = {}, providerParams = {} } = asked;
  const { seen, server } = serveAnswers(answers, 500);
  const ticker = createTicker(20);
  try {
    const name = row.name.toUpperCase();
    const settings: Record<string, string> = {
      [`${name}_API_KEY`]: key,
      [`${name}_BASE_URL`]: `http://127.0.0.1:${server.port}`,
      ...asked.settings,
    };
    const engines = createVendorEngines({
      providers: configureProviders([row], {}, (setting) => settings[setting] ?? null).values(),
      http: new HttpClient(ticker),
      ticker,
      clocks,
      shutdownSignal: new AbortController().signal,
      log: createLog({ level: "error", format: "json", secrets: [], write: () => undefined }),
    });
    const engine = engines.find((one) => one.task === task);
    if (engine === undefined) throw new Error(`${row.name} does not do ${task}`);
    const { signal } = new AbortController();
    const deadline = performance.now() + clocks.totalTimeoutMs;
    const answer = await engine.run({
      model: asked.model ?? defaultModelOf(engine, input),
      input,
      files,
      providerParams,
      signal,
      deadline,
      ticket: new CallTicket(),
      requestId: "req-1",
      owner: "key:test",
    });
    const output = withBinaries(answer.output, answer.binaries);
    judge(task, output);
    return { answer, output, seen };
  } finally {
    ticker.close();
    await server.stop(true);
  }
}

/** As the gateway chooses it for a request that names none. */
export function defaultModelOf({ defaultModel, defaultModelFor }: Engine, input: JsonObject): string | null {
  return defaultModelFor?.(input) ?? defaultModel ?? null;
}

/** `excessStatus` is the status of requests after the last answer. */
export function serveAnswers(answers: Asked["answers"], excessStatus: number) {
  const seen: Seen[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const one = await see(request);
      seen.push(one);
      const next = answers[seen.length - 1];
      if (next === undefined) return new Response("one request too many", { status: excessStatus });
      return toResponse(typeof next === "function" ? next(one) : next);
    },
  });
  return { seen, server };
}

/** Throws what the schema has against the output. */
export function judge(task: string, output: unknown): void {
  const schema = findTask(task)?.outputSchema;
  const judged = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(output);
  if (judged.error !== undefined) throw new Error(`${task}: ${z.prettifyError(judged.error)}`);
}

/** As the gateway does: base64 and an address where the engine says so. */
export function withBinaries(output: JsonObject, binaries: readonly BinaryResult[] = []): JsonObject {
  const whole = structuredClone(output) as Record<string, unknown>;
  for (const { base64Path, urlPath, bytes } of binaries) {
    if (base64Path !== null) set(whole, base64Path, Buffer.from(bytes).toString("base64"));
    set(whole, urlPath, "https://gateway.example/result");
  }
  return whole;
}

function set(root: Record<string | number, unknown>, path: readonly (string | number)[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) root[name] = value;
  else set(root[name] as Record<string | number, unknown>, rest, value);
}

async function see(request: Request): Promise<Seen> {
  const bytes = await request.bytes();
  const type = request.headers.get("content-type") ?? "";
  const text = new TextDecoder().decode(bytes);
  return {
    method: request.method,
    url: new URL(request.url),
    headers: request.headers,
    text,
    json: /^application\/(x-amz-)?json/.test(type) ? JSON.parse(text) : {},
    form: type.startsWith("multipart/") ? await readForm(bytes, type) : {},
  };
}

async function readForm(bytes: Uint8Array, type: string): Promise<Record<string, string>> {
  const form = await new Response(bytes.slice(), { headers: { "content-type": type } }).formData();
  const fields: Record<string, string> = {};
  for (const [name, value] of form.entries())
    fields[name] = typeof value === "string" ? value : `${value.name} (${value.type}, ${value.size} bytes)`;
  return fields;
}

function toResponse({ status = 200, json, bytes, mediaType, headers }: Answer): Response {
  if (bytes === undefined) return Response.json(json ?? {}, { status, headers: { ...headers } });
  const all = { "content-type": mediaType ?? "application/octet-stream", ...headers };
  return new Response(bytes.slice(), { status, headers: all });
}

export function fileOf(name: string, mediaType: string, bytes: Uint8Array): InputFile {
  return { name, mediaType, size: bytes.length, read: async () => bytes };
}

/** The first bytes of an image of 800 by 400, which is all that anybody here looks at. */
export const png = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  Buffer.from("0000032000000190", "hex"),
]);
export const image = fileOf("photo.png", "image/png", png);
export const document = fileOf("invoice.pdf", "application/pdf", Buffer.from("%PDF-1.7"));
