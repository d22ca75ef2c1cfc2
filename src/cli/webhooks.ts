// `switchyard webhooks verify|listen|keys|rotate-key|drop-old-keys`: for receivers and for the operator.

import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { messageOf } from "../errors.ts";
import {
  openWebhookKeys,
  type PublishedKey,
  toKeySet,
  toStandardPublicKey,
  type WebhookKeyStore,
  type WebhookKeys,
} from "../jobs/webhook-keys.ts";
import { type VerifyingKeys, verifyWebhook } from "../jobs/webhook-signature.ts";
import type { Log } from "../log.ts";
import { type CommandSpec, type Input, runInGroup, toOutput, UsageError } from "./command-line.ts";
import { openLocalCertificate } from "./local-certificate.ts";
import { type Listener, type ListenerOptions, startListener } from "./webhook-listener.ts";

export interface WebhooksContext {
  /** Read only by commands that need it: a receiver's machine has no settings of a gateway. */
  readonly settings: () => { readonly dataDir: string; readonly gatewayUrl: string };
  readonly openKeyStore: () => Promise<{ readonly store: WebhookKeyStore; close(): Promise<void> }>;
  readonly log: Log;
  readonly readInput: () => Promise<Uint8Array>;
  readonly print: (line: string) => void;
  /** Messages for people, kept apart from what `--json` prints. */
  readonly printError?: (line: string) => void;
  /** Ends `listen`; without it Ctrl-C does. */
  readonly signal?: AbortSignal;
}

interface Command {
  readonly spec: CommandSpec;
  readonly run: (input: Input, context: WebhooksContext) => Promise<number>;
}

const json = { json: { meaning: "prints JSON" } };
const from = { takes: "<address>", meaning: "of the gateway that publishes the keys; default: this machine's" };

const commands: Readonly<Record<string, Command>> = {
  verify: {
    spec: {
      name: "webhooks verify",
      summary: "Checks the signatures of a stored callback: its body from a file or standard input, byte for byte.",
      words: { shown: "[<file with the body>]", least: 0, most: 1 },
      options: {
        headers: { takes: "<file>", meaning: '"Name: value" lines, or a JSON object' },
        signature: { takes: "<hex>", meaning: "X-Service-Signature, when no other header was stored" },
        key: {
          takes: "<file>",
          meaning: "a public key in PEM, a key set in JSON, or a whpk_… text; repeat for several",
          multiple: true,
        },
        from,
        "check-age": { meaning: "refuses a callback that was signed more than five minutes ago" },
      },
      example: "npx switchyard webhooks verify 1.json --headers 1.headers",
    },
    run: runVerify,
  },
  listen: {
    spec: {
      name: "webhooks listen",
      summary: "Receives callbacks during development: prints each one and whether its signatures are good.",
      options: {
        port: { takes: "<n>", meaning: "default: 8443" },
        host: { takes: "<address>", meaning: "default: 127.0.0.1" },
        name: {
          takes: "<name>",
          meaning: "one more name for its certificate, such as host.docker.internal; repeat for several",
          multiple: true,
        },
        status: { takes: "<list>", meaning: "statuses to answer with, such as 200 or 500,500,200; default: 200" },
        count: { takes: "<n>", meaning: "ends after this many callbacks" },
        save: { takes: "<folder>", meaning: "stores each callback as <number>.json and <number>.headers, for verify" },
        from,
        http: { meaning: "without TLS, for a proxy with a certificate in front of it" },
      },
      example: "npx switchyard webhooks listen --port 8443",
    },
    run: runListen,
  },
  keys: {
    spec: {
      name: "webhooks keys",
      summary: "Lists the published keys that sign callbacks.",
      options: json,
      example: "npx switchyard webhooks keys",
    },
    run: runWithKeys((keys) => keys.published()),
  },
  "rotate-key": {
    spec: {
      name: "webhooks rotate-key",
      summary:
        "Creates a key. It is published at once and signs two minutes later; the old one stays published for 30 days.",
      options: {
        now: { meaning: "signs at once" },
        "drop-old": { meaning: "signs at once and stops publishing the old keys: for a key that has leaked" },
        ...json,
      },
      example: "npx switchyard webhooks rotate-key",
    },
    run: runWithKeys((keys, input) => keys.rotate({ isUrgent: input.has("now"), dropOld: input.has("drop-old") })),
  },
  "drop-old-keys": {
    spec: {
      name: "webhooks drop-old-keys",
      summary: "Stops publishing the keys that no longer sign.",
      options: json,
      example: "npx switchyard webhooks drop-old-keys",
    },
    run: runWithKeys((keys) => keys.dropOld()),
  },
};

/** The exit code: 0 done or good, 1 it could not be done or is not good, 2 the command was not understood. */
export async function runWebhooksCommand(args: string[], context: WebhooksContext): Promise<number> {
  const output = toOutput(context);
  return await runInGroup("webhooks", commands, args, output, async (command, input) => {
    try {
      return await command.run(input, context);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      output.printError(messageOf(error));
      return 1;
    }
  });
}

