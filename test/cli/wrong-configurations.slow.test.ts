// Every wrong configuration is refused with the file and line where there is one, the value, and what to do about it. Some are refused by the
// real command: with exit code 2, a log of JSON lines to the last line, and no stack trace.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../src/config/config-file.ts";
import { ConfigError, readConfig } from "../../src/config.ts";
import { setUpProviders } from "../../src/provider-setup.ts";
import { createLimit } from "../support/at-once.ts";
import { gatewayProgram, runProgram } from "../support/run-program.ts";
import { isFullRun } from "../support/test-size.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-wrong-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Wrong {
  readonly yaml?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of the file. */
  readonly line?: number;
  /** All of them are in the output. */
  readonly says: readonly string[];
  readonly code?: number;
}

const atOnce = createLimit(3);
/** One problem of each source: the syntax of the file, the file, the environment; in a full run also those with checks of their own. */
const byCommand = new Set([
  ...["a bracket that is not closed", "a misspelt member", "an invalid port in the environment"],
  ...(isFullRun
    ? ["a misspelt provider", "a negative budget of new keys", "another database", "a host of another machine"]
    : []),
  ...(isFullRun ? ["a file that is not there", "a secret in a folder", "conversations without a key"] : []),
]);
const secret = "hunter2-hunter2";
const busy = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
afterAll(() => busy.stop(true));
const file = join(folder, "a-file");
writeFileSync(file, "");
const secretFile = join(folder, "a-secret");
writeFileSync(secretFile, `${secret}\n`);
const largeFile = join(folder, "a-large-file");
writeFileSync(largeFile, secret.repeat(10_000));

