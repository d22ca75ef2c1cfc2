// `switchyard audit`, and the records of commands that change something.

import { afterAll, expect, test } from "bun:test";
import { createAuditCommand } from "../../src/cli/audit.ts";
import { createKeysCommand } from "../../src/cli/keys.ts";
import { createTeamsCommand } from "../../src/cli/teams.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { runCommand } from "../support/run-command.ts";

const folders = createFolders();
afterAll(() => folders.remove());
const options = { databaseUrl: null, dataDir: folders.create(), log: quiet };

async function run(create: typeof createAuditCommand, ...args: string[]) {
  const printed: string[] = [];
  const code = await runCommand(create, args, {
    openStorage: () => openTestStorage(options),
    print: (line) => void printed.push(line),
    printError: (line) => void printed.push(line),
  });
  return { code, text: printed.join("\n"), json: () => JSON.parse(printed.join("\n")) };
}

test("changes by command are recorded with the user who made them, and listed", async () => {
  await run(createTeamsCommand, "create", "--name", "research");
  const { id } = (await run(createKeysCommand, "create", "--name", "ci", "--team", "research", "--json")).json();
  await run(createKeysCommand, "revoke", id);
  const { items } = (await run(createAuditCommand, "--json")).json();
  expect(items.map(({ action }: { action: string }) => action)).toEqual(["key.revoke", "key.create", "team.create"]);
  expect(items[0].actor).toMatchObject({ kind: "command", role: "administrator" });
  expect(items[0].actor.name).not.toBe("");
  expect((await run(createAuditCommand, "--action", "team", "--json")).json().items).toHaveLength(1);
  const table = await run(createAuditCommand, "--target", id);
  expect([table.code, table.text.split("\n").length]).toEqual([0, 3]);
  expect(table.text).toMatch(/^time +actor +address +action +outcome +target +changed\n/);
  const csv = await run(createAuditCommand, "--csv");
  expect(csv.text.split(/\r?\n/)).toHaveLength(4);
});

test("wrong arguments are refused", async () => {
  expect((await run(createAuditCommand, "--outcome", "good")).code).toBe(2);
  expect((await run(createAuditCommand, "--json", "--csv")).code).toBe(2);
  expect((await run(createAuditCommand, "--from", "yesterday")).code).toBe(2);
});