async function runVerify(input: Input, context: WebhooksContext): Promise<number> {
  const [path] = input.words;
  const headerFile = input.text("headers");
  const signature = input.text("signature");
  if (headerFile === undefined && signature === undefined) throw new UsageError("--headers or --signature is needed.");
  const headers = headerFile === undefined ? new Map<string, string>() : readHeaders(readFileSync(headerFile, "utf8"));
  if (signature !== undefined) headers.set("x-service-signature", signature);
  const keyFiles = input.list("key");
  const keys =
    keyFiles.length > 0
      ? joinKeys(keyFiles.map((file) => parseKeys(file.startsWith("whpk_") ? file : readFileSync(file, "utf8"))))
      : await readGatewayKeys(input.text("from") ?? context.settings().gatewayUrl);
  const body = path === undefined || path === "-" ? await context.readInput() : readFileSync(path);

  const header = (name: string) => headers.get(name) ?? null;
  const nowMs = input.has("check-age") ? Date.now() : null;
  const checks = verifyWebhook({ body, header, keys, nowMs });
  if (checks.length === 0) context.print("WRONG: there is no header with a signature");
  for (const { scheme, isGood, says } of checks) context.print(`${scheme}: ${isGood ? "" : "WRONG, "}${says}`);
  return checks.length > 0 && checks.every(({ isGood }) => isGood) ? 0 : 1;
}

async function runListen(input: Input, context: WebhooksContext): Promise<number> {
  const port = toNumber(input, "port", 8443, 65_535);
  const count = toNumber(input, "count", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const statuses = (input.text("status") ?? "200").split(",").map(Number);
  if (!statuses.every((status) => Number.isInteger(status) && status >= 200 && status <= 599))
    throw new UsageError("--status takes statuses from 200 to 599, such as 500,500,200.");
  const hostname = input.text("host") ?? "127.0.0.1";
  const settings = context.settings();
  const gateway = input.text("from") ?? settings.gatewayUrl;
  const names = [...new Set(["localhost", "127.0.0.1", "::1", hostname, ...input.list("name")])];
  const certificate = input.has("http")
    ? null
    : openLocalCertificate(resolve(settings.dataDir, "webhook-listener"), names);

  const ended = Promise.withResolvers<void>();
  let received = 0;
  const listener = listenOrExplain({
    hostname,
    port,
    tls: certificate === null ? null : { cert: certificate.certificate, key: certificate.key },
    statuses,
    saveTo: input.text("save") ?? null,
    readKeys: () => readGatewayKeys(gateway),
    print: context.print,
    onCallback() {
      received += 1;
      if (received >= count) ended.resolve();
    },
  });
  const isEverywhere = hostname === "0.0.0.0" || hostname === "::";
  const called = input.list("name")[0] ?? (isEverywhere ? "127.0.0.1" : hostname);
  const authority = `${isIP(called) === 6 ? `[${called}]` : called}:${listener.port}`;
  for (const line of introduce(authority, called, certificate?.path ?? null, gateway)) context.print(line);
  const stop = () => ended.resolve();
  context.signal?.addEventListener("abort", stop);
  if (context.signal?.aborted === true) stop();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    await ended.promise;
    await listener.stop();
    return 0;
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    context.signal?.removeEventListener("abort", stop);
  }
}

function listenOrExplain(options: ListenerOptions): Listener {
  try {
    return startListener(options);
  } catch (cause) {
    throw new Error(
      `Cannot listen on ${options.hostname}:${options.port}: it is taken or not allowed. Choose another --port.`,
      {
        cause,
      },
    );
  }
}

function introduce(authority: string, host: string, certificate: string | null, gateway: string): string[] {
  const checked = `Signatures are checked with the keys of ${gateway}. Ctrl-C ends it.`;
  if (certificate === null)
    return [
      `Listening on http://${authority}/`,
      "The gateway calls https addresses alone: put a proxy with a certificate in front, and name that as webhook_receiver.",
      checked,
    ];
  const range = isIP(host) === 0 ? "<its address>/32" : `${host}/${isIP(host) === 6 ? 128 : 32}`;
  return [
    `Listening on https://${authority}/`,
    "The gateway calls it when it was started with",
    `  NODE_EXTRA_CA_CERTS=${certificate} SWITCHYARD_EGRESS_ALLOW=${range} npx switchyard serve`,
    "and the job says",
    `  "webhook_receiver": "https://${authority}/"`,
    checked,
  ];
}

function runWithKeys(work: (keys: WebhookKeys, input: Input) => Promise<readonly PublishedKey[]>): Command["run"] {
  return async (input, context) => {
    const { store, close } = await context.openKeyStore();
    try {
      const published = await work(openWebhookKeys({ store, log: context.log }), input);
      if (input.has("json")) context.print(JSON.stringify(toListing(published), null, 2));
      else for (const key of published) for (const line of describeKey(key)) context.print(line);
      return 0;
    } finally {
      await close();
    }
  };
}

