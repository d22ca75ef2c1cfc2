// `switchyard webhooks verify|listen|keys|rotate-key|drop-old-keys`: for developers of receivers and for operators.

import { createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type Audit, type AuditNote, createAudit } from "../access/audit.ts";
import { commandActor } from "../access/roles.ts";
import { messageOf } from "../errors.ts";
import type { PublishedKey, WebhookKeyOptions, WebhookKeys } from "../jobs/webhook-keys.ts";
import { openWebhookKeys, toKeySet, toStandardPublicKey } from "../jobs/webhook-keys.ts";
import { type VerifyingKeys, verifyWebhook } from "../jobs/webhook-signature.ts";
import type { Log } from "../log.ts";
import type { AuditEvent } from "../storage/audit.ts";
import type { Storage } from "../storage/storage.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { askGateway, toGatewayUrl } from "./ask-gateway.ts";
import type { Output } from "./command-line.ts";
import { CommandFailed, collect, createCommand, explain, toWholeNumber, UsageError } from "./command-line.ts";
import { openLocalCertificate } from "./local-certificate.ts";
import { type Listener, type ListenerOptions, startListener, toCheckJson } from "./webhook-listener.ts";

export interface WebhooksContext extends Output {
  /** Read only by commands that need it: the machine of a receiver has no settings of a gateway. */
  readonly settings: () => { readonly dataDir: string; readonly gatewayUrl: string };
  readonly openStorage: () => Promise<Pick<WebhookKeyOptions, "secrets"> & Pick<Storage, "audit" | "close">>;
  readonly log: Log;
  readonly readInput: () => Promise<Uint8Array>;
  /** Ends `listen`; without it Ctrl-C does. */
  readonly signal?: AbortSignal;
}

export function createWebhooksCommand(context: WebhooksContext): Command {
  const group = createCommand("webhooks", "Check and receive callbacks, and manage the keys that sign them.", context);
  const fromMeaning = "address of the gateway that publishes the keys; default: the one on this machine";

  explain(
    group.command("verify"),
    "Check the signatures of a stored callback.",
    "webhooks verify 1.json --headers 1.headers",
  )
    .argument("[file]", "the body, byte for byte; default: standard input")
    .option("--headers <file>", '"Name: value" lines, or a JSON object')
    .option("--signature <hex>", "X-Service-Signature, when no other header was stored")
    .option("--key <file>", "a public key in PEM, a key set in JSON, or a whpk_… text; repeatable", collect)
    .option("--from <address>", fromMeaning)
    .option("--check-age", "refuse a callback that was signed more than five minutes ago")
    .option("--json", "print JSON")
    .action((file: string | undefined, options: VerifyOptions) => runVerify(file, options, context));

  explain(
    group.command("listen"),
    "Receive callbacks during development: print each one and whether its signatures are valid.",
    "webhooks listen --port 8443",
  )
    .option("--port <n>", "default: 8443", toWholeNumber(0, 65_535))
    .option("--host <address>", "default: 127.0.0.1")
    .option(
      "--name <name>",
      "an additional name for the certificate, such as host.docker.internal; repeatable",
      collect,
    )
    .option("--status <list>", "statuses to answer with, such as 200 or 500,500,200; default: 200")
    .option("--count <n>", "end after this many callbacks", toWholeNumber(1, 1_000_000))
    .option("--save <folder>", "store each callback as <number>.json and <number>.headers, for verify")
    .option("--from <address>", fromMeaning)
    .option("--http", "without TLS, behind a proxy with a certificate")
    .option("--json", "print one line of JSON for each callback")
    .action((options: ListenOptions) => runListen(options, context));

  const addKeysCommand = (
    name: string,
    summary: string,
    work: (keys: WebhookKeys, options: KeysOptions) => Promise<readonly PublishedKey[]>,
    action: AuditEvent["action"] | null = null,
  ) =>
    explain(group.command(name), summary, `webhooks ${name}`)
      .option("--json", "print JSON")
      .action((options: KeysOptions) => runWithKeys({ work: (keys) => work(keys, options), action }, options, context));
  addKeysCommand("keys", "List the published keys that sign callbacks.", (keys) => keys.published());
  addKeysCommand(
    "rotate-key",
    "Create a key. It is published at once and signs two minutes later; the old key stays published for 30 days.",
    (keys, { now = false, dropOld = false }) => keys.rotate({ isUrgent: now, dropOld }),
    "webhook_keys.rotate",
  )
    .option("--now", "sign at once")
    .option("--drop-old", "sign at once and stop publishing the old keys: for a key that has leaked");
  addKeysCommand(
    "drop-old-keys",
    "Stop publishing the keys that no longer sign.",
    (keys) => keys.dropOld(),
    "webhook_keys.drop_old",
  );

  return group;
}

