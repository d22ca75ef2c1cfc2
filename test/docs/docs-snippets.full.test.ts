// Every fenced block of README.md, CONTRIBUTING.md and docs/ does what it says: commands run against a gateway that was started from
// this checkout, programs run with the SDKs that they import, configuration starts a gateway. Vendors are loopback servers.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json";
import { runCommand } from "../../src/cli/commands.ts";
import { readConfig } from "../../src/config.ts";
import { startGateway } from "../../src/gateway.ts";
import { openWebhookKeys } from "../../src/jobs/webhook-keys.ts";
import { signWebhook } from "../../src/jobs/webhook-signature.ts";
import { quiet } from "../contracts/engines.ts";
import { completion } from "../support/answers.ts";
import { type Commands, startCommands } from "../support/commands.ts";
import { findFreePort } from "../support/free-port.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { runProgram } from "../support/run-program.ts";
import { writeStore } from "../support/store-template.ts";
import { waitFor } from "../support/wait.ts";

const root = join(import.meta.dir, "../..");
const usualAddress = "http://127.0.0.1:8080";
const encryptionKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");

interface Snippet {
  readonly place: string;
  readonly language: string;
  readonly text: string;
}

/** Lines that are not run here, and why. Their commands are still checked to exist. */
const notRun: Readonly<Record<string, string>> = {
  "npm ci && npm start":
    "npm ci would replace the packages of the running tests; the gateway here is started as npm start does",
  "npm ci && npm test": "npm ci would replace the packages of the running tests, and npm test runs this test",
  "npm ci": "it would replace the packages of the running tests",
  "npm run check": "it runs in every change's own check",
  "npm test": "it runs this test",
  "npm run test:quick": "it runs tests within tests",
  "npm run test:full": "it runs this test",
  "npm run format": "it would change files",
  "npm run bench": "it takes minutes, and measures",
  "npm run bench -- --only P1,P2": "it takes minutes, and measures",
  "npm run bench -- --quick": "it takes minutes, and measures",
  "npm run bench -- --json > result.json": "it takes minutes, and measures",
  "npm run bench -- --json --only P1,P2,P7,P9,PG,STREAMS > result.json": "it takes minutes, and measures",
  "cp deploy/example.env deploy/.env": "it would write to the checkout",
  "cp deploy/example.gateway.env deploy/gateway.env": "it would write to the checkout",
  "npm ci && npm pack":
    "npm ci would replace the packages of the running tests; test/packaging packs, installs and serves",
  "npm install --prefix ~/switchyard ./switchyard-gateway-*.tgz": "there is no packed file here",
  "cd ~/switchyard && npx switchyard-gateway serve": "nothing is installed there",
  "node bin/bun.mjs run scripts/prices.ts": "it writes the file of prices",
  "npx switchyard-gateway engines add speech": "it fetches packages from a registry",
  "npx switchyard-gateway engines remove speech": "it would remove packages of the running tests",
};

/** Commands that run until they are stopped, and what they print when they are ready. */
const untilStopped: Readonly<Record<string, RegExp>> = {
  "npx switchyard-gateway webhooks listen": /^Listening on https:/m,
  "NODE_EXTRA_CA_CERTS=./data/webhook-listener/certificate.pem SWITCHYARD_EGRESS_ALLOW=127.0.0.1/32 npx switchyard-gateway serve":
    /"message":"serving"/,
};

/** Programs that these tests do not start, because they need root, a container engine or a cluster. The files that they are given must exist. */
const otherPrograms = /^(?:sudo|docker|helm|kubectl) /;

/** Blocks without a language: drawings, and messages as they go over the wire. */
const notCode = new Set(["ARCHITECTURE.md", "docs/webhooks.md"]);

const files = ["README.md", "CONTRIBUTING.md", ...new Bun.Glob("docs/*.md").scanSync(root)].toSorted();
const snippets = files.flatMap(readSnippets);

function readSnippets(file: string): Snippet[] {
  const page = readFileSync(join(root, file), "utf8");
  return Array.from(page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ({ 1: language = "", 2: text = "", index }) => ({
    place: `${file}:${page.slice(0, index).split("\n").length}`,
    language,
    text,
  }));
}

