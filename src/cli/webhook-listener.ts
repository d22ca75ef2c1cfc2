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
    print(`\n${new Date().toISOString()}  ${request.method} ${new URL(request.url).pathname}  answered ${status}`);
    await check(request, body).then(
      (checks) => {
        if (checks.length === 0) print("  not signed");
        for (const { scheme, isGood, says } of checks) print(`  ${scheme}: ${isGood ? "" : "WRONG, "}${says}`);
      },
      (error: unknown) => print(`  not checked: ${messageOf(error)}`),
    );
    print(toPrintedBody(new TextDecoder().decode(body)));
    if (saveTo !== null) save(join(saveTo, String(number)), request, body);
    options.onCallback();
    return new Response(null, { status });
  }

  function save(path: string, request: Request, body: Uint8Array): void {
    const [bodyPath, headersPath] = [`${path}.json`, `${path}.headers`];
    writeFileSync(bodyPath, body);
    writeFileSync(headersPath, Array.from(request.headers, ([name, value]) => `${name}: ${value}\n`).join(""));
    print(`Stored: npx switchyard webhooks verify ${bodyPath} --headers ${headersPath}`);
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

function toPrintedBody(text: string): string {
  const rest = text.length - maxPrintedCharacters;
  return rest > 0 ? `${text.slice(0, maxPrintedCharacters)}\n… and ${rest} characters more` : text;
}
