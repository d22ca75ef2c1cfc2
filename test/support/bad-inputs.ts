// The cases of test/cases/bad-inputs.json: their form, the bytes that each sends, and what its vendor does meanwhile.

import cases from "../cases/bad-inputs.json";
import {
  answer,
  chatChunk,
  chatChunks,
  event,
  fin,
  hang,
  httpChunk,
  lastHttpChunk,
  type Script,
  streamHead,
  until,
  wait,
  write,
} from "./answers.ts";
import { providerSecret } from "./gateway-settings.ts";
import { requestBytes } from "./raw-http.ts";

export interface BadInput {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly send: Sending;
  readonly expect: Expectation;
}

interface Sending {
  readonly headers?: Readonly<Record<string, HeaderValue>>;
  readonly extra_headers?: { readonly count: number; readonly name: string; readonly value: string };
  readonly json?: unknown;
  readonly json_text?: string;
  readonly raw?: string;
  readonly raw_b64?: string;
  readonly raw_http?: string;
  readonly gzip_of?: string;
  readonly gen?: Generated;
  readonly times?: number;
  readonly upstream?: Upstream;
  readonly client?: string;
  readonly fault?: string;
  readonly receiver?: ReceiverScript;
}

/** What the receiver of a webhook does. */
export interface ReceiverScript {
  readonly status?: number;
  readonly location?: string;
  readonly retry_after?: number;
  readonly hang?: boolean;
  readonly drip_body?: boolean;
  readonly body_gib?: number;
  readonly refuse?: boolean;
  /** What its name leads to once the job was accepted. */
  readonly dns?: string;
  readonly tls?: string;
  /** Of the job. */
  readonly output?: Readonly<Record<string, number>>;
}

type HeaderValue = string | readonly string[] | { readonly repeat: string; readonly count: number };

interface Generated {
  readonly kind: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly open?: string;
  readonly close?: string;
  readonly core?: string;
  readonly unit?: string;
  readonly count?: number;
  readonly bytes?: number;
}

export interface Upstream {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly refuse?: boolean;
  readonly hang?: boolean;
  readonly chunks?: number;
  readonly then?: string;
  readonly interval_ms?: number;
  readonly flood_no_newline_mb?: number;
  readonly event_mb?: number;
  readonly inject?: string;
  readonly ttft_s?: number;
  readonly fault?: string;
}

export interface Expectation {
  readonly status?: number;
  readonly status_any?: readonly number[];
  readonly shape: "ok" | "error" | "validation" | "sse_error" | "none" | "delivery";
  readonly detail?: readonly { readonly loc: readonly (string | number)[]; readonly type: string }[];
  readonly error?: { readonly type: string; readonly code: string; readonly param: string | null };
  readonly headers?: Readonly<Record<string, string>>;
  readonly headers_absent?: readonly string[];
  readonly forbid?: readonly string[];
  readonly forbid_in_logs?: readonly string[];
  readonly side_effects?: {
    readonly upstream_calls?: number;
    readonly canary_hits?: number;
    readonly upstream_cancelled_within_ms?: number;
    readonly billed_at?: string;
    readonly usage_recorded?: string;
    readonly job_created?: boolean;
  };
  readonly closes?: boolean;
  readonly no_done?: boolean;
  readonly max_ms?: number;
  readonly max_loop_block_ms?: number;
  readonly max_rss_growth_mb?: number;
  readonly on_call?: number;
  /** A claim about what is so afterwards. */
  readonly after?: string;
  readonly attempts?: number;
  readonly state?: string;
  readonly per_attempt_timeout_s?: number;
  readonly body_absent?: readonly string[];
}

// The file is ours and checked by its use: the type says what TypeScript cannot infer from so uneven a list.
export const badInputs = cases.cases as unknown as readonly BadInput[];

