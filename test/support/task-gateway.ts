// A gateway with the operator's own task providers, and the calls of `POST /v3/universal-ai`.

import { afterAll, beforeEach, expect } from "bun:test";
import { answer } from "../support/answers.ts";
import { ask, readError } from "../support/chat.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { uploadFile } from "../support/uploads.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";

export const path = "/v3/universal-ai";
const textTasks = ["text/moderation", "translation/language_detection"];
export const maxFileBytes = 100_000;
export const saplingKey = "sapling-SECRET-51c2a0";

// The least that is a picture: eight bytes are enough to tell what it is.
export const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(200, 7)]);
export const safe = { nsfw_likelihood: 0, nsfw_likelihood_score: 0, items: [] };

export interface TaskAnswer {
  readonly status: string;
  readonly cost: number | null;
  readonly cost_reason?: string;
  readonly provider: string;
  readonly model: string | null;
  readonly feature: string;
  readonly subfeature: string;
  readonly output: Record<string, unknown>;
  readonly provider_time: number;
  readonly original_response?: unknown;
  readonly switchyard?: { readonly attempts: readonly Record<string, unknown>[] };
}
export interface Sending {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
export interface Problem {
  readonly loc: readonly (string | number)[];
  readonly type: string;
}

/** A provider of the operator that the vendor serves. */
export function declareTasks(vendor: Vendor, tasks: readonly string[]) {
  return { dialect: "openai", base_url: `http://127.0.0.1:${vendor.port}/tasks/v1`, api_key: providerSecret, tasks };
}

/** It stops after the last test of the file. */
export async function openTaskGateway() {
  const vendor = await startVendor(() => answer(404, { error: { message: "no such path" } }));
  const host = startFileHost();
  const origin = `http://127.0.0.1:${vendor.port}`;
  const gateway = await sharedGateway({
    vendor,
    env: {
      SWITCHYARD_EGRESS_ALLOW: "127.0.0.1/32",
      SWITCHYARD_MAX_FILE_BYTES: String(maxFileBytes),
      SWITCHYARD_LOCAL_WORKERS: "1",
      SAPLING_API_KEY: saplingKey,
      SAPLING_BASE_URL: `${origin}/sapling`,
    },
    config: {
      providers: {
        inhouse: declareTasks(vendor, [...textTasks, "ocr/ocr", "ocr/ocr_async", "audio/tts", "image/generation"]),
        second: declareTasks(vendor, textTasks),
      },
      // USD for a million tokens.
      prices: { "mockchat/priced": { input: 100, output: 1_000 } },
    },
  });
  const key = await gateway.createKey();
  afterAll(host.stop);
  beforeEach(() => vendor.clear());

  function send(body: unknown, { as = key, ...more }: Sending = {}): Promise<Response> {
    return ask(gateway.url, as, body, { path, ...more });
  }

  async function run(body: unknown, sending: Sending = {}): Promise<TaskAnswer> {
    const response = await send(body, sending);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`expected an answer, got ${response.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as TaskAnswer;
  }

  async function refuse(body: unknown, sending: Sending = {}) {
    return await readError(await send(body, sending));
  }

  /** The problems of an answer of status 422. */

  async function problemsOf(body: unknown, sending: Sending = {}): Promise<Problem[]> {
    const response = await send(body, sending);
    const text = await response.text();
    if (response.status !== 422) throw new Error(`expected 422, got ${response.status}: ${text.slice(0, 500)}`);
    const { detail } = JSON.parse(text) as { detail: (Problem & { msg: string })[] };
    for (const { msg } of detail) expect(msg).not.toBe("");
    return detail.map(({ loc, type }) => ({ loc, type }));
  }

  /** What the operator's own provider is asked. */

  function lastBody(): Record<string, unknown> {
    return JSON.parse(vendor.last().body.toString()) as Record<string, unknown>;
  }

  const upload = (as: string, bytes: Uint8Array<ArrayBuffer>) => uploadFile(gateway.url, as, bytes);

  return { vendor, gateway, host, key, send, run, refuse, problemsOf, lastBody, upload };
}

export function moderation(provider: string, text: unknown = "hello"): Record<string, unknown> {
  return { model: `text/moderation/${provider}`, input: { text } };
}

interface FileHost {
  readonly url: string;
  hits(): number;
  stop(): void;
}

/** A server of files on loopback, good and bad ones. */

function startFileHost(): FileHost {
  let hits = 0;
  const served = (bytes: Uint8Array<ArrayBuffer> | string, type: string, headers = {}) =>
    new Response(bytes, { headers: { "content-type": type, ...headers } });
  const moved = (location: string) => new Response(null, { status: 302, headers: { location } });
  const files: Readonly<Record<string, () => Response>> = {
    "/scan.png": () => served(png, "image/png"),
    "/picture-served-as-text": () => served(png, "text/plain"),
    "/program-served-as-picture.png": () => served("#!/bin/sh\necho hello\n", "image/png"),
    "/declared-too-large": () => served(Buffer.alloc(maxFileBytes + 1), "image/png"),
    "/endless": () => new Response(endless()),
    "/failing": () => new Response("down", { status: 500 }),
    "/empty": () => served("", "image/png"),
    "/packed.png": () => served(Bun.gzipSync(png), "image/png", { "content-encoding": "gzip" }),
    "/bomb": () => served(Bun.gzipSync(Buffer.alloc(maxFileBytes * 10)), "image/png", { "content-encoding": "gzip" }),
    "/broken-packing": () => served(png, "image/png", { "content-encoding": "gzip" }),
    "/redirect": () => moved("/scan.png"),
    "/redirect-inside": () => moved("http://127.0.0.2:1/"),
    "/redirect-for-ever": () => moved("/redirect-for-ever"),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      hits += 1;
      return files[new URL(request.url).pathname]?.() ?? new Response("none", { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, hits: () => hits, stop: () => void server.stop(true) };
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.alloc(16_384, 1)) });
}
