import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import published from "../../docs/switchyard.schema.json";
import { camelCaseOf, settings, variableOf } from "../../src/config/settings.ts";
import { listSettings } from "../../src/config/shown-settings.ts";
import { readConfig, secretsOf } from "../../src/config.ts";
import { configureProviders } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

function writeFile(text: string): string {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  writeFileSync(path, text);
  return path;
}

describe("the JSON Schema of switchyard.yaml", () => {
  const schema = z.fromJSONSchema(published as z.core.JSONSchema.JSONSchema);
  const accepts = (text: string) => schema.safeParse(Bun.YAML.parse(text)).success;

  test("accepts the example in docs/settings.md", async () => {
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(await Bun.file("docs/settings.md").text()) ?? [];
    expect(example).toContain("providers:");
    expect(accepts(example)).toBe(true);
  });

  test.each(
    [
      "port: 8081",
      'port: "${PORT}"',
      "egress_allow: 10.0.0.0/8, fd00::/8",
      "egress_allow: [10.0.0.0/8]",
      "responses: { store_for_all: true }",
      'providers: { mine: { base_url: "${ADDRESS}", deployments: [{ name: a, weight: 2 }] }, sandbox: false }',
      "aliases: { fast: [{ model: openai/gpt-5, weight: 0.5 }] }",
      "prices: { openai/gpt-5: { input: 1 } }",
      "defaults: { key: { budget: null, allowed_models: [openai/*], tags: { a: b } }, team: { rate_limit: { tokens_per_minute: 9 } } }",
    ].map((text) => [text]),
  )("accepts %s", (text) => {
    expect(accepts(text)).toBe(true);
  });

  test.each(
    [
      "prot: 8081",
      "port: 70000",
      "log_level: loud",
      "providers: { mine: { base_url: localhost } }",
      "providers: { mine: { tasks: [text/moderatoin] } }",
      "aliases: { fast: gpt-5 }",
      "prices: { openai/gpt-5: { inptu: 1 } }",
      "defaults: { keys: {} }",
      "defaults: { key: { rate_limit: { requests_per_minute: 0 } } }",
    ].map((text) => [text]),
  )("refuses %s", (text) => {
    expect(accepts(text)).toBe(false);
  });
});

