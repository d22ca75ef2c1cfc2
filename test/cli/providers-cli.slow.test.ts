import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, errorBody } from "../support/answers.ts";
import { ask, hello, readCompletion } from "../support/chat.ts";
import { startCommands } from "../support/commands.ts";
import { type Finished, gatewayProgram, runProgram } from "../support/run-program.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-providers-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = "sk-SECRET-of-the-command-9876";
const env = {
  SWITCHYARD_ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
};

const toEnvironment = (settings: Readonly<Record<string, string>>) => ({
  PATH: process.env["PATH"],
  HOME: folder,
  ...settings,
});

/** In a process of its own, as an operator starts it. */
async function runAlone(words: readonly string[], settings: Readonly<Record<string, string>>, input = "") {
  const options = { cwd: folder, env: toEnvironment(settings), input };
  return toResult(await runProgram([...gatewayProgram, "providers", ...words], options));
}

/** A process for all commands with the same settings. */
async function startRunner(settings: Readonly<Record<string, string>>) {
  const commands = await startCommands({ folder, env: toEnvironment(settings) });
  const run = async (words: readonly string[]) => toResult(await commands.run(["providers", ...words]));
  return { run, [Symbol.asyncDispose]: () => commands[Symbol.asyncDispose]() };
}

function toResult({ code, out, errors }: Finished) {
  expect(`${out}${errors}`).not.toContain(secret);
  return { code, text: out, errors, json: () => JSON.parse(out) };
}

test("credentials are set, tested, listed and removed beside a running gateway, which uses them at once", async () => {
  const vendor = await startVendor();
  await using gateway = await testGateway({ vendor, env });
  const key = await gateway.createKey();
  const settings = { ...env, SWITCHYARD_DATA_DIR: gateway.dataFolder };
  const used = async (wanted: string) =>
    await waitFor("the gateway to use the key", async () => {
      const response = await ask(gateway.url, key, { ...hello, model: "openai/gpt-x" });
      if (!response.ok) return false;
      await readCompletion(response);
      return vendor.last().headers["authorization"] === `Bearer ${wanted}`;
    });

  const set = await runAlone(["set", "openai", "--api-key", "-", "--base-url", vendor.url], settings, `${secret}\n`);
  expect(set.errors).toBe("");
  expect(set.text).toMatch(/^state +configured$/m);
  expect(set.text).toContain("key from store, address from store");
  await used(secret);

  await using runner = await startRunner(settings);
  const { run } = runner;
  const file = join(folder, "key");
  writeFileSync(file, "sk-of-a-file-0123456789\n");
  const words = ["set", "openai", "--api-key-file", file, "--base-url", vendor.url, "--json"];
  expect((await run(words)).json().stored[0].api_key).toBe("…6789");
  await used("sk-of-a-file-0123456789");

  const tested = await run(["test", "openai", "--json"]);
  expect([tested.code, tested.json().ok]).toEqual([0, true]);
  vendor.next(answer(401, errorBody("wrong key")));
  const refused = await run(["test", "openai"]);
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("credentials_refused")]);

  expect((await run(["list"])).text).toMatch(/^openai +configured +store /m);
  const all = (await run(["list", "--all", "--json"])).json().items;
  expect(all.length).toBeGreaterThan(50);
  expect((await run(["show", "openai"])).text).toContain("…6789");
  expect((await run(["remove", "openai"])).text).toContain("are removed");
  const { items } = (await gateway.manage("GET", "/audit?action=provider")) as {
    items: { action: string; actor: { kind: string } }[];
  };
  expect(items.map(({ action, actor }) => [action, actor.kind])).toEqual([
    ["provider.remove", "command"],
    ["provider.set", "command"],
    ["provider.set", "command"],
  ]);
  await vendor.stop();
}, 300_000);

test("wrong arguments and missing things are refused with what to do", async () => {
  const vendor = await startVendor();
  await using gateway = await testGateway({ vendor, env });
  const settings = { ...env, SWITCHYARD_DATA_DIR: gateway.dataFolder };
  await using runner = await startRunner(settings);
  const refused = async (words: string, code: number, says: string, given?: Record<string, string>) => {
    const list = words.split(" ");
    const ran = given === undefined ? await runner.run(list) : await runAlone(list, given);
    expect([ran.code, ran.errors]).toEqual([code, expect.stringContaining(says)]);
  };
  await refused("set openai", 2, "--api-key");
  await refused("set openai --api-key a --api-key-file b", 2, "not with both");
  await refused("set openai --api-key-file /none", 2, "cannot be read");
  await refused("set openai --setting NOVALUE", 2, "NAME=VALUE");
  await refused("set openai --base-url nowhere", 2, "base_url");
  await refused("set opnai --api-key x", 1, "'openai'");
  await refused("remove openai", 1, "no credentials");
  await refused("set openai --api-key x", 2, "SWITCHYARD_ENCRYPTION_KEY", { SWITCHYARD_DATA_DIR: gateway.dataFolder });
  await refused("list", 1, "There is no store", { SWITCHYARD_DATA_DIR: join(folder, "nothing") });
  await refused("test openai", 1, "OPENAI_API_KEY");
  await vendor.stop();
}, 300_000);