const groupsWithNames: ReadonlySet<string> = new Set(["job", "hook", "deliver"]);
const filesWithNames: ReadonlySet<string> = new Set([
  "uni-22",
  "uni-23",
  "uni-26",
  "uni-31",
  "uni-32",
  "uni-34",
  "uni-35",
]);

/** Whether a case needs a name server and receivers of the test's own. */
export function needsNames({ id, group }: BadInput): boolean {
  return groupsWithNames.has(group) || filesWithNames.has(id);
}

/** Names such as KEY_A and what stands for them in this run. */
export type Fixtures = Readonly<Record<string, string>>;

/** The bytes of one request of a case. `call` counts from 1 where a case sends several. */
export function toBytes({ method, path, send }: BadInput, fixtures: Fixtures, call = 1): Uint8Array {
  function fill(text: string): string {
    return text
      .replace(/\$\{([A-Z0-9_]+)\}/g, (_all, name: string) => fixtures[name] ?? missing(name))
      .replace(/%repeat:(.):(\d+)%/gs, (_all, unit: string, count: string) => unit.repeat(Number(count)))
      .replace("%d", String(call));
  }

  if (send.raw_http !== undefined) return Buffer.from(fill(send.raw_http), "latin1");
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(send.headers ?? {})) {
    if (name.endsWith("_utf8") && typeof value === "string") {
      // Header bytes are sent one per character: UTF-8 is spelled out.
      headers[name.slice(0, -"_utf8".length)] = Buffer.from(fill(value)).toString("latin1");
    } else if (typeof value === "string") headers[name] = fill(value);
    else if ("repeat" in value) headers[name] = value.repeat.repeat(value.count);
    else headers[name] = value.map(fill);
  }
  const extra = send.extra_headers;
  for (let index = 0; index < (extra?.count ?? 0); index += 1) {
    headers[(extra?.name ?? "").replace("%d", String(index))] = extra?.value ?? "";
  }
  const body = bodyOf(send, fill);
  return requestBytes({ method, path: fill(path), headers, ...(body === undefined ? {} : { body }) });
}

function missing(name: string): never {
  throw new Error(`no fixture is named ${name}`);
}

function bodyOf(send: Sending, fill: (text: string) => string): Uint8Array | string | undefined {
  if (send.json !== undefined) return fill(JSON.stringify(send.json));
  if (send.json_text !== undefined) return send.json_text;
  if (send.raw !== undefined) return send.raw;
  if (send.raw_b64 !== undefined) return Buffer.from(send.raw_b64, "base64");
  if (send.gzip_of !== undefined) return Bun.gzipSync(Buffer.from(send.gzip_of));
  return send.gen === undefined ? undefined : generate(send.gen);
}

function generate(gen: Generated): Uint8Array {
  const { prefix = "", suffix = "", open = "", close = "", core = "", unit = "", count = 0, bytes = 0 } = gen;
  switch (gen.kind) {
    case "nest":
      return Buffer.from(`${prefix}${open.repeat(count)}${core}${close.repeat(count)}${suffix}`);
    case "repeat":
      return Buffer.from(`${prefix}${unit.repeat(count)}${suffix}`);
    case "keys": {
      const pairs = Array.from({ length: count }, (_none, index) => `"k${index}":1`);
      return Buffer.from(`${prefix}${pairs.join(",")}${suffix}`);
    }
    case "gzip_zeros":
      return gzipZeros(bytes);
    default:
      throw new Error(`nobody knows how to generate ${gen.kind}`);
  }
}

/** Compressed files may be joined: one of 64 MiB again and again saves compressing them all. */
function gzipZeros(bytes: number): Uint8Array {
  const memberBytes = 64 * 1_024 * 1_024;
  const member = Bun.gzipSync(Buffer.alloc(memberBytes), { level: 9 });
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / memberBytes) }, () => member));
}

