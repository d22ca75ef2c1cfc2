import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { hello } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-tls-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(import.meta.dir, "../support/tls", name);
const certificate = { SWITCHYARD_TLS_CERT: file("certificate.pem"), SWITCHYARD_TLS_KEY: file("key.pem") };
const ca = readFileSync(file("certificate.pem"), "utf8");

test("with a certificate, the gateway serves HTTPS and nothing else", async () => {
  await using gateway = await testGateway({ env: { ...certificate, SWITCHYARD_ADMIN_KEY: "mgmt-sy-tls-tls-tls-tls" } });
  const url = `https://localhost:${new URL(gateway.url).port}`;
  const send = (path: string, key: string, body?: object) =>
    fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      tls: { ca },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const created = await send("/v3/manage/keys", "mgmt-sy-tls-tls-tls-tls", { name: "over TLS" });
  const { key } = (await created.json()) as { key: string };
  expect((await send("/v3/chat/completions", key, hello)).status).toBe(200);
  const spoken = await send("/v3/universal-ai", key, { model: "audio/tts/sandbox", input: { text: "hello" } });
  const { output } = (await spoken.json()) as { output: { audio_resource_url: string } };
  expect(output.audio_resource_url).toStartWith(`${url}/`);
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
});

describe("a wrong certificate is refused with its setting and the reason", () => {
  const text = join(folder, "text.pem");
  writeFileSync(text, "no certificate");
  const missing = join(folder, "missing.pem");
  test.each([
    [{ ...certificate, SWITCHYARD_TLS_KEY: "" }, "SWITCHYARD_TLS_KEY", "set both"],
    [{ ...certificate, SWITCHYARD_TLS_CERT: "" }, "SWITCHYARD_TLS_CERT", "set both"],
    [{ ...certificate, SWITCHYARD_TLS_CERT: missing }, "SWITCHYARD_TLS_CERT", "ENOENT"],
    [{ ...certificate, SWITCHYARD_TLS_CERT: folder }, "SWITCHYARD_TLS_CERT", "cannot be read"],
    [{ ...certificate, SWITCHYARD_TLS_CERT: text }, "SWITCHYARD_TLS_CERT", "certificate in PEM form"],
    [{ ...certificate, SWITCHYARD_TLS_KEY: text }, "SWITCHYARD_TLS_KEY", "private key without a passphrase"],
    [{ ...certificate, SWITCHYARD_TLS_KEY: file("receivers-key.pem") }, "SWITCHYARD_TLS_KEY", "does not belong"],
  ])("%p", (env, setting, reason) => {
    const read = () => readConfig({ SWITCHYARD_CONFIG: "", ...env });
    expect(read).toThrow(setting);
    expect(read).toThrow(reason);
  });

  test.each([
    "app.example",
    "https://app.example/",
    "https://app.example/path",
    "https://*.example",
    "null",
  ])("so is the origin %s", (origin) => {
    expect(() => readConfig({ SWITCHYARD_CORS_ORIGINS: origin })).toThrow("origins such as https://app.example");
  });
});
