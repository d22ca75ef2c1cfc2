// GET /v3/manage/settings: the settings in force, where they come from, and no secret.

import { expect, test } from "bun:test";
import type { SettingsInForce } from "../../src/contract/settings.ts";
import { version } from "../../src/version.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { testGateway } from "../support/test-gateway.ts";

const encryptionKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");

test("shows every setting with its source, and hides secrets", async () => {
  await using gateway = await testGateway({
    env: {
      SWITCHYARD_RETRIES: "3",
      SWITCHYARD_ENCRYPTION_KEY: encryptionKey,
      SWITCHYARD_EGRESS_PROXY: "http://user:secret-of-proxy@127.0.0.1:3128",
      SWITCHYARD_BUDGET_ALERT_WEBHOOK:
        "https://user:secret-of-user@example.com/hooks/secret-of-path?token=secret-of-query",
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example/otlp/secret-of-collector",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector.example:4318",
      OTEL_SDK_DISABLED: "true",
    },
    config: {
      log_level: "warn",
      oidc: {
        issuer: "http://127.0.0.1:9",
        client_id: "dashboard",
        client_secret: "secret-of-client",
        roles: [{ group: "staff", role: "viewer" }],
      },
      defaults: { key: { rate_limit: { requests_per_minute: 60 } } },
    },
  });
  const shown = (await gateway.manage("GET", "/settings")) as SettingsInForce;
  const text = JSON.stringify(shown);
  for (const secret of ["secret-of-", providerSecret, gateway.adminKey, encryptionKey])
    expect(text).not.toContain(secret);
  const find = (name: string) => shown.settings.find((one) => one.name === name);
  expect(find("retries")).toMatchObject({
    variable: "SWITCHYARD_RETRIES",
    value: 3,
    source: { kind: "environment", variable: "SWITCHYARD_RETRIES" },
    description: expect.stringContaining("Retries"),
  });
  expect(find("log_level")).toMatchObject({ value: "warn", source: { kind: "file", line: 2 } });
  expect(find("idle_timeout_ms")).toMatchObject({ value: 60_000, source: { kind: "default" } });
  expect(find("encryption_key")?.value).toBe("[hidden]");
  expect(find("egress_proxy")?.value).toBe("http://user:hidden@127.0.0.1:3128/");
  expect(find("budget_alert_webhook")?.value).toBe("https://user:hidden@example.com/[hidden]");
  expect(find("otel_exporter_otlp_endpoint")?.value).toBe("https://collector.example/[hidden]");
  expect(find("otel_exporter_otlp_traces_endpoint")?.value).toBe("https://collector.example:4318/");
  expect(find("oidc.issuer")).toMatchObject({ variable: null, value: "http://127.0.0.1:9", source: { kind: "file" } });
  expect(find("oidc.client_secret")?.value).toBe("[hidden]");
  expect(find("oidc.scopes")).toMatchObject({ value: ["openid", "profile", "email"], source: { kind: "default" } });
  expect(find("defaults.key.rate_limit")?.value).toMatchObject({ requests_per_minute: 60 });
  expect(shown).toMatchObject({ version, data_dir: gateway.dataFolder, store: "sqlite", configuration: null });
  expect(shown.engines.length).toBeGreaterThan(3);
});
