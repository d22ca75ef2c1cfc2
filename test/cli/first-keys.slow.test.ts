// The first start: its keys are shown on a terminal, and otherwise written to files that only the user can read. The curl command
// that it prints works as pasted in both cases.

import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../support/free-port.ts";
import { waitFor } from "../support/wait.ts";

const main = join(import.meta.dir, "../..", "src", "main.ts");
const cleaners: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleaners.splice(0).reverse()) await clean();
});

// A terminal for the gateway: what it writes there is passed on, and so is the signal that ends it.
const terminal = `
import os, pty, signal, sys
pid, screen = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
try:
    while output := os.read(screen, 65536):
        os.write(1, output)
except OSError:
    pass  # The gateway has closed its end.
os.waitpid(pid, 0)
`;

interface StartOptions {
  readonly isTerminal: boolean;
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
}

async function start(options: StartOptions) {
  // The space has to survive the command that is pasted.
  const folder = mkdtempSync(join(tmpdir(), "switchyard first keys-"));
  for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(folder, name), text);
  const command = [process.execPath, main, "serve"];
  const child = Bun.spawn(options.isTerminal ? ["python3", "-c", terminal, ...command] : command, {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      SWITCHYARD_PORT: String(await findFreePort()),
      SWITCHYARD_WORKERS: "1",
      SWITCHYARD_JOB_WORKERS: "0",
      SWITCHYARD_DRAIN_DELAY_MS: "0",
      ...options.env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = { out: "", errors: "" };
  const collect = async (name: "out" | "errors", stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) output[name] += Buffer.from(bytes).toString().replaceAll("\r\n", "\n");
  };
  void collect("out", child.stdout);
  void collect("errors", child.stderr);
  cleaners.push(() => rmSync(folder, { recursive: true }));
  cleaners.push(async () => {
    child.kill("SIGTERM");
    await child.exited;
  });
  return { folder, output };
}

/** Runs the command exactly as it was printed. */
async function paste(printed: string): Promise<{ choices: { message: { content: string } }[] }> {
  const command = /^curl [\s\S]*?\n\n/m.exec(printed)?.[0] ?? "";
  const shell = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore", cwd: tmpdir() });
  return (await new Response(shell.stdout).json()) as Awaited<ReturnType<typeof paste>>;
}

const printsCommand = (text: string) => /^curl [\s\S]*?\n\n/m.test(text);

test("on a terminal the keys are shown, and no file holds them", async () => {
  const { folder, output } = await start({ isTerminal: true });
  await waitFor("the curl command", () => printsCommand(output.out));
  expect(output.out).toMatch(/inference key {4}sk-sy-\w{43}\n {2}management key {3}mgmt-sy-\w{43}\n/);
  expect(existsSync(join(folder, "data", "first-keys"))).toBe(false);
  expect(output.out).toMatch(/listens on (http:\/\/127\.0\.0\.1:\d+)\n\n {2}docs {13}\1\/docs\n/);
  expect(output.out).toMatch(/^ {2}configuration {4}environment only; there is no switchyard\.yaml$/m);
  expect(output.out).toContain(`\n  data folder      ${join(folder, "data")}\n`);
  expect(output.out).toMatch(/^ {2}providers {8}none; set a key such as OPENAI_API_KEY/m);
  expect((await paste(output.out)).choices[0]?.message.content).toContain("Hello");
});

test("without a terminal the keys go to private files, and the output does not hold them", async () => {
  const { folder, output } = await start({ isTerminal: false });
  await waitFor("the curl command", () => printsCommand(output.errors));
  const keys = join(folder, "data", "first-keys");
  expect(statSync(keys).mode & 0o777).toBe(0o700);
  for (const [name, form] of [
    ["inference.key", /^sk-sy-\w{43}\n$/],
    ["management.key", /^mgmt-sy-\w{43}\n$/],
  ] as const) {
    expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
    const key = readFileSync(join(keys, name), "utf8");
    expect(key).toMatch(form);
    expect(`${output.out}${output.errors}`).not.toContain(key.trim());
    expect(output.errors).toContain(join(keys, name));
  }
  // Standard output is the log, and nothing but JSON lines.
  for (const line of output.out.split("\n").filter((one) => one !== "")) JSON.parse(line);
  expect((await paste(output.errors)).choices[0]?.message.content).toContain("Hello");
});

test("with SWITCHYARD_LOG_FORMAT=json every line of both outputs is JSON, on a terminal too", async () => {
  for (const isTerminal of [false, true]) {
    const { folder, output } = await start({ isTerminal, env: { SWITCHYARD_LOG_FORMAT: "json" } });
    await waitFor("the gateway", () => output.out.includes('"message":"serving"'));
    const lines = `${output.out}${output.errors}`.split("\n").filter((one) => one !== "");
    const serving = lines.map((line) => JSON.parse(line)).find(({ message }) => message === "serving");
    expect(serving.first_keys.inference).toBe(join(folder, "data", "first-keys", "inference.key"));
    expect(readFileSync(serving.first_keys.inference, "utf8")).toStartWith("sk-sy-");
  }
});

test("the start names the configuration file and the providers; a management key of the operator's own is in no file", async () => {
  const adminKey = "an-operators-own-key";
  const env = { OPENAI_API_KEY: "sk-unused", SWITCHYARD_CONFIG: "gateway.yaml", SWITCHYARD_ADMIN_KEY: adminKey };
  const config = "providers: { in-house: { base_url: http://127.0.0.1:9/v1 } }\n";
  const { folder, output } = await start({ isTerminal: false, env, files: { "gateway.yaml": config } });
  await waitFor("the curl command", () => printsCommand(output.errors));
  expect(output.errors).toMatch(/^ {2}configuration {4}\S.*gateway\.yaml$/m);
  expect(output.errors).toMatch(/^ {2}providers {8}openai, in-house$/m);
  const lines = output.out.split("\n").filter((line) => line !== "");
  const serving = lines.map((line) => JSON.parse(line)).find(({ message }) => message === "serving");
  expect(serving).toMatchObject({ providers: ["openai", "in-house"], data_dir: join(folder, "data") });
  expect(existsSync(join(folder, "data", "first-keys", "inference.key"))).toBe(true);
  expect(existsSync(join(folder, "data", "first-keys", "management.key"))).toBe(false);
  for (const secret of ["sk-unused", adminKey]) expect(`${output.out}${output.errors}`).not.toContain(secret);
});
