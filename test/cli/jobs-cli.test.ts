import { afterAll, describe, expect, test } from "bun:test";
import { createJobsCommand } from "../../src/cli/jobs.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { runCommand } from "../support/run-command.ts";
import { testGateway } from "../support/test-gateway.ts";

const folders = createFolders();
afterAll(() => folders.remove());

function createCommand(dataDir: string) {
  let opened = 0;
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const errors: string[] = [];
    const code = await runCommand(createJobsCommand, args, {
      openStorage: () => {
        opened += 1;
        return openStorage({ databaseUrl: null, dataDir, log: quiet });
      },
      print: (line) => void printed.push(line),
      printError: (line) => void errors.push(line),
    });
    return { code, text: printed.join("\n"), errors: errors.join("\n"), json: () => JSON.parse(printed.join("\n")) };
  };
  return { run, timesOpened: () => opened };
}

describe("switchyard jobs", () => {
  test("lists, shows and cancels the jobs of all keys", async () => {
    await using gateway = await testGateway();
    const submit = async (name: string) => {
      const key = await gateway.createKey({ name });
      const response = await fetch(`${gateway.url}/v3/universal-ai/async`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } }),
      });
      return ((await response.json()) as { job_id: string }).job_id;
    };
    const [first, second] = [await submit("one"), await submit("two")];
    const { run } = createCommand(gateway.dataFolder);

    const list = await run("list");
    expect(list.code).toBe(0);
    expect(list.text).toMatch(/^job +status +task +created +owner +runs +cost\n/);
    expect(list.text).toContain("text/sentiment_analysis/sandbox");
    expect(list.text).toMatch(/2 of 2 jobs$/);
    const page = (await run("list", "--limit", "1", "--json")).json();
    expect(page).toMatchObject({ total: 2, items: [{ job_id: second, status: "processing", runs: 0 }] });
    const { owner } = page.items[0];
    expect((await run("list", "--owner", owner, "--json")).json()).toMatchObject({ total: 1 });

    expect((await run("show", first)).text).toContain(`job       ${first}`);
    expect((await run("show", first, "--json")).json()).toMatchObject({ job_id: first, deliveries: [] });
    expect((await run("cancel", first.toUpperCase())).text).toBe(`Job ${first} is cancelled.`);
    expect((await run("list", "--status", "fail", "--json")).json()).toMatchObject({
      total: 1,
      items: [{ job_id: first, error: { message: "The job was cancelled." } }],
    });
    expect((await run("show", first)).text).toContain("The job was cancelled.");
    expect(await run("redeliver", first)).toMatchObject({
      code: 1,
      errors: expect.stringContaining("webhook_receiver"),
    });
    expect(await run("redeliver", second)).toMatchObject({ code: 1, errors: expect.stringContaining("still running") });
  });

  test("what it does not understand is explained, with 2, before the store is touched", async () => {
    const { run, timesOpened } = createCommand(folders.create());
    const wrong = [
      [],
      ["destroy"],
      ["list", "--status", "done"],
      ["show"],
      ["show", "not-a-uuid"],
      ["cancel", "a", "b"],
    ];
    for (const args of [...wrong, ["list", "--limit", "0"]]) {
      const { code, text, errors } = await run(...args);
      expect([args, code, text]).toEqual([args, 2, ""]);
      expect(errors).not.toBe("");
    }
    expect(timesOpened()).toBe(0);
  });

  test("a job that does not exist is an error with 1", async () => {
    const { run } = createCommand(folders.create());
    for (const verb of ["show", "cancel", "redeliver"])
      expect(await run(verb, crypto.randomUUID())).toMatchObject({
        code: 1,
        errors: expect.stringContaining("There is no such job."),
      });
  });
});
