// A self-signed certificate for a webhook receiver on the developer's own machine. It is valid for a few names and for no other purpose,
// so trusting it does not mean trusting an authority. The `openssl` program makes it.

import { execFileSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

export interface LocalCertificate {
  /** The file that a client has to trust. */
  readonly path: string;
  readonly certificate: string;
  readonly key: string;
}

const validDays = 365;
const renewBeforeMs = 7 * 86_400_000;
const timeoutMs = 10_000;

/** The certificate in this folder, or a new one when it expires soon or does not cover these names. */
export function openLocalCertificate(folder: string, names: readonly string[]): LocalCertificate {
  const path = join(folder, "certificate.pem");
  const keyPath = join(folder, "key.pem");
  if (!isValid(path, keyPath, names)) {
    mkdirSync(folder, { recursive: true });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    writeFileSync(keyPath, privateKey.export({ format: "pem", type: "pkcs8" }), { mode: 0o600 });
    chmodSync(keyPath, 0o600);
    makeCertificate(path, keyPath, names);
  }
  return { path, certificate: readFileSync(path, "utf8"), key: readFileSync(keyPath, "utf8") };
}

function isValid(path: string, keyPath: string, names: readonly string[]): boolean {
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

function makeCertificate(path: string, keyPath: string, names: readonly string[]): void {
  const alternativeNames = names.map((name) => `${isIP(name) === 0 ? "DNS" : "IP"}:${name}`).join(",");
  // A file instead of options: LibreSSL and old versions of OpenSSL lack -addext.
  const configPath = `${path}.cnf`;
  writeFileSync(
    configPath,
    `[req]
prompt = no
distinguished_name = subject
x509_extensions = extensions
[subject]
CN = Switchyard local receiver
[extensions]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = ${alternativeNames}
`,
  );
  const options = ["-key", keyPath, "-config", configPath, "-out", path, "-days", String(validDays)];
  try {
    execFileSync("openssl", ["req", "-x509", "-new", "-sha256", ...options], { stdio: "pipe", timeout: timeoutMs });
  } catch (cause) {
    const isMissing = (cause as { readonly code?: string }).code === "ENOENT";
    const reason = isMissing ? "the program openssl was not found" : `openssl failed: ${(cause as Error).message}`;
    throw new Error(
      `No certificate could be made: ${reason}. Install OpenSSL, or use --http behind a proxy with TLS.`,
      {
        cause,
      },
    );
  } finally {
    rmSync(configPath, { force: true });
  }
}