interface VerifyOptions {
  readonly headers?: string;
  readonly signature?: string;
  readonly key?: readonly string[];
  readonly from?: string;
  readonly checkAge?: true;
  readonly json?: true;
}

interface ListenOptions {
  readonly port?: number;
  readonly host?: string;
  readonly name?: readonly string[];
  readonly status?: string;
  readonly count?: number;
  readonly save?: string;
  readonly from?: string;
  readonly http?: true;
  readonly json?: true;
}

interface KeysOptions {
  readonly json?: true;
  readonly now?: true;
  readonly dropOld?: true;
}

async function runVerify(path: string | undefined, options: VerifyOptions, context: WebhooksContext): Promise<void> {
  const { headers: headerFile, signature, key: keyFiles = [], from, checkAge } = options;
  if (headerFile === undefined && signature === undefined)
    throw new UsageError("--headers or --signature is required.");
  const headers = headerFile === undefined ? new Map<string, string>() : readHeaders(readFileSync(headerFile, "utf8"));
  if (signature !== undefined) headers.set("x-service-signature", signature);
  const keys =
    keyFiles.length > 0
      ? joinKeys(keyFiles.map((file) => parseKeys(file.startsWith("whpk_") ? file : readFileSync(file, "utf8"))))
      : await readGatewayKeys(from ?? context.settings().gatewayUrl);
  const body = path === undefined || path === "-" ? await context.readInput() : readFileSync(path);

  const header = (name: string) => headers.get(name) ?? null;
  const nowMs = checkAge ? Date.now() : null;
  const checks = verifyWebhook({ body, header, keys, nowMs });
  const isValid = checks.length > 0 && checks.every(({ isGood }) => isGood);
  if (options.json) context.print(JSON.stringify({ valid: isValid, signatures: checks.map(toCheckJson) }, null, 2));
  else {
    if (checks.length === 0) context.print("WRONG: no header holds a signature");
    for (const { scheme, isGood, says } of checks) context.print(`${scheme}: ${isGood ? "" : "WRONG, "}${says}`);
  }
  if (!isValid) throw new CommandFailed();
}

async function runListen(options: ListenOptions, context: WebhooksContext): Promise<void> {
  const {
    port = 8443,
    host: hostname = "127.0.0.1",
    name: extraNames = [],
    count = Number.POSITIVE_INFINITY,
  } = options;
  const statuses = (options.status ?? "200").split(",").map(Number);
  if (!statuses.every((status) => Number.isInteger(status) && status >= 200 && status <= 599))
    throw new UsageError("--status takes statuses from 200 to 599, such as 500,500,200.");
  const settings = context.settings();
  const gateway = options.from ?? settings.gatewayUrl;
  const names = [...new Set(["localhost", "127.0.0.1", "::1", hostname, ...extraNames])];
  const certificate = options.http ? null : openLocalCertificate(resolve(settings.dataDir, "webhook-listener"), names);

  const ended = Promise.withResolvers<void>();
  let received = 0;
  const listener = listenOrExplain({
    hostname,
    port,
    tls: certificate === null ? null : { cert: certificate.certificate, key: certificate.key },
    statuses,
    saveTo: options.save ?? null,
    readKeys: () => readGatewayKeys(gateway),
    print: context.print,
    isJson: options.json === true,
    onCallback() {
      received += 1;
      if (received >= count) ended.resolve();
    },
  });
  const isEverywhere = hostname === "0.0.0.0" || hostname === "::";
  const called = extraNames[0] ?? (isEverywhere ? "127.0.0.1" : hostname);
  const authority = `${isIP(called) === 6 ? `[${called}]` : called}:${listener.port}`;
  const introduction = introduce(authority, called, certificate?.path ?? null, gateway);
  if (!options.json) for (const line of introduction) context.print(line);
  else context.print(JSON.stringify({ listening: introduction[0]?.slice("Listening on ".length), gateway }));
  const stop = () => ended.resolve();
  context.signal?.addEventListener("abort", stop);
  if (context.signal?.aborted === true) stop();
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    await ended.promise;
    await listener.stop();
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
    const address = `${options.hostname}:${options.port}`;
    throw new Error(`Cannot listen on ${address}: the port is in use or not permitted. Choose another --port.`, {
      cause,
    });
  }
}

