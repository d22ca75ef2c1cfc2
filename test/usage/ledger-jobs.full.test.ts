// Jobs and their lines, also when the worker process is killed during a call that must not be repeated.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { answer, hang } from "../support/answers.ts";
import { ask } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { linesOf, readLines, type StoredLine } from "../support/ledger.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const path = "/v3/universal-ai/async";
const output = { nsfw_likelihood: 1, nsfw_likelihood_score: 0.1, items: [] };
let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  vendor = await startVendor(() => answer(200, { status: "success", cost: 0.002, output }));
  const declared = { dialect: "openai", base_url: vendor.url, api_key: "k", tasks: ["text/moderation"] };
  gateway = await startGatewayProcess({
    vendor,
    jobWorkers: 1,
    config: { providers: { own: declared, spare: declared } },
  });
  key = await gateway.createKey({ tags: { app: "jobs" } });
}, 300_000);
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
}, 300_000);

async function submit(body: object): Promise<{ jobId: string; requestId: string }> {
  const requestId = `job-${crypto.randomUUID()}`;
  const response = await ask(
    gateway.url,
    key,
    { input: { text: "x" }, ...body },
    { path, headers: { "x-request-id": requestId } },
  );
  return { jobId: ((await response.json()) as { job_id: string }).job_id, requestId };
}

async function finished(jobId: string): Promise<Record<string, unknown>> {
  return await waitFor("the end of the job", async () => {
    const headers = { authorization: `Bearer ${key}` };
    const job = (await fetch(`${gateway.url}${path}/${jobId}`, { headers }).then((one) => one.json())) as StoredLine;
    return job["status"] === "processing" ? null : job;
  });
}

test("a job has a line for each provider that it called, with the tags of its key and of its request", async () => {
  vendor.next(answer(500, { error: { message: "no" } }));
  const { jobId, requestId } = await submit({
    ...{ model: "text/moderation/own", fallbacks: ["text/moderation/spare"], tags: { run: "nightly" } },
  });
  expect(await finished(jobId)).toMatchObject({ status: "success", cost: 0.002 });
  const line = { task: "text/moderation", endpoint: path, job_id: jobId, tags: '{"app":"jobs","run":"nightly"}' };
  expect(await linesOf({ gateway }, requestId, 2)).toMatchObject([
    { ...line, provider: "own", attempt: 1n, outcome: "provider_error", cost_reason: "not_answered" },
    { ...line, provider: "spare", attempt: 2n, outcome: "completed", cost_pico: 2_000_000_000n },
  ]);
});

test("a call that a killed process had sent has one line, with an unknown cost", async () => {
  vendor.clear();
  vendor.next([hang]);
  const { jobId, requestId } = await submit({ model: "text/moderation/own", tags: { run: "nightly" } });
  await vendor.waitFor("the call", (requests) => requests.length > 0);
  const { working } = await gateway.processes();
  for (const pid of working) process.kill(pid, "SIGKILL");
  expect(await finished(jobId)).toMatchObject({ status: "fail" });
  const [line] = await linesOf({ gateway }, requestId, 1);
  expect(line).toMatchObject({
    ...{ provider: "own", task: "text/moderation", job_id: jobId, attempt: 1n, outcome: "provider_disconnected" },
    ...{ cost_pico: null, cost_reason: "usage_unknown", endpoint: path },
    tags: '{"app":"jobs","run":"nightly"}',
  });
  expect((await readLines({ gateway })).filter((one) => one["request_id"] === requestId)).toHaveLength(1);
  expect(vendor.requests).toHaveLength(1);
}, 300_000);