describe("settings", () => {
  test("docs/settings.md states the default of every setting as the environment would state it", async () => {
    const page = await Bun.file("docs/settings.md").text();
    const defaults = readConfig({});
    for (const [name, schema] of Object.entries(settings)) {
      const variable = variableOf(name);
      const [, shown = ""] = new RegExp(`^\\| \`${variable}\` \\| ([^|]*) \\|`, "m").exec(page) ?? [];
      const member = camelCaseOf(name) as keyof typeof defaults;
      const value = defaults[member];
      if (schema.meta()?.["shownDefault"] !== undefined) continue;
      if (value === null) expect([name, shown]).toEqual([name, "unset"]);
      else if (shown === "empty") expect([name, value]).toEqual([name, []]);
      else expect([name, readConfig({ [variable]: shown })[member]]).toEqual([name, value]);
    }
  });

  test("limits of new keys and teams are read, also numbers from variables, and there are none by default", () => {
    expect(readConfig({}).defaults).toEqual({ key: {}, team: {} });
    const yaml = `defaults:
  key:
    rate_limit: { requests_per_minute: "\${RATE}" }
    tags: { amount: "7" }
  team:
    allowed_models: ["openai/*"]
`;
    expect(readConfig({ SWITCHYARD_CONFIG: writeFile(yaml), RATE: "60" }).defaults).toMatchObject({
      key: { rate_limit: { requests_per_minute: 60, requests_per_second: null }, tags: { amount: "7" } },
      team: { allowed_models: ["openai/*"] },
    });
  });

  test("the proxy variables are read in upper and in lower case, and the upper-case name wins", () => {
    const lower = { https_proxy: "http://lower.example:3128", no_proxy: "a.example" };
    expect(readConfig(lower)).toMatchObject({ httpsProxy: "http://lower.example:3128", noProxy: ["a.example"] });
    const upper = { HTTPS_PROXY: "http://upper.example:3128", NO_PROXY: "b.example" };
    expect(readConfig({ ...lower, ...upper })).toMatchObject({
      httpsProxy: "http://upper.example:3128",
      noProxy: ["b.example"],
    });
    expect(() => readConfig({ https_proxy: "https://proxy.example" })).toThrow("https_proxy: should be an address");
    expect(() => readConfig({ data_dir: "x", https_proxy: "" })).not.toThrow();
    expect(readConfig({ data_dir: "/elsewhere" }).dataDir).not.toBe("/elsewhere");
  });

  test("have the documented defaults", () => {
    const config = readConfig({ SWITCHYARD_CONFIG: writeFile("") });
    expect([config.host, config.port, config.databaseUrl, config.adminKey]).toEqual(["127.0.0.1", 8080, null, null]);
    expect(config.workers).toBeGreaterThan(0);
  });

  test("can stand in the file, and the environment wins", () => {
    const file = writeFile("port: 9000\nlog_level: warn\n");
    const config = readConfig({ SWITCHYARD_CONFIG: file, SWITCHYARD_PORT: "9001" });
    expect([config.port, config.logLevel]).toEqual([9001, "warn"]);
  });

  test("that are wrong are all named at once", () => {
    const environment = {
      SWITCHYARD_CONFIG: writeFile("prot: 1\nproviders: [a]\naliases: { a/b: x }\n"),
      SWITCHYARD_PORT: "70000",
      SWITCHYARD_WORKERS: "many",
      SWITCHYARD_LOG_LEVEL: "loud",
    };
    expect(() => readConfig(environment)).toThrow(
      /SWITCHYARD_WORKERS.*\n(?:.*\n)*.*SWITCHYARD_LOG_LEVEL(?:.*\n)*.*'prot'.*\n.*providers:.*\n.*aliases\.a\/b/,
    );
    expect(() => readConfig(environment)).toThrow(/SWITCHYARD_PORT/);
  });

  test("a file that is named and not there is an error", () => {
    expect(() => readConfig({ SWITCHYARD_CONFIG: join(folder, "none.yaml") })).toThrow(/no file/);
  });

  test("a database address gives away neither form of its password", () => {
    const config = readConfig({ SWITCHYARD_CONFIG: writeFile(""), DATABASE_URL: "postgres://u:p%40ss-word@h/d" });
    expect(secretsOf(config)).toEqual(["p%40ss-word", "p@ss-word"]);
  });

  test("a password in the query of a database address is not shown", () => {
    const address = "postgres://u@h/d?sslmode=require&sslpassword=secret";
    const config = readConfig({ SWITCHYARD_CONFIG: writeFile(""), DATABASE_URL: address });
    const shown = listSettings(config).find(({ name }) => name === "database_url");
    expect(shown?.value).toBe("postgres://u@h/d?sslmode=require&sslpassword=hidden");
  });

  test("an address whose path is a credential does not appear in logs, and an origin does", () => {
    const webhook = "https://alerts.example/hooks/secret";
    const config = readConfig({
      SWITCHYARD_CONFIG: writeFile(""),
      SWITCHYARD_BUDGET_ALERT_WEBHOOK: webhook,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example:4318",
    });
    expect(secretsOf(config)).toEqual([webhook]);
  });

  test.each([
    "SWITCHYARD_BUDGET_ALERT_WEBHOOK",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  ])("%s that is no address is refused, and the message does not repeat it", (variable) => {
    const environment = { SWITCHYARD_CONFIG: writeFile(""), [variable]: "ftp://alerts.example/secret" };
    expect(() => readConfig(environment)).toThrow(new RegExp(`^${variable}: should be an address such as`));
    expect(() => readConfig(environment)).not.toThrow(/secret/);
  });

  test.each([
    ["a percent sign in the password", "postgres://u:100%secret@h/d"],
    ["a percent sign in the user's name", "postgres://50%u:secret@h/d"],
    ["a percent sign in the name of the database", "postgres://u:secret@h/d%"],
    ["bytes that are no text", "postgres://u:secret%ff@h/d"],
  ])("a database address with %s is refused, and the message does not repeat it", (_, address) => {
    const environment = { SWITCHYARD_CONFIG: writeFile(""), DATABASE_URL: address };
    expect(() => readConfig(environment)).toThrow(/^DATABASE_URL: .*write % as %25/);
    expect(() => readConfig(environment)).not.toThrow(/secret/);
  });

  test.each([
    ["HTTPS_PROXY", "http://u:100%secret@proxy.example:3128"],
    ["SWITCHYARD_EGRESS_PROXY", "http://50%u:secret@proxy.example:3128"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "authorization=100%secret"],
    ["OTEL_RESOURCE_ATTRIBUTES", "team=50%secret"],
  ])("a percent sign in %s that begins no escape is refused, and the message does not repeat the value", (name, value) => {
    const environment = { SWITCHYARD_CONFIG: writeFile(""), [name]: value };
    expect(() => readConfig(environment)).toThrow(new RegExp(`^${name}: .*write % as %25`));
    expect(() => readConfig(environment)).not.toThrow(/secret/);
  });

  test("a database address whose port is not a number is refused", () => {
    const environment = { SWITCHYARD_CONFIG: writeFile(""), DATABASE_URL: "postgres://u:secret@h:port/d" };
    expect(() => readConfig(environment)).toThrow(/^DATABASE_URL: should have the form postgres:/);
  });
});

function configure(text: string, environment: Record<string, string> = {}) {
  const config = readConfig({ ...environment, SWITCHYARD_CONFIG: writeFile(text) });
  return configureProviders(rows, config.providers, config.readProviderSetting);
}