function introduce(authority: string, host: string, certificate: string | null, gateway: string): string[] {
  const checked = `Signatures are checked with the keys of ${gateway}. Press Ctrl-C to stop.`;
  if (certificate === null)
    return [
      `Listening on http://${authority}/`,
      "The gateway calls only https addresses: put a proxy with a certificate in front, and use its address as webhook_receiver.",
      checked,
    ];
  const range = isIP(host) === 0 ? "<its address>/32" : `${host}/${isIP(host) === 6 ? 128 : 32}`;
  return [
    `Listening on https://${authority}/`,
    "Start the gateway with",
    `  NODE_EXTRA_CA_CERTS=${certificate} SWITCHYARD_EGRESS_ALLOW=${range} npx switchyard-gateway serve`,
    "and submit a job with",
    `  "webhook_receiver": "https://${authority}/"`,
    checked,
  ];
}

interface KeysWork {
  readonly work: (keys: WebhookKeys) => Promise<readonly PublishedKey[]>;
  /** The name of the change in the audit log; null: nothing is changed. */
  readonly action: AuditEvent["action"] | null;
}

async function runWithKeys({ work, action }: KeysWork, { json }: KeysOptions, context: WebhooksContext): Promise<void> {
  const storage = await context.openStorage();
  try {
    const keys = openWebhookKeys({ secrets: storage.secrets, log: context.log });
    const published =
      action === null
        ? await work(keys)
        : await recordKeys(createAudit(storage.audit, context.log), action, keys, () => work(keys));
    if (json) context.print(JSON.stringify(toListing(published), null, 2));
    else
      for (const line of alignColumns([keysHeader, ...published.flatMap(describeKey)], keysHeader.length))
        context.print(line);
  } finally {
    await storage.close();
  }
}

/** The audit log shows the ids of the published keys, before and after. */
async function recordKeys(
  audit: Audit,
  action: AuditEvent["action"],
  keys: WebhookKeys,
  change: () => Promise<readonly PublishedKey[]>,
): Promise<readonly PublishedKey[]> {
  const toState = (published: readonly PublishedKey[]) => ({ published: published.map(({ keyId }) => keyId) });
  const note: AuditNote = { before: toState(await keys.published()), after: null };
  const target = { kind: "webhook_keys", id: null, name: null, team: null };
  return await audit.around(commandActor(), { action, target }, note, async () => {
    const published = await change();
    note.after = toState(published);
    return published;
  });
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

const keysHeader = ["state", "created", "signs from", "published until", "algorithm", "key id", "public key"];

/** Each key is a pair: RSA for the gateway's own signature, Ed25519 for that of Standard Webhooks. */
function describeKey(key: PublishedKey): (string | null)[][] {
  const until = key.publishedUntil === null ? null : toTime(key.publishedUntil);
  const times = [key.state, toTime(key.createdAt), toTime(key.signsFrom), until];
  return [
    [...times, `RSA ${key.rsa.asymmetricKeyDetails?.modulusLength}`, key.keyId, null],
    [...times, "Ed25519", key.ed25519KeyId, toStandardPublicKey(key.ed25519)],
  ];
}

function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

async function readGatewayKeys(gateway: string): Promise<VerifyingKeys> {
  const url = toGatewayUrl(gateway, "/v3/webhooks/keys");
  try {
    return parseKeys(await askGateway(url));
  } catch (cause) {
    throw new Error(`The keys could not be read from ${url.href}: ${messageOf(cause)}`, { cause });
  }
}

const pemBlock = /-----BEGIN PUBLIC KEY-----[\s\S]+?-----END PUBLIC KEY-----/g;
// The DER prefix of an Ed25519 public key; the 32 bytes of the key follow.
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex");

/** One or several keys, in any published format. */
function parseKeys(given: string): VerifyingKeys {
  const trimmed = given.trim();
  const keys = trimmed.startsWith("{")
    ? parseKeySet(trimmed)
    : trimmed.startsWith("whpk_")
      ? [parseStandardKey(trimmed)]
      : parsePem(trimmed);
  if (keys.length === 0) throw new Error("The input holds no public key. Give PEM, a JSON key set, or a whpk_… text.");
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

/** Names are in lower case. */
function readHeaders(given: string): Map<string, string> {
  const trimmed = given.trim();
  if (trimmed.startsWith("{"))
    return new Map(Object.entries(JSON.parse(trimmed)).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const headers = new Map<string, string>();
  for (const line of trimmed.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    // Skips the request line: it has a space before its first colon.
    if (colon < 1 || line.slice(0, colon).includes(" ")) continue;
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}