const wrong: Readonly<Record<string, Wrong>> = {
  "a negative budget of new keys": {
    yaml: "port: 1\ndefaults:\n  key:\n    budget:\n      amount: -1\n",
    line: 5,
    says: ["defaults.key.budget.amount", "greater than or equal to 0"],
  },
  "a misspelt limit of new teams": {
    yaml: "defaults:\n  team: { rate_limits: {} }\n",
    line: 2,
    says: ["defaults.team.rate_limits", "rate_limit'"],
  },
  "defaults of something else": { yaml: "defaults: { user: {} }\n", line: 1, says: ["defaults.user"] },
  "defaults that are a text": { yaml: "defaults: many\n", line: 1, says: ["defaults", "object"] },
  "an unknown time zone of new keys": {
    yaml: "defaults:\n  key:\n    budget: { amount: 0, time_zone: Europe/Berlim }\n",
    line: 3,
    says: ["defaults.key.budget.time_zone", "Europe/Berlin"],
  },
  "a raise as a default": {
    yaml: "defaults:\n  key:\n    budget: { amount: 0, raise: { amount: 1, until: '2040-01-01T00:00:00Z' } }\n",
    line: 3,
    says: ["defaults.key.budget.raise"],
  },
  "a default pattern with a space": {
    yaml: 'defaults:\n  team:\n    allowed_models:\n      - "openai/*"\n      - "a b"\n',
    line: 5,
    says: ["defaults.team.allowed_models.1"],
  },
  "a bracket that is not closed": { yaml: "port: 8080\naliases: [a\n", line: 3, says: ["]"] },
  "a brace that is not closed": { yaml: "providers: { openai: {\n", line: 2, says: ["}"] },
  "a quote that is not closed": { yaml: 'port: 1\nhost: "127.0.0.1\n', line: 3, says: ["quote"] },
  "a tab as indentation": { yaml: "providers:\n\topenai: {}\n", line: 2, says: ["Tabs"] },
  "a member twice": { yaml: "port: 1\nhost: localhost\nport: 2\n", line: 3, says: ["unique"] },
  "an indentation that does not fit": { yaml: "port: 1\n  host: x\n", line: 1, says: ["mapping"] },
  "an anchor that does not exist": { yaml: "port: 1\nhost: *place\n", line: 2, says: ["place"] },
  "an alias inside its own anchor": {
    yaml: "port: 1\nproviders: &all\n  openai: *all\n",
    line: 3,
    says: ["*all", "write the value"],
  },
  "an anchor that does not exist, above a bracket that is not closed": {
    yaml: "host: *place\naliases: [a\n",
    line: 1,
    says: ["place"],
  },
  "a tag that has no meaning": { yaml: "port: !secret 1\n", line: 1, says: ["!secret"] },
  "two documents": { yaml: "port: 1\n---\nport: 2\n", line: 2, says: ["document"] },
  "a list instead of members": { yaml: "- port: 1\n", line: 1, says: ["providers:"] },
  "a misspelt member": { yaml: "host: 127.0.0.1\nprot: 1\n", line: 2, says: ["'prot'", "'port'"] },
  "a misspelt variable": { env: { SWITCHYARD_PROT: "1" }, says: ["SWITCHYARD_PROT", "'SWITCHYARD_PORT'"] },
  "a misspelt member of responses": {
    yaml: "responses:\n  store_for_al: true\n",
    line: 2,
    says: ["responses_store_for_al", "'responses_store_for_all'"],
  },
  "an invalid port in the file": { yaml: "port: 70000\n", line: 1, says: ["65535", "'70000'"] },
  "an invalid port in the environment": { env: { SWITCHYARD_PORT: "http" }, says: ["SWITCHYARD_PORT", "'http'"] },
  "a level that does not exist": { yaml: "\nlog_level: loud\n", line: 2, says: ["debug, info, warn, error", "'loud'"] },
  "a number of workers in words": { env: { SWITCHYARD_WORKERS: "many" }, says: ["whole number", "'many'"] },
  "yes for true": { yaml: "responses: { store_for_all: yes }\n", line: 1, says: ["true or false", "'yes'"] },
  "conversations without a key": {
    yaml: "responses: { store_for_all: true }\n",
    line: 1,
    says: ["SWITCHYARD_ENCRYPTION_KEY", "openssl rand -base64 32"],
  },
  "an encryption key that is too short": { env: { SWITCHYARD_ENCRYPTION_KEY: "abc" }, says: ["32 bytes"] },
  "a bucket without credentials": {
    yaml: "files_s3_bucket: b\n",
    line: 1,
    says: ["SWITCHYARD_FILES_S3_ACCESS_KEY_ID", "set both"],
  },
  "a public address without its scheme": { yaml: "public_url: gateway.example\n", line: 1, says: ["https://gateway"] },
  "an invalid address range": { env: { SWITCHYARD_EGRESS_ALLOW: "10.0.0.0/99" }, says: ["10.0.0.0/99", "10.0.0.0/8"] },
  "a name server by name": { env: { SWITCHYARD_EGRESS_DNS: "dns.example" }, says: ["dns.example", "10.0.0.2"] },
  "a proxy without its scheme": { env: { SWITCHYARD_EGRESS_PROXY: "proxy:3128" }, says: ["http://user"] },
  "a management key that is too short": { env: { SWITCHYARD_ADMIN_KEY: "short" }, says: ["at least 16", "has 5"] },
  "another database": { env: { DATABASE_URL: `mysql://u:${secret}@h/d` }, says: ["postgres://user:password@host"] },
  "one port for two listeners": {
    yaml: "port: 8081\nadmin_port: 8081\n",
    line: 2,
    says: ["8081", "choose another port"],
  },
  "a host with a port": { env: { SWITCHYARD_HOST: "127.0.0.1:80" }, says: ["'127.0.0.1:80'", "SWITCHYARD_PORT"] },
  "a host with a scheme": { yaml: "host: http://localhost\n", line: 1, says: ["'http://localhost'", "127.0.0.1"] },
  "a host of another machine": { env: { SWITCHYARD_HOST: "203.0.113.7" }, says: ["203.0.113.7", "0.0.0.0"] },
  "a host that is no address": { env: { SWITCHYARD_HOST: "999.1.1.1" }, says: ["999.1.1.1", "127.0.0.1"] },
  "a file that is not there": {
    env: { SWITCHYARD_CONFIG: join(folder, "none.yaml") },
    says: ["none.yaml", "unset it"],
  },
  "a folder as file": { env: { SWITCHYARD_CONFIG: folder }, says: ["is a folder", "switchyard.yaml"] },
  "a variable that is not set": {
    yaml: 'providers:\n  mine:\n    base_url: "http://${MY_HOST}/v1"\n',
    line: 3,
    says: ["providers.mine.base_url", "MY_HOST is not set"],
  },
  "an invalid variable name": { yaml: 'host: "${a-b}"\n', line: 1, says: ["${a-b}", "${NAME}"] },
  "providers as a list": { yaml: "providers: [openai]\n", line: 1, says: ["names with their settings"] },
  "a provider as a text": { yaml: "providers:\n  openai: key\n", line: 2, says: ["{ api_key"] },
  "a provider in capitals": { yaml: "providers: { OpenAI: {} }\n", line: 1, says: ["lower-case"] },
  "a prototype as a provider": {
    yaml: "providers:\n  __proto__: { base_url: http://x }\n",
    line: 2,
    says: ["lower-case"],
  },
  "a misspelt provider": {
    yaml: 'port: 0\nproviders:\n  opnai: { api_key: "k" }\n',
    line: 3,
    says: ["'opnai'", "'openai'", "base_url"],
  },
  "the configuration of a LiteLLM proxy": {
    yaml: "model_list:\n  - model_name: a\ngeneral_settings: {}\n",
    line: 1,
    says: ["'model_list'", "config import", "general_settings: unknown member"],
  },
  "the name of a variable in the file": {
    yaml: "SWITCHYARD_PORT: 8081\nDATABASE_URL: x\n",
    line: 1,
    says: ["'SWITCHYARD_PORT'", "write 'port'", "write 'database_url'"],
  },
  "a variable without quotes in braces": {
    yaml: "port: 1\nproviders:\n  openai: { api_key: ${OPENAI_API_KEY} }\n",
    line: 3,
    says: ['quotation marks: "${OPENAI_API_KEY}"'],
  },
  "a variable without quotes in brackets": { yaml: "no_proxy: [${A}]\n", line: 1, says: ['quotation marks: "${A}"'] },
  "a key without a value": {
    yaml: "providers:\n  openai:\n    api_key:\n",
    line: 3,
    says: ["providers.openai.api_key", "and is empty"],
  },
  "an address without a value": {
    yaml: "providers:\n  openai:\n    base_url:\n",
    line: 3,
    says: ["providers.openai.base_url", "and is empty"],
  },
  "the address of an endpoint": {
    yaml: "providers:\n  mine:\n    base_url: http://127.0.0.1:9/v1/chat/completions\n",
    line: 3,
    says: ["providers.mine.base_url", "'http://127.0.0.1:9/v1'"],
  },
  "the address of an endpoint in the environment": {
    env: { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "https://api.anthropic.com/v1/messages/" },
    says: ["ANTHROPIC_BASE_URL", "'https://api.anthropic.com/v1'"],
  },
  "a misspelt member of a provider": {
    yaml: "providers:\n  openai:\n    api_kye: x\n",
    line: 3,
    says: ["'api_kye'", "'api_key'"],
  },
  "an address of a provider without its scheme": {
    yaml: "providers:\n  mine: { base_url: localhost:1 }\n",
    line: 2,
    says: ["'localhost:1'", "https://example.com/v1"],
  },
  "an address of a provider in the environment": {
    env: { OPENAI_BASE_URL: "nowhere", OPENAI_API_KEY: "k" },
    says: ["OPENAI_BASE_URL", "'nowhere'"],
  },
  "an address of a task vendor in the environment": {
    env: { DEEPL_BASE_URL: "nowhere", DEEPL_API_KEY: "k" },
    says: ["DEEPL_BASE_URL", "'nowhere'"],
  },
  "a dialect that does not exist": {
    yaml: 'providers:\n  mine: { base_url: "http://x/v1", dialect: klingon }\n',
    line: 2,
    says: ["'klingon'", "anthropic"],
  },
  "a key with a line break": {
    yaml: `providers:\n  openai: { api_key: "${secret}\\nx" }\n`,
    line: 2,
    says: ["a character that a header cannot carry"],
  },
  "a key that is a number": {
    yaml: "providers:\n  openai: { api_key: 12345678 }\n",
    line: 2,
    says: ["should be a text"],
  },
  "models as a text": { yaml: "providers: { openai: { models: gpt-5 } }\n", line: 1, says: ["a list of model names"] },
  "a task that does not exist": {
    yaml: 'providers:\n  mine: { base_url: "http://x/v1", tasks: [text/moderatoin] }\n',
    line: 2,
    says: ["'text/moderation'"],
  },
  "no deployments": { yaml: "providers:\n  openai: { deployments: [] }\n", line: 2, says: ["at least one"] },
  "a weight of zero": {
    yaml: "providers:\n  openai:\n    deployments:\n      - { weight: 0 }\n",
    line: 4,
    says: ["above 0", "'0'"],
  },
  "two deployments of one name": {
    yaml: "providers:\n  openai:\n    deployments:\n      - { name: a }\n      - { name: a }\n",
    line: 5,
    says: ["'a' is used twice"],
  },
  "an alias with a slash": { yaml: "aliases: { a/b: openai/gpt-5 }\n", line: 1, says: ["no slash"] },
  "an alias without a provider": { yaml: "aliases:\n  fast: gpt-5\n", line: 2, says: ["<provider>/<model>"] },
  "an alias to a provider that does not exist": {
    yaml: "port: 0\naliases:\n  fast: [openai/gpt-5, grok/grok-4]\n",
    line: 3,
    says: ["'grok'", "'groq'"],
  },
  "an alias to a task that does not exist": {
    yaml: "port: 0\naliases:\n  check: text/moderatoin/openai\n",
    line: 3,
    says: ["'text/moderatoin'", "'text/moderation'"],
  },
  "a price without a provider": {
    yaml: "port: 0\nprices:\n  gpt-5: { input: 1 }\n",
    line: 3,
    says: ["<provider>/<model>"],
  },
  "a misspelt price": { yaml: "port: 0\nprices:\n  openai/x: { inptu: 1 }\n", line: 3, says: ["'inptu'", "input"] },
  "a price of a provider that does not exist": {
    yaml: "port: 0\nprices:\n  opnai/gpt-5: { input: 1 }\n",
    line: 3,
    says: ["'opnai'", "'openai'"],
  },
  "allowed models of a provider that does not exist": {
    yaml: 'port: 0\ndefaults:\n  key:\n    allowed_models:\n      - "*"\n      - antropic/*\n',
    line: 6,
    says: ["'antropic'", "'anthropic'"],
  },
  "a limit of a model whose provider does not exist": {
    yaml: "port: 0\ndefaults:\n  team:\n    model_limits:\n      - { model: grok/*, budget: { amount: 1 } }\n",
    line: 5,
    says: ["'grok'", "'groq'"],
  },
  "a fallback to a provider that does not exist": {
    yaml: "port: 0\naliases:\n  safe:\n    - openai/gpt-5\n    - azur/gpt-5\n",
    line: 5,
    says: ["aliases.safe.1", "'azur'", "'azure'"],
  },
  "a provider that does not exist and is switched off": {
    yaml: "port: 0\nproviders:\n  sandbx: false\n",
    line: 3,
    says: ["'sandbx'", "'sandbox'"],
  },
  "a misspelt variable in the file": {
    yaml: 'providers:\n  mine:\n    base_url: "http://${MY_HSOT}/v1"\n',
    env: { MY_HOST: "127.0.0.1" },
    line: 3,
    says: ["MY_HSOT is not set", "'MY_HOST'"],
  },
  "a setting and a file of the same secret": {
    env: { SWITCHYARD_ADMIN_KEY: "a-key-of-16-letters", SWITCHYARD_ADMIN_KEY_FILE: secretFile },
    says: ["SWITCHYARD_ADMIN_KEY_FILE", "SWITCHYARD_ADMIN_KEY is set as well", "keep one"],
  },
  "a secret in a file that is not there": {
    env: { DATABASE_URL_FILE: join(folder, "no-secret") },
    says: ["DATABASE_URL_FILE", "no-secret", "unset DATABASE_URL_FILE"],
  },
  "a secret in an empty file": {
    env: { SWITCHYARD_ENCRYPTION_KEY_FILE: file },
    says: ["SWITCHYARD_ENCRYPTION_KEY_FILE", file, "is empty"],
  },
  "a secret in a folder": {
    env: { SWITCHYARD_ADMIN_KEY_FILE: folder },
    says: ["SWITCHYARD_ADMIN_KEY_FILE", "not a regular file"],
  },
  "a secret in a file that is too large": {
    env: { SWITCHYARD_ADMIN_KEY_FILE: largeFile },
    says: ["SWITCHYARD_ADMIN_KEY_FILE", "at most 65536"],
  },
  "a wrong secret in a file": {
    env: { SWITCHYARD_ENCRYPTION_KEY_FILE: secretFile },
    says: ["SWITCHYARD_ENCRYPTION_KEY_FILE", "32 bytes"],
  },
  "a file of a setting that is no secret": {
    env: { SWITCHYARD_PORT_FILE: secretFile },
    says: ["SWITCHYARD_PORT_FILE", "only secrets", "set the value"],
  },
  "a misspelt file of a secret": {
    env: { SWITCHYARD_ADMIN_KY_FILE: secretFile },
    says: ["SWITCHYARD_ADMIN_KY_FILE", "'SWITCHYARD_ADMIN_KEY_FILE'"],
  },
  "a provider key and a file of it": {
    env: { OPENAI_API_KEY: "k", OPENAI_API_KEY_FILE: secretFile },
    says: ["OPENAI_API_KEY_FILE", "OPENAI_API_KEY is set as well"],
  },
  "a provider key in a file that is not there": {
    env: { OPENAI_API_KEY_FILE: join(folder, "no-key") },
    says: ["OPENAI_API_KEY_FILE", "no-key"],
  },
  "a variable of the file whose secret file is empty": {
    yaml: 'providers:\n  openai:\n    api_key: "${MY_KEY}"\n',
    env: { MY_KEY_FILE: file },
    line: 3,
    says: ["providers.openai.api_key", "MY_KEY_FILE", "is empty"],
  },
  "a data folder that is a file": { env: { SWITCHYARD_DATA_DIR: file }, says: [file, "not a folder", "name a folder"] },
  "a data folder below a file": { env: { SWITCHYARD_DATA_DIR: join(file, "x") }, says: [join(file, "x"), "file"] },
  "a data folder where there can be none": {
    env: { SWITCHYARD_DATA_DIR: "/proc/switchyard" },
    says: ["/proc/switchyard"],
  },
  "a port in use": {
    env: { SWITCHYARD_PORT: String(busy.port) },
    says: [String(busy.port), "in use", "SWITCHYARD_PORT"],
    code: 1,
  },
  "a PostgreSQL that does not answer": {
    env: { DATABASE_URL: `postgres://u:${secret}@127.0.0.1:1/shop` },
    says: ["127.0.0.1:1", "'shop'", "DATABASE_URL"],
    code: 1,
  },
};

