import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer, errorBody } from "../support/answers.ts";
import { ask, hello, readCompletion } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-providers-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = "sk-SECRET-of-the-command-9876";
const env = {
  SWITCHYARD_ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
};

async function run(words: readonly string[], settings: Readonly<Record<string, string>>, input = "") {
  const child = Bun.spawn([process.execPath, join(root, "src", "main.ts"), "providers", ...words], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ...settings },
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect(`${text}${errors}`).not.toContain(secret);
  return { code, text, errors, json: () => JSON.parse(text) };
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

  const set = await run(["set", "openai", "--api-key", "-", "--base-url", vendor.url], settings, `${secret}\n`);
  expect(set.errors).toBe("");
  expect(set.text).toMatch(/^state +configured$/m);
  expect(set.text).toContain("key from store, address from store");
  await used(secret);

  const file = join(folder, "key");
  writeFileSync(file, "sk-of-a-file-0123456789\n");
  const words = ["set", "openai", "--api-key-file", file, "--base-url", vendor.url, "--json"];
  expect((await run(words, settings)).json().stored[0].api_key).toBe("…6789");
  await used("sk-of-a-file-0123456789");

  const tested = await run(["test", "openai", "--json"], settings);
  expect([tested.code, tested.json().ok]).toEqual([0, true]);
  vendor.next(answer(401, errorBody("wrong key")));
  const refused = await run(["test", "openai"], settings);
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("credentials_refused")]);

  expect((await run(["list"], settings)).text).toMatch(/^openai +configured +store /m);
  const all = (await run(["list", "--all", "--json"], settings)).json().items;
  expect(all.length).toBeGreaterThan(50);
  expect((await run(["show", "openai"], settings)).text).toContain("…6789");
  expect((await run(["remove", "openai"], settings)).text).toContain("are removed");
  const { items } = (await gateway.manage("GET", "/audit?action=provider")) as {
    items: { action: string; actor: { kind: string } }[];
  };
  expect(items.map(({ action, actor }) => [action, actor.kind])).toEqual([
    ["provider.remove", "command"],
    ["provider.set", "command"],
    ["provider.set", "command"],
  ]);
  await vendor.stop();
}, 120_000);

test("wrong arguments and missing things are refused with what to do", async () => {
  const vendor = await startVendor();
  await using gateway = await testGateway({ vendor, env });
  const settings = { ...env, SWITCHYARD_DATA_DIR: gateway.dataFolder };
  const refused = async (words: string, code: number, says: string, given: Record<string, string> = settings) => {
    const ran = await run(words.split(" "), given);
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
}, 120_000);
