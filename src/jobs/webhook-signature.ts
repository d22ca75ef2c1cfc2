// Signs and verifies webhooks in two schemes: X-Service-Signature, an RSA signature of the hexadecimal digest of the body, and Standard
// Webhooks, an Ed25519 signature of id, time and body.

import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { canonicalizeJsonText, toCanonicalJson } from "./canonical-json.ts";
import type { SigningKeys } from "./webhook-keys.ts";

export interface SignedMessage {
  /** The same for all attempts of one delivery. */
  readonly id: string;
  readonly timestampSeconds: number;
  /** Canonical JSON. */
  readonly body: Uint8Array;
}

/** The headers that identify and sign a webhook. */
export async function signWebhook(message: SignedMessage, keys: SigningKeys): Promise<Record<string, string>> {
  const { id, timestampSeconds, body } = message;
  const content = toSignedContent(id, timestampSeconds, body);
  const [signature, ...standard] = await Promise.all([
    signDigest(body, keys.rsa),
    ...keys.ed25519.map((key) => signAsync(null, content, key)),
  ]);
  return {
    "X-Service-Webhook": "true",
    "X-Service-Signature": signature,
    "X-Service-Hash-Algorithm": "SHA256",
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": standard.map((one) => `v1a,${one.toString("base64")}`).join(" "),
  };
}

/** SHA-256 is applied twice: to the body, and, within the signature, to the hexadecimal text of that digest. */
export async function signDigest(body: Uint8Array, key: KeyObject): Promise<string> {
  return (await signAsync("sha256", digestOf(body), key)).toString("hex");
}

/** Runs on another thread, because an RSA signature would block the event loop for milliseconds. */
function signAsync(algorithm: "sha256" | null, content: Buffer, key: KeyObject): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  sign(algorithm, content, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  return promise;
}

function digestOf(body: Uint8Array): Buffer {
  return Buffer.from(createHash("sha256").update(body).digest("hex"));
}

function toSignedContent(id: string, timestampSeconds: number | string, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`), body]);
}

export interface WebhookToVerify {
  readonly body: Uint8Array;
  /** Returns the value of a header by its lower-case name; null if it is missing. */
  readonly header: (name: string) => string | null;
  readonly keys: VerifyingKeys;
  /** Null: do not check the time, for a webhook that was saved earlier. */
  readonly nowMs: number | null;
}

export interface VerifyingKeys {
  readonly rsa: readonly KeyObject[];
  readonly ed25519: readonly KeyObject[];
}

export interface WebhookCheck {
  readonly scheme: "X-Service-Signature" | "Standard Webhooks";
  readonly isGood: boolean;
  /** The reason, or a remark about a valid signature. */
  readonly says: string;
}

const toleranceSeconds = 300;

/** One check per scheme whose header is present. An empty list: the webhook is not signed. */
export function verifyWebhook(webhook: WebhookToVerify): readonly WebhookCheck[] {
  return [checkService(webhook), checkStandard(webhook)].filter((check) => check !== null);
}

function checkService({ body, header, keys }: WebhookToVerify): WebhookCheck | null {
  const scheme = "X-Service-Signature";
  const given = header("x-service-signature");
  if (given === null) return null;
  const bad = (says: string): WebhookCheck => ({ scheme, isGood: false, says });

  const algorithm = header("x-service-hash-algorithm");
  if (algorithm !== null && algorithm !== "SHA256")
    return bad(`X-Service-Hash-Algorithm is ${quote(algorithm)}; only SHA256 is known`);
  const text = given.trim();
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return bad("the signature is not hexadecimal");
  if (keys.rsa.length === 0) return bad("there is no RSA key to check it with");
  const signature = Buffer.from(text, "hex");
  const lengths = keys.rsa.map((key) => (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (!lengths.includes(signature.length))
    return bad(`the signature has ${signature.length} bytes; one of this key has ${lengths[0]}`);

  const isSigned = (bytes: Uint8Array) => keys.rsa.some((key) => verify("sha256", digestOf(bytes), key, signature));
  if (isSigned(body)) return { scheme, isGood: true, says: "good" };
  const reformatted = "good; the body was reformatted on the way, and its canonical form was signed";
  if (toCanonicalForms(body).some(isSigned)) return { scheme, isGood: true, says: reformatted };
  return bad("the body was changed, or another key signed it");
}

function checkStandard({ body, header, keys, nowMs }: WebhookToVerify): WebhookCheck | null {
  const scheme = "Standard Webhooks";
  const given = header("webhook-signature");
  if (given === null) return null;
  const bad = (says: string): WebhookCheck => ({ scheme, isGood: false, says });

  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  if (id === null || timestamp === null)
    return bad(`the header ${id === null ? "webhook-id" : "webhook-timestamp"} is missing`);
  if (!/^\d{1,12}$/.test(timestamp)) return bad(`webhook-timestamp is ${quote(timestamp)}, not a number of seconds`);
  if (keys.ed25519.length === 0) return bad("there is no Ed25519 key to check it with");
  const signatures = given
    .split(" ")
    .flatMap((one) => (one.startsWith("v1a,") ? [Buffer.from(one.slice(4), "base64")] : []));
  if (signatures.length === 0) return bad("webhook-signature holds no signature of the kind v1a");
  const content = toSignedContent(id, timestamp, body);
  // For a signature of the wrong length, some builds of OpenSSL return false and others throw.
  const isSigned = signatures.some(
    (one) => one.length === 64 && keys.ed25519.some((key) => verify(null, content, key, one)),
  );
  if (!isSigned) return bad("the id, time or body was changed, or another key signed it");
  const ageSeconds = nowMs === null ? 0 : Math.round(nowMs / 1000) - Number(timestamp);
  if (Math.abs(ageSeconds) > toleranceSeconds)
    return bad(`it was signed ${describeAge(ageSeconds)}; more than ${toleranceSeconds} seconds are not accepted`);
  return { scheme, isGood: true, says: "good" };
}

/** The canonical forms that receivers in Python and in JavaScript would compute; empty if the body is not JSON. */
function toCanonicalForms(body: Uint8Array): Buffer[] {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return [canonicalizeJsonText(text), toCanonicalJson(JSON.parse(text))].map((form) => Buffer.from(form));
  } catch {
    return [];
  }
}

function describeAge(seconds: number): string {
  return seconds > 0 ? `${seconds} seconds ago` : `${-seconds} seconds in the future`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}