// A folder that looks like a checkout and has a data folder of its own.
const folder = mkdtempSync(join(tmpdir(), "switchyard-docs-"));
const tools = join(folder, "tools");
let url = "";
let gateway: Bun.Subprocess;
let commands: Commands;
let output = "";

const sentiment = JSON.stringify({ general_sentiment: "Positive", general_sentiment_rate: 1, items: [] });
// Answers in the documented formats of OpenAI and Gemini, with invented contents.
const vendor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const content = (await request.text()).includes("sentiment") ? sentiment : "Hello";
    if (new URL(request.url).pathname.includes(":generateContent"))
      return Response.json({
        candidates: [{ content: { role: "model", parts: [{ text: content }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      });
    return Response.json(completion(content, { model: "gpt-5" }));
  },
});

function environment(): Record<string, string> {
  const address = `http://127.0.0.1:${vendor.port}`;
  return {
    PATH: `${tools}:${process.env["PATH"]}`,
    HOME: folder,
    SWITCHYARD_PORT: new URL(url).port,
    SWITCHYARD_WORKERS: "1",
    SWITCHYARD_DRAIN_DELAY_MS: "0",
    // The commands must work beside programs that use every core.
    SWITCHYARD_LOCAL_NICENESS: "0",
    SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS: "110000",
    SWITCHYARD_OVERLOAD_DELAY_MS: "60000",
    SWITCHYARD_ENCRYPTION_KEY: encryptionKey,
    ...{ OPENAI_BASE_URL: address, OPENAI_API_KEY: "k-1", GEMINI_BASE_URL: address, GEMINI_API_KEY: "k-2" },
  };
}

beforeAll(async () => {
  url = `http://127.0.0.1:${await findFreePort()}`;
  for (const name of [
    "package.json",
    "bin",
    "src",
    "node_modules",
    "examples",
    "engines",
    "scripts",
    "bench",
    "deploy",
  ])
    symlinkSync(join(root, name), join(folder, name));
  mkdirSync(tools);
  // A refused request has to fail the command, and npx would take seconds to find what is here.
  writeTool("curl", `exec ${Bun.which("curl")} --fail-with-body --max-time 110 "$@"`);
  commands = await startCommands({ folder, env: environment() });
  writeTool("npx", `[ "$1" = switchyard-gateway ] || exit 1; shift\n${toGatewayCommand(commands)}`);
  gateway = Bun.spawn(["node", "bin/switchyard.mjs", "serve"], {
    cwd: folder,
    env: environment(),
    stdout: "pipe",
    stderr: "ignore",
  });
  void (async () => {
    for await (const bytes of gateway.stdout as ReadableStream<Uint8Array>) output += Buffer.from(bytes).toString();
  })();
  await waitFor("the gateway", () => output.includes('"message":"serving"'));
  await storeCallback();
});

afterAll(async () => {
  gateway?.kill("SIGTERM");
  await gateway?.exited;
  await commands?.[Symbol.asyncDispose]();
  await vendor.stop(true);
  rmSync(folder, { recursive: true });
});

/**
 * A process for each command would take a third of the time of this file. Only what reads standard input, starts or stops something, or has
 * options that stand for settings gets one. test/cli/launcher.slow.test.ts is about the program itself.
 */
function toGatewayCommand({ socket }: Commands): string {
  return `case "$1 $2 $*" in
  *--config*|*--data-dir*|"providers set"*) ;;
  keys*|teams*|usage*|requests*|audit*|config*|providers*|"webhooks keys"*|"webhooks rotate-key"*|"webhooks drop-old-keys"*)
    printf '%s\\0' "$@" | ${Bun.which("curl")} -sS --fail-with-body --unix-socket ${socket} --data-binary @- http://commands/
    exit ;;
esac
exec node "${folder}/bin/switchyard.mjs" "$@"`;
}

function writeTool(name: string, script: string): void {
  writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(tools, name), 0o755);
}

