// A webhook receiver for development: it prints each callback and whether its signatures are valid.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../errors.ts";
import { type VerifyingKeys, verifyWebhook, type WebhookCheck } from "../jobs/webhook-signature.ts";

export interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Statuses to answer with, in turn; the last one is repeated. */
  readonly statuses: readonly number[];
  /** Folder in which bodies, byte for byte, and headers are stored; null: none. */
  readonly saveTo: string | null;
  readonly readKeys: () => Promise<VerifyingKeys>;
  readonly print: (line: string) => void;
  /** One line of JSON for each callback. */
  readonly isJson: boolean;
  readonly onCallback: () => void;
}

export interface Listener {
  readonly port: number;
  stop(): Promise<void>;
}

const maxPrintedCharacters = 4_000;
const maxBodyBytes = 256 * 1024 * 1024;
// A failed check may mean that the gateway has a newer key. The pause limits how often forged callbacks cause a reload.
const reloadKeysAfterMs = 2_000;

export function startListener({ statuses, print, saveTo, ...options }: ListenerOptions): Listener {
  if (saveTo !== null) mkdirSync(saveTo, { recursive: true });
  let received = 0;
  let keys: { readonly value: VerifyingKeys; readonly readAt: number } | null = null;

  async function readKeys(): Promise<VerifyingKeys> {
    const value = await options.readKeys();
    keys = { value, readAt: performance.now() };
    return value;
  }

  async function check(request: Request, body: Uint8Array): Promise<readonly WebhookCheck[]> {
    const header = (name: string) => request.headers.get(name);
    const checkWith = (value: VerifyingKeys) => verifyWebhook({ body, header, keys: value, nowMs: Date.now() });
    const known = keys;
    if (known === null) return checkWith(await readKeys());
    const checks = checkWith(known.value);
    const isOld = performance.now() - known.readAt > reloadKeysAfterMs;
    return isOld && checks.some(({ isGood }) => !isGood) ? checkWith(await readKeys()) : checks;
  }

  async function receive(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    const status = statuses[Math.min(received, statuses.length - 1)] ?? 200;
    received += 1;
    const number = received;
    const callback = {
      time: new Date().toISOString(),
      method: request.method,
      path: new URL(request.url).pathname,
      status,
      checked: await check(request, body).catch((error: unknown) => messageOf(error)),
      body: new TextDecoder().decode(body),
      savedAs: saveTo === null ? null : save(join(saveTo, String(number)), request, body),
    };
    for (const line of options.isJson ? [toJson(callback)] : describe(callback)) print(line);
    options.onCallback();
    return new Response(null, { status });
  }

  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    ...(options.tls === null ? {} : { tls: options.tls }),
    maxRequestBodySize: maxBodyBytes,
    fetch: receive,
  });
  return { port: server.port ?? options.port, stop: () => server.stop() };
}

interface Callback {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** A text says why the signatures could not be checked. */
  readonly checked: readonly WebhookCheck[] | string;
  readonly body: string;
  /** The command that checks the stored callback; null: it is not stored. */
  readonly savedAs: string | null;
}

/** Stores body and headers, and returns the command that checks them. */
function save(path: string, request: Request, body: Uint8Array): string {
  const [bodyPath, headersPath] = [`${path}.json`, `${path}.headers`];
  writeFileSync(bodyPath, body);
  writeFileSync(headersPath, Array.from(request.headers, ([name, value]) => `${name}: ${value}\n`).join(""));
  return `npx switchyard-gateway webhooks verify ${bodyPath} --headers ${headersPath}`;
}

function describe({ time, method, path, status, checked, body, savedAs }: Callback): string[] {
  const checks =
    typeof checked === "string"
      ? [`  not checked: ${checked}`]
      : checked.map(({ scheme, isGood, says }) => `  ${scheme}: ${isGood ? "" : "WRONG, "}${says}`);
  return [
    `\n${time}  ${method} ${path}  answered ${status}`,
    ...(checks.length === 0 ? ["  not signed"] : checks),
    toPrintedBody(body),
    ...(savedAs === null ? [] : [`Stored: ${savedAs}`]),
  ];
}

function toJson({ checked, savedAs, ...callback }: Callback): string {
  const result = typeof checked === "string" ? { not_checked: checked } : { signatures: checked.map(toCheckJson) };
  return JSON.stringify({ ...callback, ...result, verify: savedAs });
}

export function toCheckJson({ scheme, isGood, says }: WebhookCheck) {
  return { scheme, valid: isGood, says };
}

function toPrintedBody(text: string): string {
  const rest = text.length - maxPrintedCharacters;
  return rest > 0 ? `${text.slice(0, maxPrintedCharacters)}\n… and ${rest} characters more` : text;
}
