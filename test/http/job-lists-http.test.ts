// Lists of jobs over real HTTP whose results are large.

import { afterAll, expect, test } from "bun:test";
import { jobList } from "../../src/contract/async-jobs.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { makeResult, quiet, startJob } from "../contracts/engines.ts";
import { callJobs } from "../support/jobs.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
// Another process of the gateway that has run the jobs.
const storage = await openStorage({
  ...{ databaseUrl: null, dataDir: gateway.dataFolder, log: quiet, works: true },
  deadlineMs: 60_000,
});
afterAll(() => storage.close());

const megabyte = 1_048_576;

async function finishJob(keyId: string, length: number): Promise<string> {
  const { job, item } = await startJob(storage, { owner: `key:${keyId}`, keyId, webhookReceiver: null });
  const result = JSON.stringify({ output: { result: "x".repeat(length) } });
  await storage.jobs.finish(item, job.id, makeResult({ result }), null);
  return job.id;
}

async function createClient() {
  const { id, key } = (await gateway.manage("POST", "/keys", { name: "reader" })) as { id: string; key: string };
  const list = async (query: string) => {
    const response = await callJobs(gateway.url, key, { path: query });
    return { status: response.status, json: (await response.json()) as unknown };
  };
  return { keyId: id, list };
}

test("a page whose results exceed 32 MiB together is refused, and smaller pages have every job", async () => {
  const { keyId, list } = await createClient();
  for (const length of [1, 33]) await finishJob(keyId, length * megabyte);
  const refused = await list("?limit=2");
  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({ detail: [{ loc: ["query", "limit"], type: "too_large" }] });
  expect(JSON.stringify(refused.json)).toContain("smaller limit");
  const lengths: number[] = [];
  for (const page of [1, 2]) {
    const { status, json } = await list(`?limit=1&page=${page}`);
    expect(status).toBe(200);
    for (const { output } of jobList.parse(json).items) lengths.push(String(output?.["result"]).length);
  }
  expect(lengths.toSorted((a, b) => a - b)).toEqual([megabyte, 33 * megabyte]);
}, 300_000);

test("a list has the whole results of its jobs", async () => {
  const { keyId, list } = await createClient();
  const ids = [await finishJob(keyId, 10), await finishJob(keyId, megabyte)];
  // The last one: its lease may expire on a busy machine.
  const { job } = await startJob(storage, { owner: `key:${keyId}`, keyId });
  const { status, json } = await list("");
  expect(status).toBe(200);
  const { items, total } = jobList.parse(json);
  expect(total).toBe(3);
  const lengths = new Map(items.map(({ job_id, output }) => [job_id, String(output?.["result"] ?? "").length]));
  expect(lengths).toEqual(
    new Map([
      [job.id, 0],
      [ids[1] as string, megabyte],
      [ids[0] as string, 10],
    ]),
  );
}, 300_000);