/** As `webhooks listen --save` stores one: signed with the gateway's own keys. */
async function storeCallback(): Promise<void> {
  await fetch(`${url}/v3/webhooks/public-key`);
  const storage = await openTestStorage({ dataDir: join(folder, "data"), encryptionKey });
  try {
    const keys = await openWebhookKeys({ secrets: storage.secrets, log: quiet }).signing();
    const body = Buffer.from('{\n  "event": "async_job_completed"\n}');
    const headers = await signWebhook(
      { id: crypto.randomUUID(), timestampSeconds: Math.floor(Date.now() / 1000), body },
      keys,
    );
    writeFileSync(join(folder, "1.json"), body);
    writeFileSync(join(folder, "1.headers"), toHeaderLines(headers));
  } finally {
    await storage.close();
  }
}

function toHeaderLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");
}

interface Ran {
  readonly code: number;
  readonly text: string;
}

async function run(command: readonly string[], env: Record<string, string> = {}, cwd = folder): Promise<Ran> {
  const { code, out, errors } = await runProgram(command, { cwd, env: { ...environment(), ...env } });
  return { code, text: `${out}${errors}` };
}

const readKey = () => readFileSync(join(folder, "data", "first-keys", "inference.key"), "utf8").trim();
const here = (text: string) => text.replaceAll(usualAddress, url);

