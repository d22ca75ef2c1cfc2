// A certificate for a receiver on the developer's own machine. It signs itself, is good for a few names and for nothing else, and so can be
// trusted without trusting anybody. Written by hand (X.509 in DER), because neither the runtime nor every machine can make one.

import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

export interface LocalCertificate {
  /** Of the file to trust. */
  readonly path: string;
  readonly certificate: string;
  readonly key: string;
}

const validDays = 365;
const renewBeforeMs = 7 * 86_400_000;

/** The one in this folder, or a new one when that is not good for these names any more. */
export function openLocalCertificate(folder: string, names: readonly string[]): LocalCertificate {
  const path = join(folder, "certificate.pem");
  const keyPath = join(folder, "key.pem");
  if (!isStillGood(path, keyPath, names)) {
    const made = makeCertificate(names);
    mkdirSync(folder, { recursive: true });
    writeFileSync(keyPath, made.key, { mode: 0o600 });
    chmodSync(keyPath, 0o600);
    writeFileSync(path, made.certificate);
  }
  return { path, certificate: readFileSync(path, "utf8"), key: readFileSync(keyPath, "utf8") };
}

function isStillGood(path: string, keyPath: string, names: readonly string[]): boolean {
  if (!existsSync(path) || !existsSync(keyPath)) return false;
  try {
    const certificate = new X509Certificate(readFileSync(path));
    const covers = (name: string) =>
      (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
    return Date.parse(certificate.validTo) - renewBeforeMs > Date.now() && names.every(covers);
  } catch {
    return false;
  }
}

const ecdsaWithSha256 = sequence(identifier("2a8648ce3d040302"));

export function makeCertificate(names: readonly string[]): { certificate: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const now = Date.now();
  const owner = sequence(
    tagged(0x31, sequence(identifier("550403"), tagged(0x0c, Buffer.from("Switchyard local receiver")))),
  );
  const content = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
    // The first bit is cleared: a number with it would be negative.
    tagged(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    ecdsaWithSha256,
    owner,
    sequence(time(now - 86_400_000), time(now + validDays * 86_400_000)),
    owner,
    publicKey.export({ format: "der", type: "spki" }),
    tagged(
      0xa3,
      sequence(
        extension("551d13", sequence()), // basicConstraints: not an authority
        extension("551d25", sequence(identifier("2b06010505070301"))), // extendedKeyUsage: servers
        extension("551d11", sequence(...names.map(alternativeName))),
      ),
    ),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", content, privateKey)]);
  const certificate = sequence(content, ecdsaWithSha256, tagged(0x03, signature));
  return { certificate: toPem(certificate), key: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

function alternativeName(name: string): Buffer {
  return isIP(name) === 0 ? tagged(0x82, Buffer.from(name)) : tagged(0x87, addressBytes(name));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  // The URL parser spells an address in one way, without an IPv4 tail.
  const [head = "", tail = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), tagged(0x04, value));
}

function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function time(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...parts);
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function toPem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
