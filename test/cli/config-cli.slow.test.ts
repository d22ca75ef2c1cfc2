import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewayProgram, runProgram } from "../support/run-program.ts";
import { writeStore } from "../support/store-template.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-config-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(words: string, env: Readonly<Record<string, string>> = {}) {
  const options = { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder, ...env } };
  const { code, out, errors } = await runProgram([...gatewayProgram, ...words.split(" ")], options);
  return { code, text: out, errors, json: () => JSON.parse(out) };
}

function write(text: string, name = `${crypto.randomUUID()}.yaml`): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("switchyard config check", () => {
  test("accepts a valid file, names its providers, and creates nothing", async () => {
    const file = write('providers:\n  mine: { base_url: "http://127.0.0.1:9/v1" }\naliases: { fast: mine/small }\n');
    const { code, text } = await run(`config check --config ${file}`, { GROQ_API_KEY: "k" });
    expect(code).toBe(0);
    expect(text).toBe(`${file} is valid. Configured providers: groq, mine.\n`);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  test("reports all problems of the providers at once, each with its place", async () => {
    const file = write(
      'port: 8080\nproviders:\n  opnai: { api_key: "x" }\n  sandbx: false\naliases:\n  fast: [groq/a, grok/b]\nprices:\n  antropic/x: { input: 1 }\n',
    );
    const { code, errors } = await run(`config check --config ${file}`);
    expect(code).toBe(2);
    expect(errors.trim().split("\n")).toEqual([
      expect.stringMatching(/:3:3: providers\.opnai: .*'openai'/),
      expect.stringMatching(/:4:3: providers\.sandbx: .*'sandbox'/),
      expect.stringMatching(/:6:18: aliases\.fast\.1: .*'groq'/),
      expect.stringMatching(/:8:3: prices\.antropic\/x: .*'anthropic'/),
      "4 problems.",
    ]);
  });

  test("reports wrong members and wrong names of providers together, also those of the environment", async () => {
    const file = write("prot: 1\nlog_level: loud\naliases: { fast: grok/b }\n");
    const { errors } = await run(`config check --config ${file}`, {
      SWITCHYARD_PROT: "1",
      OPENAI_API_KEY_FILE: "/none",
    });
    expect(errors.trim().split("\n")).toEqual([
      expect.stringContaining("SWITCHYARD_PROT: unknown setting; did you mean 'SWITCHYARD_PORT'?"),
      expect.stringContaining("OPENAI_API_KEY_FILE: there is no file /none"),
      expect.stringContaining(":1:1: prot: "),
      expect.stringContaining(":2:1: log_level: "),
      expect.stringContaining(":3:12: aliases.fast: "),
      "5 problems.",
    ]);
  });

  test("as JSON a problem has file, line, column, path and message", async () => {
    const file = write("port: 8080\nprot: 1\n");
    const { code, json } = await run(`config check --config ${file} --json`);
    expect(code).toBe(2);
    expect(json()).toEqual({
      valid: false,
      file,
      problems: [{ path: "prot", message: "unknown member 'prot'; did you mean 'port'?", file, line: 2, column: 1 }],
      warnings: [],
      providers: [],
    });
  });

  test("warns of a key that is not set and of a misspelt variable; --strict refuses both", async () => {
    const file = write('providers:\n  openai:\n    api_key: "${NOT_SET}"\n');
    const env = { ANTROPIC_API_KEY: "k", UNRELATED_API_KEY: "k" };
    const checked = (await run(`config check --config ${file} --json`, env)).json();
    expect(checked).toMatchObject({
      valid: true,
      warnings: [
        { path: "providers.openai.api_key", line: 3, message: expect.stringContaining("NOT_SET is not set") },
        { path: "ANTROPIC_API_KEY", message: expect.stringContaining("'ANTHROPIC_API_KEY'") },
      ],
    });
    const strict = await run(`config check --config ${file} --strict`, env);
    expect([strict.code, strict.errors.trim().split("\n").length]).toEqual([2, 3]);
  });
});

describe("switchyard config show", () => {
  test("shows where every setting and provider comes from, and no secret", async () => {
    const dataDir = join(folder, "stored");
    await writeStore(dataDir);
    const file = write(
      'log_level: warn\nproviders:\n  mine: { base_url: "http://127.0.0.1:9/v1", api_key: "secret-of-mine-123456" }\n',
    );
    const env = {
      SWITCHYARD_PORT: "9001",
      SWITCHYARD_DATA_DIR: dataDir,
      SWITCHYARD_ADMIN_KEY: "secret-of-admin-123456",
      HTTPS_PROXY: "http://user:secret-proxy@proxy.example:3128",
      GROQ_API_KEY: "secret-of-groq-123456",
      SWITCHYARD_ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
      KEY: "secret-of-openai-123456",
    };
    const stored = await run("providers set openai --api-key secret-of-openai-123456 --json", env);
    expect(stored.code).toBe(0);
    const { code, text, json } = await run(`config show --config ${file} --json`, env);
    expect(code).toBe(0);
    expect(text).not.toContain("secret-");
    const shown = json();
    const setting = (name: string) => shown.settings.find((one: { name: string }) => one.name === name);
    expect(setting("port")).toMatchObject({
      value: 9001,
      source: { kind: "environment", variable: "SWITCHYARD_PORT" },
    });
    expect(setting("log_level")).toMatchObject({ value: "warn", source: { kind: "file", line: 1, file } });
    expect(setting("host")).toMatchObject({ value: "127.0.0.1", source: { kind: "default" } });
    expect(setting("admin_key").value).toBe("[hidden]");
    expect(setting("https_proxy").value).toBe("http://user:hidden@proxy.example:3128/");
    const keyOf = (name: string) => shown.providers.find((one: { name: string }) => one.name === name)?.in_force[0].key;
    expect(keyOf("mine")).toEqual({ kind: "file", name: "providers.mine.api_key" });
    expect(keyOf("groq")).toEqual({ kind: "environment", name: "GROQ_API_KEY" });
    expect(keyOf("openai")).toEqual({ kind: "store", name: null });
    expect(shown.store).toEqual({ read: true, reason: null });
    const table = (await run(`config show --config ${file}`, env)).text;
    expect(table).toMatch(/^SETTING +VALUE +FROM$/m);
    expect(table).toMatch(/^SWITCHYARD_LOG_LEVEL +warn +file, line 1$/m);
    expect(table).toMatch(/^openai +configured +store +https:\/\/api\.openai\.com\/v1 +default$/m);
    expect(table).not.toContain("secret-");
  });

  test("shows the sign-in with OpenID Connect and the limits of new keys, without the secret", async () => {
    const file = write(
      'oidc:\n  issuer: https://id.example\n  client_id: dashboard\n  client_secret: "${CLIENT_SECRET}"\n  roles: [{ group: staff, role: viewer }]\ndefaults:\n  key: { rate_limit: { requests_per_minute: 60 } }\n',
    );
    const env = { SWITCHYARD_DATA_DIR: join(folder, "nothing"), CLIENT_SECRET: "secret-of-client-123456" };
    const { text } = await run(`config show --config ${file}`, env);
    expect(text).toMatch(/^oidc\.issuer +https:\/\/id\.example +file, line 2$/m);
    expect(text).toMatch(/^oidc\.client_secret +\[hidden\] +file, line 4$/m);
    expect(text).toMatch(/^oidc\.groups_claim +groups +default$/m);
    expect(text).toMatch(/^oidc\.roles +.*"group":"staff".* +file, line 5$/m);
    expect(text).toMatch(/^defaults\.key\.rate_limit +.*60.* +file, line 7$/m);
    expect(text).not.toContain("secret-of-client");
    const { json } = await run("config show --json", { SWITCHYARD_DATA_DIR: join(folder, "nothing") });
    expect(json().settings.find((one: { name: string }) => one.name === "oidc")).toMatchObject({ value: null });
  });

  test("works without a store, and does not create one", async () => {
    const { code, json } = await run("config show --json", { SWITCHYARD_DATA_DIR: join(folder, "nothing") });
    expect(code).toBe(0);
    expect(json().store).toEqual({ read: false, reason: expect.stringContaining("There is no store") });
    expect(existsSync(join(folder, "nothing"))).toBe(false);
  });
});

test("switchyard config schema prints the schema that the documentation links to", async () => {
  const { code, json } = await run("config schema");
  expect(code).toBe(0);
  expect(json()).toEqual(JSON.parse(readFileSync(join(root, "docs/switchyard.schema.json"), "utf8")));
});

describe("switchyard config import", () => {
  test("writes a new file that passes the check, and says what it left out", async () => {
    const input = write(
      "model_list:\n  - model_name: fast\n    litellm_params:\n      model: groq/llama-3.3-70b-versatile\n      temperature: 0\n",
    );
    const output = join(folder, "converted.yaml");
    const { code, errors } = await run(`config import ${input} --output ${output}`);
    expect(code).toBe(0);
    expect(errors).toContain(`${input}:5: model_list.0.litellm_params.temperature: `);
    expect(readFileSync(output, "utf8")).toContain("fast: groq/llama-3.3-70b-versatile");
    expect((await run(`config check --strict --config ${output}`)).code).toBe(0);
    // A second run must not replace what the operator may have edited.
    expect(await run(`config import ${input} --output ${output}`)).toMatchObject({
      code: 2,
      errors: expect.stringContaining("exists already"),
    });
  });

  test("names the place of a syntax error, and a file that is not there", async () => {
    const input = write("model_list:\n  - model_name: *\n");
    expect(await run(`config import ${input}`)).toMatchObject({
      code: 2,
      errors: expect.stringContaining(`${input}:2:`),
    });
    expect(await run("config import none.yaml")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("none.yaml"),
    });
  });
});
