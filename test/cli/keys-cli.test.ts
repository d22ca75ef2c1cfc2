import { afterAll, describe, expect, test } from "bun:test";
import { openKeyring } from "../../src/access/keys.ts";
import { createKeysCommand } from "../../src/cli/keys.ts";
import { createFolders, quiet, withStorage } from "../contracts/engines.ts";
import { countOpenings } from "../support/open-test-storage.ts";
import { runAndCollect, runCommand } from "../support/run-command.ts";
import { waitFor } from "../support/wait.ts";

const folders = createFolders();
afterAll(() => folders.remove());

function createCommand() {
  const options = { databaseUrl: null, dataDir: folders.create(), log: quiet };
  const { openStorage, timesOpened } = countOpenings(options);
  const run = (...args: string[]) =>
    runAndCollect((output) => runCommand(createKeysCommand, args, { openStorage, ...output }));
  return { run, options, timesOpened };
}

describe("switchyard keys", () => {
  test("creates, lists, rotates and revokes", async () => {
    const { run } = createCommand();
    const words = "--name ci --owner team --scope chat --model openai/* --budget 0 --period daily --tag a=b=c";
    const made = await run("create", ...words.split(" "), "--requests-per-minute", "60", "--expires", "30d", "--json");
    expect(made.code).toBe(0);
    const key = made.json();
    expect(key).toMatchObject({
      name: "ci",
      kind: "inference",
      owner: "team",
      scopes: ["chat"],
      allowed_models: ["openai/*"],
      budget: { amount: 0, period: "daily" },
      rate_limit: { requests_per_minute: 60 },
      tags: { a: "b=c" },
    });
    expect(key.key).toMatch(/^sk-sy-[0-9A-Za-z]{43}$/);
    expect((await run("create", "--name", "m", "--kind", "management")).text).toMatch(/^mgmt-sy-[0-9A-Za-z]{43}\n/);
    const list = await run("list");
    expect(list.text.split("\n")).toHaveLength(3);
    expect(list.text).toMatch(/^id +kind +key +state +last used +team +name\n/);
    expect(list.text).not.toContain(key.key);
    expect((await run("list", "--kind", "management", "--json")).json()).toMatchObject({ total: 1, page: 1 });
    const rotated = (await run("rotate", key.id, "--grace-seconds", "60", "--json")).json();
    expect(rotated).toMatchObject({ id: key.id, name: "ci" });
    expect(rotated.key).not.toBe(key.key);
    expect((await run("revoke", key.id.toUpperCase())).code).toBe(0);
    expect((await run("list")).text).toContain("revoked");
    expect(await run("rotate", key.id)).toMatchObject({
      code: 1,
      errors: expect.stringContaining("was revoked and cannot be changed"),
    });
  });

  test("a key that it makes opens in a gateway that runs meanwhile", async () => {
    const { run, options } = createCommand();
    await withStorage(options, async (storage) => {
      const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 60_000, log: quiet });
      const made = (await run("create", "--name", "x", "--json")).json();
      await waitFor("the key", () => "caller" in keyring.lookUp(made.key));
      await keyring.close();
    });
  });

  test("what it does not understand is explained, with 2, before the store is touched", async () => {
    const { run, timesOpened } = createCommand();
    const wrong = [
      [],
      ["destroy"],
      ["toString"],
      ["create"],
      ["create", "--name", ""],
      ["create", "--name", "x", "--kind", "root"],
      ["create", "--name", "x", "--colour", "red"],
      ["create", "--name", "x", "--budget", "much"],
      ["create", "--name", "x", "--period", "daily"],
      ["create", "--name", "x", "--tag", "novalue"],
      ["create", "--name", "x", "--expires", "soon"],
      ["create", "x"],
      ["list", "--page", "0"],
      ["revoke"],
      ["revoke", "not-a-uuid"],
      ["rotate", crypto.randomUUID(), "--grace-seconds", "86401"],
    ];
    for (const args of wrong) {
      const { code, text, errors } = await run(...args);
      expect([args, code, text]).toEqual([args, 2, ""]);
      expect(errors).not.toBe("");
    }
    expect(timesOpened()).toBe(0);
  });

  test.each([
    "--expires 90",
    "--budget 1 --raise 1 --raise-until 2027-01-31",
  ])("%s is refused with both forms of a time", async (options) => {
    const words = options.split(" ");
    const { code, errors } = await createCommand().run("create", "--name", "x", ...words);
    const says = `'${words.at(-1)}' is not a time; write days, such as 90d, or ISO 8601, such as 2027-01-31T00:00:00Z.`;
    expect([code, errors]).toEqual([2, expect.stringContaining(says)]);
  });

  test("problems beyond the first hundred are counted in the last line", async () => {
    const { run } = createCommand();
    const { code, errors } = await run("create", "--name", "x", ...Array(150).fill(["--model", ""]).flat());
    expect([code, errors.split("\n").at(-1)]).toEqual([2, expect.stringMatching(/^\d+ more problems$/)]);
  });

  test("a key that is not there is an error with 1", async () => {
    const { run } = createCommand();
    expect(await run("revoke", crypto.randomUUID())).toMatchObject({
      code: 1,
      errors: expect.stringContaining("no key"),
    });
  });
});