function toListing(keys: readonly PublishedKey[]): unknown {
  return keys.map((key) => ({
    state: key.state,
    created_at: toTime(key.createdAt),
    signs_from: toTime(key.signsFrom),
    published_until: key.publishedUntil === null ? null : toTime(key.publishedUntil),
    keys: toKeySet([key]).keys,
  }));
}

function describeKey(key: PublishedKey): string[] {
  const until = key.publishedUntil === null ? "" : `, published until ${toTime(key.publishedUntil)}`;
  const when = key.state === "next" ? `signs from ${toTime(key.signsFrom)}` : `made ${toTime(key.createdAt)}${until}`;
  return [
    `${key.state.padEnd(8)}${when}`,
    `        RSA ${key.rsa.asymmetricKeyDetails?.modulusLength}  ${key.keyId}`,
    `        Ed25519   ${key.ed25519KeyId}  ${toStandardPublicKey(key.ed25519)}`,
  ];
}

function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

async function readGatewayKeys(gateway: string): Promise<VerifyingKeys> {
  const url = URL.parse(`${gateway.replace(/\/+$/, "")}/v3/webhooks/keys`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new UsageError(`--from takes an address such as http://127.0.0.1:8080, not "${gateway}".`);
  return parseKeys(await readText(url));
}

const answerWithinMs = 10_000;
const mostAnswerCharacters = 1_000_000;

function readText(url: URL): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (reason: string) => reject(new Error(`The keys could not be read from ${url.href}: ${reason}`));
  const request = (url.protocol === "https:" ? getHttps : getHttp)(url, (answer) => {
    if (answer.statusCode !== 200) {
      answer.destroy();
      return fail(`it answered ${answer.statusCode}`);
    }
    let body = "";
    answer.setEncoding("utf8");
    answer.on("data", (part: string) => {
      body += part;
      if (body.length > mostAnswerCharacters) request.destroy(new Error("the answer is too long"));
    });
    answer.on("end", () => resolve(body));
    answer.on("error", (error) => fail(error.message));
  });
  request.on("error", (error) => fail(error.message));
  const timer = setTimeout(() => request.destroy(new Error("no answer in time")), answerWithinMs);
  return promise.finally(() => clearTimeout(timer));
}

const pemBlock = /-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g;
// What stands before the 32 bytes of an Ed25519 key in its DER form.
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex");

/** One or several keys, in any of the forms in which they are published. */
function parseKeys(given: string): VerifyingKeys {
  const trimmed = given.trim();
  const keys = trimmed.startsWith("{")
    ? parseKeySet(trimmed)
    : trimmed.startsWith("whpk_")
      ? [parseStandardKey(trimmed)]
      : parsePem(trimmed);
  if (keys.length === 0) throw new Error("There is no public key in what was given as one");
  return {
    rsa: keys.filter((key) => key.asymmetricKeyType === "rsa"),
    ed25519: keys.filter((key) => key.asymmetricKeyType === "ed25519"),
  };
}

function parsePem(pem: string): KeyObject[] {
  return Array.from(pem.matchAll(pemBlock), ([block]) => createPublicKey(block));
}

function parseKeySet(json: string): KeyObject[] {
  const { keys } = JSON.parse(json) as { readonly keys?: readonly Record<string, string>[] };
  return (keys ?? []).map((key) => createPublicKey({ key, format: "jwk" }));
}

function parseStandardKey(text: string): KeyObject {
  const bytes = Buffer.from(text.slice("whpk_".length), "base64");
  if (bytes.length !== 32) throw new Error("A whpk_ key has 32 bytes in base64");
  return createPublicKey({ key: Buffer.concat([ed25519Prefix, bytes]), format: "der", type: "spki" });
}

function joinKeys(all: readonly VerifyingKeys[]): VerifyingKeys {
  return { rsa: all.flatMap(({ rsa }) => rsa), ed25519: all.flatMap(({ ed25519 }) => ed25519) };
}

/** Names in lower case. */
function readHeaders(given: string): Map<string, string> {
  const trimmed = given.trim();
  if (trimmed.startsWith("{"))
    return new Map(
      Object.entries(JSON.parse(trimmed) as Record<string, unknown>).map(([name, value]) => [
        name.toLowerCase(),
        String(value),
      ]),
    );
  const headers = new Map<string, string>();
  for (const line of trimmed.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    // The request line has no colon before its first space, or none that makes a name.
    if (colon < 1 || line.slice(0, colon).includes(" ")) continue;
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

function toNumber(input: Input, name: string, otherwise: number, most: number): number {
  const given = input.text(name);
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (given.trim() === "" || !Number.isInteger(value) || value < 0 || value > most)
    throw new UsageError(`--${name} takes a whole number, not "${given}".`);
  return value;
}