/** The token that a case presents, in whichever header; null when it is too short to be looked for. */
export function presentedToken({ send }: BadInput, fixtures: Fixtures): string | null {
  const { headers = {} } = send;
  const value = headers["authorization"] ?? headers["authorization_utf8"] ?? headers["x-api-key"] ?? headers["cookie"];
  if (typeof value !== "string") return null;
  const filled = value.replace(/\$\{([A-Z0-9_]+)\}/g, (_all, name: string) => fixtures[name] ?? "");
  const token = filled.replace(/^authorization=/, "").replace(/^(Bearer|Token)(%20|\s)+/i, "");
  return token.length < 8 ? null : token;
}

const megabyte = 1_024 * 1_024;

interface ScriptOptions {
  readonly intervalMs?: number;
  /** Fulfilled when the caller has content: only then is the stream broken, for before it there is none. */
  readonly seen?: Promise<unknown>;
}

/** What the vendor does for a case. Deltas come first wherever a case breaks a stream that has begun. */
export function toScript(upstream: Upstream, { intervalMs: usualMs = 0, seen }: ScriptOptions = {}): Script {
  const intervalMs = upstream.interval_ms ?? usualMs;
  const whenSeen = seen === undefined ? [] : [until(seen)];
  const begun = [
    streamHead(),
    event(chatChunk({ role: "assistant", content: "" })),
    event(chatChunk({ content: "a" })),
  ];

  if (upstream.hang === true) return [hang];
  if (upstream.ttft_s !== undefined) return [streamHead(), wait(upstream.ttft_s * 1_000), ...begun.slice(1)];
  if (upstream.status !== undefined) return answer(upstream.status, upstream.body ?? "", upstream.headers);
  if (upstream.flood_no_newline_mb !== undefined) {
    const flood = { do: "flood", unit: Buffer.alloc(megabyte, "x"), times: upstream.flood_no_newline_mb } as const;
    const size = (upstream.flood_no_newline_mb * megabyte + 6).toString(16);
    return [...begun, ...whenSeen, write(`${size}\r\ndata: `), flood, hang];
  }
  if (upstream.event_mb !== undefined) {
    const text = Buffer.alloc(upstream.event_mb * megabyte, "x").toString();
    return [...begun, ...whenSeen, event(chatChunk({ content: text })), httpChunk("data: [DONE]\n\n"), lastHttpChunk];
  }
  const contents = Array.from({ length: upstream.chunks ?? 1 }, () => upstream.inject ?? "word ");
  const healthy = chatChunks(contents).map(event);
  if (upstream.then === undefined) {
    const spaced = healthy.flatMap((step) => (intervalMs > 0 ? [step, wait(intervalMs)] : [step]));
    return [streamHead(), ...spaced, httpChunk("data: [DONE]\n\n"), lastHttpChunk];
  }
  const unfinished = [streamHead(), ...healthy.slice(0, contents.length + 1), ...whenSeen];
  if (upstream.then === "fin") return [...unfinished, lastHttpChunk, fin];
  if (upstream.then === "hang") return [...unfinished, hang];
  return [...unfinished, httpChunk(`${upstream.then}\n\n`), lastHttpChunk];
}

/** The provider mock as it is everywhere, and with tasks. */
export function mockWithTasks(baseUrl: string): Record<string, unknown> {
  return {
    dialect: "openai",
    base_url: baseUrl,
    api_key: providerSecret,
    responses: "native",
    tasks: ["text/moderation", "ocr/ocr", "ocr/ocr_async"],
  };
}

/** What the vendor says to tasks, and to a model that it does not have. */
export const taskScripts: ReadonlyMap<string, Script> = new Map([
  ["text/moderation/mock", answer(200, { output: { nsfw_likelihood: 0, nsfw_likelihood_score: 0, items: [] } })],
  ["ocr/ocr/mock", answer(200, { output: { text: "what nobody should have read" } })],
  ["nosuch", answer(404, { error: { message: "The model 'nosuch' does not exist", code: "model_not_found" } })],
]);