/** Joined where a line is continued, without comments. */
function commandsOf(text: string): string[] {
  const lines = text.replaceAll(/\\\n\s*/g, " ").replaceAll(/\|\n\s*/g, "| ");
  return lines
    .split("\n")
    .map((line) => line.replace(/\s{2,}# .*$/, "").trim())
    .filter((line) => line !== "");
}

async function runShell(text: string): Promise<void> {
  const commands = commandsOf(text);
  for (const command of commands) checkScript(command);
  for (const command of commands.filter((one) => untilStopped[one] !== undefined)) await runUntilReady(command);
  const rest = commands.filter(
    (command) => notRun[command] === undefined && untilStopped[command] === undefined && !otherPrograms.test(command),
  );
  if (rest.length === 0) return;
  const ran = await run(["sh", "-e", "-u", "-c", here(rest.join("\n"))], { KEY: readKey() });
  expect(ran).toMatchObject({ code: 0 });
}

/** A script of package.json or a file that a command names has to exist, whether or not it is run here. */
function checkScript(command: string): void {
  for (const [, script = ""] of command.matchAll(/\bnpm run ([\w:-]+)/g))
    expect(Object.keys(packageJson.scripts)).toContain(script);
  for (const [, file = ""] of command.matchAll(/\b(?:node|run) ([\w./-]+\.(?:ts|mjs))\b/g))
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  if (!otherPrograms.test(command)) return;
  // The operator writes deploy/gateway.env.
  for (const [file = ""] of command.matchAll(/\bdeploy\/[\w./-]+/g))
    expect([file, existsSync(join(root, file)) || file === "deploy/gateway.env"]).toEqual([file, true]);
}

async function runUntilReady(command: string): Promise<void> {
  const own = { SWITCHYARD_PORT: String(await findFreePort()), SWITCHYARD_DATA_DIR: join(folder, "other-data") };
  const env = /(?:serve|switchyard-gateway)$/.test(command) ? own : {};
  const child = Bun.spawn(
    ["sh", "-c", `exec env ${command.replace("npx switchyard-gateway", "node bin/switchyard.mjs")}`],
    {
      cwd: folder,
      env: { ...environment(), ...env },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  let printed = "";
  void (async () => {
    for await (const bytes of child.stdout) printed += Buffer.from(bytes).toString();
  })();
  try {
    const isReady = () => (untilStopped[command] as RegExp).test(printed);
    await waitFor(`${command} to be ready`, isReady);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

async function runJavaScript(text: string): Promise<void> {
  const place = mkdtempSync(join(folder, "program-"));
  symlinkSync(join(root, "test", "tools", "node_modules"), join(place, "node_modules"));
  writeFileSync(join(place, "program.mjs"), here(text));
  const ran = await run(["node", "program.mjs"], { KEY: readKey() }, place);
  expect(ran).toMatchObject({ code: 0, text: expect.stringContaining("Hello") });
}

/** A gateway starts with it, with every variable that it names. */
async function startWith(yaml: string): Promise<void> {
  const place = mkdtempSync(join(folder, "configured-"));
  const configFile = join(place, "switchyard.yaml");
  writeFileSync(configFile, yaml);
  const dataFolder = join(place, "data");
  await writeStore(dataFolder, "withWebhookKeys");
  const names = Array.from(yaml.matchAll(/\$\{(\w+)\}/g), ([, name = ""]) => name);
  const values = names.map((name) => [
    name,
    name.includes("ENCRYPTION") ? btoa("0123456789abcdef".repeat(2)) : "value-1",
  ]);
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ...others } = environment();
  const config = readConfig({
    ...others,
    SWITCHYARD_PORT: "0",
    SWITCHYARD_CONFIG: configFile,
    SWITCHYARD_DATA_DIR: dataFolder,
    SWITCHYARD_JOB_WORKERS: "0",
    ...Object.fromEntries(values),
  });
  expect(config.warnings).toEqual([]);
  const gateway = await startGateway(config, quiet, () => Promise.resolve());
  try {
    const scheme = config.tls === null ? "http" : "https";
    const tls = { rejectUnauthorized: false };
    expect((await fetch(`${scheme}://127.0.0.1:${gateway.port}/healthz`, { tls })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
}

const runners: Readonly<Record<string, (text: string) => Promise<void>>> = {
  sh: runShell,
  js: runJavaScript,
  yaml: startWith,
  python: async (text) => {
    await run(["sh", "-c", `curl -s ${url}/v3/webhooks/public-key > public-key.pem`]);
    // Without its packages the program is compiled alone.
    const imports = text.match(/^(?:import|from) .*$/gm)?.join("\n") ?? "";
    const hasPackages = (await run(["python3", "-c", imports])).code === 0;
    const program = hasPackages ? here(text) : `compile(${JSON.stringify(text)}, "snippet", "exec")`;
    expect(await run(["python3", "-c", program], { KEY: readKey() })).toMatchObject({ code: 0 });
  },
  json: async (text) => void JSON.parse(text),
};

// In the order of the pages, the rotation of keys last: it would make the stored callback's key an old one.
const ordered = snippets.toSorted(
  (one, other) => Number(/rotate-key/.test(one.text)) - Number(/rotate-key/.test(other.text)),
);

for (const { place, language, text } of ordered) {
  if (language === "" && notCode.has(place.split(":")[0] ?? "")) continue;
  test(`${place} works as written`, async () => {
    const runner = runners[language];
    if (runner === undefined)
      throw new Error(`A block of language '${language}' cannot be checked: name sh, js, yaml, python or json.`);
    await runner(text);
  });
}

test("the pages have commands, programs and configuration", () => {
  expect(new Set(snippets.map(({ language }) => language))).toEqual(
    new Set(["", "sh", "js", "yaml", "python", "json"]),
  );
  const lines = snippets.filter(({ language }) => language === "sh").flatMap(({ text }) => commandsOf(text));
  // What is not run is still on a page.
  for (const line of [...Object.keys(notRun), ...Object.keys(untilStopped)]) expect(lines).toContain(line);
});

test("every command that a sentence names exists", async () => {
  const named = new Set<string>();
  for (const file of files) {
    const page = readFileSync(join(root, file), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
    for (const [, words = ""] of page.matchAll(/`(?:npx )?switchyard(?:-gateway)? ((?:[a-z][a-z-]* ?)+)[^`]*`/g)) {
      const [noun = "", ...verbs] = words.trim().split(" ");
      named.add([noun, ...verbs.slice(0, 1)].join(" "));
    }
  }
  expect(named.size).toBeGreaterThan(3);
  for (const words of named) {
    const code = await runCommand([...words.split(" "), "--help"], { print() {}, printError() {} });
    expect([words, code]).toEqual([words, 0]);
  }
});

test("npx finds the command in a checkout", async () => {
  const npx = Bun.which("npx") ?? "npx";
  const ran = await run([npx, "switchyard-gateway", "version"]);
  expect(ran).toMatchObject({ code: 0, text: expect.stringContaining(packageJson.version) });
});