for (const [name, { yaml, env = {}, line, says, code = 2 }] of Object.entries(wrong)) {
  const refuses = async () => {
    const config = join(folder, `${crypto.randomUUID()}.yaml`);
    if (yaml !== undefined) writeFileSync(config, yaml);
    const environment = {
      PATH: process.env["PATH"],
      SWITCHYARD_PORT: "0",
      SWITCHYARD_WORKERS: "1",
      SWITCHYARD_JOB_WORKERS: "0",
      SWITCHYARD_DATA_DIR: join(folder, crypto.randomUUID()),
      SWITCHYARD_LOG_FORMAT: "json",
      ...(yaml === undefined ? {} : { SWITCHYARD_CONFIG: config }),
      ...withoutFileSettings(yaml),
      ...env,
    };
    const problem = byCommand.has(name) ? null : readProblem(environment);
    const message = problem ?? (await serveAndFail(environment, code));
    for (const text of says) expect(message).toContain(text);
    if (line !== undefined) expect(message).toMatch(new RegExp(`^${RegExp.escape(config)}:${line}:\\d+: `));
    expect(message).not.toContain(secret);
  };
  test.concurrent(`${name} is refused with its place and a remedy`, () => atOnce(refuses));
}

/** The message of `switchyard config check`; null if it accepts the settings, and the command has to refuse them later. */
function readProblem(environment: Environment): string | null {
  try {
    setUpProviders(readConfig(environment));
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
}

async function serveAndFail(environment: Environment, code: number): Promise<string | undefined> {
  // A gateway that accepts the configuration would run for ever, and keep the other cases waiting.
  const options = { cwd: folder, env: environment, timeoutMs: 30_000 };
  const { code: exitCode, out: output, errors } = await runProgram([...gatewayProgram, "serve"], options);
  const lines = `${output}${errors}`.split("\n").filter((one) => one !== "");
  const messages = lines.map((one) => JSON.parse(one) as { level: string; message: string });
  const errorMessages = messages.filter(({ level }) => level === "error").map(({ message }) => message);
  expect([exitCode, errorMessages.length]).toEqual([code, 1]);
  expect(output).not.toMatch(/\n\s+at /);
  expect(output).not.toContain(secret);
  expect(output).not.toContain('"stack"');
  return errorMessages[0];
}

/** A setting that a case writes into the file must not be overridden by the environment. */
function withoutFileSettings(yaml = ""): Record<string, string> {
  return /^port:/m.test(yaml) ? { SWITCHYARD_PORT: "" } : {};
}

test("there are at least forty wrong configurations", () => {
  expect(Object.keys(wrong).length).toBeGreaterThanOrEqual(40);
});
