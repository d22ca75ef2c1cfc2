// Secrets come from files as well: `NAME_FILE` for every secret setting, provider key and variable of switchyard.yaml.

import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromSnapshot, readConfig, toSnapshot } from "../../src/config.ts";
import { setUpProviders } from "../../src/provider-setup.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string, name: string = crypto.randomUUID()): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const noFile = { SWITCHYARD_CONFIG: write("") };

test("every secret setting is read from its file, without the line break at its end", () => {
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  const config = readConfig({
    ...noFile,
    SWITCHYARD_ADMIN_KEY_FILE: write("an-admin-key-of-a-file\n"),
    SWITCHYARD_ENCRYPTION_KEY_FILE: write(`${key}\r\n`),
    DATABASE_URL_FILE: write("postgres://u:p@db.example/switchyard\n"),
    HTTPS_PROXY_FILE: write("http://u:p@proxy.example:3128"),
    SWITCHYARD_EGRESS_PROXY_FILE: write("http://u:p@other.example:3128"),
    SWITCHYARD_FILES_S3_BUCKET: "b",
    SWITCHYARD_FILES_S3_ACCESS_KEY_ID_FILE: write("id"),
    SWITCHYARD_FILES_S3_SECRET_ACCESS_KEY_FILE: write("secret"),
    SWITCHYARD_FILES_S3_SESSION_TOKEN_FILE: write("token"),
  });
  expect(config).toMatchObject({
    adminKey: "an-admin-key-of-a-file",
    encryptionKey: key,
    databaseUrl: "postgres://u:p@db.example/switchyard",
    httpsProxy: "http://u:p@proxy.example:3128",
    egressProxy: "http://u:p@other.example:3128",
    filesS3AccessKeyId: "id",
    filesS3SecretAccessKey: "secret",
    filesS3SessionToken: "token",
  });
});

test("provider keys and variables of switchyard.yaml are read from files, in every process the same", () => {
  const file = write("sk-of-a-file\n");
  const environment = {
    SWITCHYARD_CONFIG: write('providers:\n  mine: { base_url: "http://127.0.0.1:9/v1", api_key: "${MY_KEY}" }\n'),
    MY_KEY_FILE: write("key-of-mine"),
    OPENAI_API_KEY_FILE: file,
    AWS_ACCESS_KEY_ID_FILE: write("id"),
    AWS_SECRET_ACCESS_KEY_FILE: write("secret"),
    AWS_REGION: "eu-central-1",
  };
  const config = readConfig(environment);
  expect(config.warnings).toEqual([]);
  const { providers } = setUpProviders(config);
  expect(providers.get("openai")).toMatchObject({ configured: true, secrets: ["sk-of-a-file"] });
  expect(providers.get("mine")?.secrets).toEqual(["key-of-mine"]);
  expect(providers.get("amazon")?.missingTaskSetting).toBeNull();
  // Another process gets what the supervisor has read, whatever the file holds by then.
  writeFileSync(file, "sk-changed");
  const received = fromSnapshot(structuredClone(toSnapshot(config)), environment);
  expect(received.readProviderSetting("OPENAI_API_KEY")).toBe("sk-of-a-file");
});

test("variables of other programs that end in _FILE do no harm", () => {
  const environment = {
    ...noFile,
    SSL_CERT_FILE: "/nowhere",
    LOG_FILE: folder,
    OTHER_TOKEN_FILE: write(""),
    _FILE: "x",
    SWITCHYARD_PRICES_FILE: "/none",
  };
  const config = readConfig(environment);
  expect(config.pricesFile).toBe("/none");
  expect(() => setUpProviders(config)).not.toThrow();
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is named", () => {
  const path = write("secret-content-1");
  chmodSync(path, 0o000);
  expect(() => readConfig({ ...noFile, SWITCHYARD_ADMIN_KEY_FILE: path })).toThrow(/cannot be read \(EACCES\)/);
});

test("the source of a setting is its file", () => {
  const path = write("an-admin-key-of-a-file");
  const { sources } = readConfig({ ...noFile, SWITCHYARD_ADMIN_KEY_FILE: path });
  expect(sources.admin_key).toEqual({ kind: "environment", variable: "SWITCHYARD_ADMIN_KEY_FILE" });
});
