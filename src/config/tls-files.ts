// The certificate and the private key of the gateway, read together with the rest of the configuration, so that a reload takes new ones and all
// processes serve the same.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf } from "../errors.ts";

export interface TlsFiles {
  /** PEM, with the intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

interface TlsSettings {
  readonly tls_cert: string | null;
  readonly tls_key: string | null;
}

type AddProblem = (member: keyof TlsSettings, message: string) => void;

/** Null without TLS, and when a problem was found. */
export function readTlsFiles({ tls_cert, tls_key }: TlsSettings, add: AddProblem): TlsFiles | null {
  if (tls_cert === null && tls_key === null) return null;
  if (tls_cert === null || tls_key === null) {
    const [missing, given] = tls_cert === null ? (["tls_cert", "KEY"] as const) : (["tls_key", "CERT"] as const);
    add(missing, `is not set, although SWITCHYARD_TLS_${given} is; set both`);
    return null;
  }
  const cert = readPem("tls_cert", tls_cert, (text) => new X509Certificate(text), add);
  const key = readPem("tls_key", tls_key, createPrivateKey, add);
  if (cert === null || key === null) return null;
  if (!cert.parsed.checkPrivateKey(key.parsed)) {
    add("tls_key", `the key in ${tls_key} does not belong to the certificate in ${tls_cert}`);
    return null;
  }
  return { cert: cert.text, key: key.text };
}

/** A certificate that has expired is served all the same: clients that do not check it still work. */
export function listTlsWarnings({ cert }: TlsFiles, now: number): string[] {
  const { validTo } = new X509Certificate(cert);
  return Date.parse(validTo) < now ? [`SWITCHYARD_TLS_CERT: the certificate expired on ${validTo}`] : [];
}

function readPem<Parsed>(
  member: keyof TlsSettings,
  file: string,
  parse: (text: string) => Parsed,
  add: AddProblem,
): { readonly text: string; readonly parsed: Parsed } | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    add(member, `cannot be read: ${messageOf(error)}`);
    return null;
  }
  try {
    return { text, parsed: parse(text) };
  } catch {
    const kind = member === "tls_cert" ? "certificate" : "private key without a passphrase";
    add(member, `${file} does not hold a ${kind} in PEM form`);
    return null;
  }
}
