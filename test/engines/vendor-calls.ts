// What the tests of vendors' mappings share: a call, an answer, and whether an output is what its task promises.

import { afterAll, beforeEach, expect } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import type { InputFile } from "../../src/engines/engine.ts";
import { toTaskResponse } from "../../src/engines/vendors/send-request.ts";
import { SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { CallTicket } from "../../src/providers/call-ticket.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { HttpClient } from "../../src/providers/http-client.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import type { ProviderTask, ProviderTaskCall, TaskResponse, TaskResult } from "../../src/providers/task.ts";
import { startVendor } from "../support/vendor.ts";

export interface CallOptions {
  readonly model?: string;
  readonly input?: JsonObject;
  readonly files?: Readonly<Record<string, InputFile>>;
  readonly providerParams?: JsonObject;
  readonly signal?: AbortSignal;
  readonly withinMs?: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly jobId?: string;
}

export function callOf({
  model,
  input,
  files,
  providerParams,
  signal,
  withinMs = 60_000,
  settings,
  jobId,
}: CallOptions = {}): ProviderTaskCall {
  return {
    model: model ?? null,
    input: input ?? {},
    files: files ?? {},
    providerParams: providerParams ?? {},
    signal: signal ?? new AbortController().signal,
    deadline: performance.now() + withinMs,
    ticket: new CallTicket(),
    requestId: "req-test",
    owner: "key:test",
    settings: settings ?? {},
    ...(jobId === undefined ? {} : { jobId }),
  };
}

export function fileOf(bytes: Uint8Array, mediaType: string, name = "file"): InputFile {
  return { name, mediaType, size: bytes.length, read: async () => bytes };
}

/** An answer as it comes over the wire. */
export function answerOf(json: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): TaskResponse {
  const all: Readonly<Record<string, string>> = { "content-type": "application/json", ...headers };
  return toTaskResponse("vendor", {
    status,
    header: (name) => all[name] ?? null,
    bytes: Buffer.from(JSON.stringify(json)),
  });
}

export function bytesOf(bytes: Uint8Array, mediaType: string): TaskResponse {
  return toTaskResponse("vendor", {
    status: 200,
    header: (name) => (name === "content-type" ? mediaType : null),
    bytes,
  });
}

export function taskOf(row: ProviderRow, name: string): ProviderTask {
  const task = row.tasks?.find(({ task }) => task === name);
  if (task === undefined) throw new Error(`${row.name} has no ${name}`);
  return task;
}

/** Maps an answer and holds the output against the schema of its task. */
export async function read(row: ProviderRow, name: string, json: unknown, call: ProviderTaskCall): Promise<TaskResult> {
  const result = await taskOf(row, name).fromResponse(answerOf(json), call, { path: "/" });
  expectOutput(name, result);
  return result;
}

export function expectOutput(name: string, { output, binaries }: TaskResult): void {
  const schema = findTask(name)?.outputSchema;
  if (schema === undefined) throw new Error(`there is no task ${name}`);
  const filled = structuredClone(output) as Record<string, unknown>;
  // The gateway puts base64 and the address of a binary result there.
  for (const { urlPath, base64Path } of binaries ?? []) {
    if (urlPath.length === 1) filled[String(urlPath[0])] = "https://x/y";
    if (base64Path?.length === 1) filled[String(base64Path[0])] = "eHl6";
  }
  const value = JSON.parse(JSON.stringify(filled));
  const isRight = fitsSchema(value, schema, new SchemaDocument(schema));
  if (!isRight) console.error(name, JSON.stringify(value).slice(0, 2_000));
  expect(isRight).toBe(true);
}

/** A vendor on this machine and the real client that calls it; both are closed after the last test of the file. */
export async function openVendorClient() {
  const vendor = await startVendor();
  const ticker = createTicker(10);
  const http = new HttpClient(ticker);
  const log = createLog({ level: "debug", format: "json", secrets: [], write: () => {} });
  beforeEach(() => vendor.clear());
  afterAll(async () => {
    http.close();
    ticker.close();
    await vendor.stop();
  });
  return { vendor, ticker, http, log, root: `http://127.0.0.1:${vendor.port}` };
}