describe("providers", () => {
  test("are set up by their key in the environment", () => {
    const provider = configure("", { OPENAI_API_KEY: "sk-test" }).get("openai");
    expect(provider).toMatchObject({ configured: true, missingSetting: null, secrets: ["sk-test"] });
    expect(provider?.deployments[0]?.headerLines).toContain("authorization: Bearer sk-test\r\n");
  });

  test("without their key name the setting that is missing", () => {
    expect(configure("").get("openai")).toMatchObject({ configured: false, missingSetting: "OPENAI_API_KEY" });
  });

  test("an address can be overridden, and an empty variable counts as unset", () => {
    const providers = configure("", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1/", OPENAI_API_KEY: "" });
    expect(providers.get("openai")).toMatchObject({ missingSetting: "OPENAI_API_KEY", configured: false });
    const withKey = configure("", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1/", OPENAI_API_KEY: "k" });
    expect(withKey.get("openai")?.deployments[0]?.baseUrl).toBe("http://127.0.0.1:1/v1");
  });

  test("in the file variables are filled in", () => {
    const file = 'providers:\n  in-house: { base_url: "http://127.0.0.1:9/v1", api_key: "${IN_HOUSE_KEY}" }\n';
    expect(configure(file, { IN_HOUSE_KEY: "secret-1" }).get("in-house")).toMatchObject({
      configured: true,
      secrets: ["secret-1"],
    });
  });

  test.each([
    ["a part of a key", 'openai: { api_key: "sk-${OA}" }', "openai.api_key"],
    ["one of two parts of a key", 'openai: { api_key: "${SET}${OA}" }', "openai.api_key"],
    ["a header", 'openai: { headers: { api_key: "${OA}" } }', "openai.headers.api_key"],
    [
      "a header of a deployment",
      'openai: { deployments: [{ headers: { api_key: "${OA}" } }] }',
      "openai.deployments.0.headers.api_key",
    ],
  ])("a variable that is not set is refused as %s", (_, written, path) => {
    expect(() => configure(`providers: { ${written} }`, { SET: "sk-" })).toThrow(
      `providers.${path}: the variable OA is not set`,
    );
  });

  test("a variable that is not set is allowed as the whole key of a provider or a deployment", () => {
    const ofProvider = configure('providers: { openai: { api_key: "${OA}" } }').get("openai");
    expect(ofProvider).toMatchObject({ configured: false, missingSetting: "OA (providers.openai.api_key)" });
    const ofDeployment = configure('providers: { openai: { deployments: [{ api_key: "${OA}" }] } }').get("openai");
    expect(ofDeployment).toMatchObject({
      configured: false,
      missingSetting: "OA (providers.openai.deployments.0.api_key)",
    });
  });

  test("a new one needs an address and a dialect that is known", () => {
    expect(() => configure("providers: { mine: {} }")).toThrow(/base_url/);
    expect(() => configure('providers: { mine: { base_url: "http://x/v1", dialect: klingon } }')).toThrow(/klingon/);
  });

  test("a member that is not known or not of its form is named", () => {
    expect(() => configure("providers: { mine: { base_ulr: x } }")).toThrow(
      /:1:22: providers\.mine\.base_ulr: unknown member 'base_ulr'; did you mean 'base_url'/,
    );
    expect(() => configure("providers: { mine: { base_url: localhost } }")).toThrow(/providers\.mine\.base_url/);
    expect(() => configure("providers: { openai: { models: gpt } }")).toThrow(/providers\.openai\.models/);
  });

  test("a task that does not exist is named, with the one that is nearest", () => {
    const tasks = (names: string) => configure(`providers: { mine: { base_url: "http://x/v1", tasks: [${names}] } }`);
    expect(tasks("text/moderation, ocr/ocr_async").get("mine")?.declaredTasks).toEqual([
      "text/moderation",
      "ocr/ocr_async",
    ]);
    const nearest: Readonly<Record<string, string>> = {
      "text/moderatoin": "text/moderation",
      "text/sentiment": "text/sentiment_analysis",
      "audio/text_to_speech": "audio/tts",
      "ocr/ocr_asyn": "ocr/ocr_async",
      "images/generation": "image/generation",
    };
    for (const [written, meant] of Object.entries(nearest))
      expect(() => tasks(`ocr/ocr, ${written}`)).toThrow(
        `providers.mine.tasks.1: there is no task '${written}'; did you mean '${meant}'?`,
      );
    expect(() => tasks("moderation")).toThrow(/providers\.mine\.tasks\.0: there is no task 'moderation'/);
    expect(() => tasks("42")).toThrow(/providers\.mine\.tasks\.0: there is no task '42'$/);
    expect(() => configure("providers: { mine: { tasks: text/moderation } }")).toThrow(
      /providers\.mine\.tasks: should be a list of tasks such as/,
    );
    expect(() => configure("providers: { mine: { default_model: { text/moderatoin: m } } }")).toThrow(
      /providers\.mine\.default_model\.text\/moderatoin: there is no task 'text\/moderatoin'; did you mean 'text\/moderation'\?/,
    );
  });

  test("an address with a placeholder names the setting that fills it", () => {
    const missing = configure("", { CLOUDFLARE_API_KEY: "k" }).get("cloudflare")?.missingSetting;
    expect(missing).toBe("CLOUDFLARE_ACCOUNT_ID");
  });
});
