import { afterAll, describe, expect, test } from "bun:test";
import { createJobsCommand } from "../../src/cli/jobs.ts";
import { createFolders } from "../contracts/engines.ts";
import { countOpenings } from "../support/open-test-storage.ts";
import { runAndCollect, runCommand } from "../support/run-command.ts";
import { testGateway } from "../support/test-gateway.ts";

const folders = createFolders();
afterAll(() => folders.remove());

function createCommand(dataDir: string) {
  const { openStorage, timesOpened } = countOpenings({ dataDir });
  const run = (...args: string[]) =>
    runAndCollect((output) => runCommand(createJobsCommand, args, { openStorage, ...output }));
  return { run, timesOpened };
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
    expect(list.text).toMatch(/^job +status +task +created +team or key +webhook +runs +cost\n/);
    expect(list.text).toContain("text/sentiment_analysis/sandbox");
    const page = (await run("list", "--limit", "1", "--json")).json();
    expect(page.items).toMatchObject([{ job_id: second, status: "processing", runs: 0, key_name: "two" }]);
    const next = (await run("list", "--limit", "1", "--cursor", page.next_cursor, "--json")).json();
    expect(next).toMatchObject({ items: [{ job_id: first }], next_cursor: null });
    expect((await run("list", "--limit", "1")).text).toEndWith(`More: --cursor ${page.next_cursor}`);
    const ofKey = (await run("list", "--key", page.items[0].key_id, "--json")).json();
    expect(ofKey.items).toMatchObject([{ job_id: second }]);
    expect((await run("list", "--task", "ocr", "--json")).json().items).toEqual([]);

    expect((await run("show", first)).text).toContain(`job       ${first}`);
    expect((await run("show", first, "--json")).json()).toMatchObject({ job_id: first, deliveries: [] });
    expect((await run("cancel", first.toUpperCase())).text).toBe(`Job ${first} is cancelled.`);
    expect((await run("list", "--status", "fail", "--json")).json()).toMatchObject({
      items: [{ job_id: first, error: { message: "The job was cancelled." } }],
    });
    expect((await run("show", first)).text).toContain("The job was cancelled.");
    expect(await run("redeliver", first)).toMatchObject({
      code: 1,
      errors: expect.stringContaining("webhook_receiver"),
    });
    expect(await run("redeliver", second)).toMatchObject({ code: 1, errors: expect.stringContaining("still running") });
    const { items } = (await gateway.manage("GET", `/audit?target=${first}`)) as { items: { action: string }[] };
    expect(items.map(({ action }) => action)).toEqual([
      "job.read_result",
      "job.cancel",
      "job.read_result",
      "job.read_result",
    ]);
    expect(items[1]).toMatchObject({ actor: { kind: "command" }, after: { status: "fail" } });
  });

  test("what it does not understand is explained, with 2, before the store is touched", async () => {
    const { run, timesOpened } = createCommand(folders.create());
    const wrong = [
      [],
      ["destroy"],
      ["list", "--status", "done"],
      ["list", "--key", "not-a-uuid"],
      ["list", "--from", "yesterday"],
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
