// Jobs keep to the limits that their key and team have when they run.

import { expect, test } from "bun:test";
import { answer, completion } from "../support/answers.ts";
import { ask } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly runs: number;
  readonly error: { readonly message: string } | null;
}

test("a job waits while the limit of its team is reached, and runs when the limit is raised", async () => {
  await using gateway = await testGateway({ jobWorkers: 1 });
  // Half a minute between two tries is too long for a test: a limit per second is tried again after one.
  const limit = (requests_per_second: number) => ({
    model_limits: [{ model: "text/moderation/*", rate_limit: { requests_per_second } }],
  });
  await gateway.manage("POST", "/teams", { name: "research", ...limit(1) });
  const { key } = (await gateway.manage("POST", "/keys", { name: "a key", team: "research" })) as { key: string };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const submit = async () => {
    const body = JSON.stringify({ model: "text/moderation/sandbox", input: { text: "a", language: "en" } });
    const answer = await fetch(`${gateway.url}/v3/universal-ai/async`, { method: "POST", headers, body });
    return ((await answer.json()) as Job).job_id;
  };
  const ids = await Promise.all(Array.from({ length: 6 }, submit));
  const statuses = async () =>
    Promise.all(
      ids.map(async (id) => {
        const answer = await fetch(`${gateway.url}/v3/universal-ai/async/${id}`, { headers });
        return ((await answer.json()) as Job).status;
      }),
    );
  // A job that was refused by the limit is not failed: it is queued again, and counted as one that has begun.
  await waitFor("a job that was begun and waits", async () => {
    const { items } = (await gateway.manage("GET", "/jobs")) as { items: Job[] };
    return items.some(({ runs }) => runs > 1);
  });
  await gateway.manage("PATCH", "/teams/research", { model_limits: null });
  await waitFor("all jobs", async () => (await statuses()).every((status) => status === "success"));
  expect(await statuses()).toEqual(ids.map(() => "success"));
}, 300_000);

test("a model that was paid for an unusable answer is not paid again when the key's limit refuses the correction", async () => {
  const usage = { prompt_tokens: 2_000, completion_tokens: 2_000, total_tokens: 4_000 };
  await using gateway = await testGateway({ jobWorkers: 1, behaviour: answer(200, completion("no JSON", { usage })) });
  const key = await gateway.createKey({ rate_limit: { tokens_per_minute: 4_000 } });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const call = async (method: string, path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return await fetch(`${gateway.url}/v3/universal-ai${path}`, { method, headers, ...sent });
  };
  const task = { model: "text/summarize/mockchat/echo", input: { text: "A long story.", language: "en" } };
  const { job_id } = (await (await call("POST", "/async", task)).json()) as Job;
  const job = await waitFor("the job to end", async () => {
    const found = (await (await call("GET", `/async/${job_id}`)).json()) as Job;
    return found.status === "processing" ? null : found;
  });
  expect(job.status).toBe("fail");
  expect(job.error?.message).toContain("may use 4000 tokens per minute");
  expect(job.error?.message).toContain("not sent again");
  expect(gateway.vendor.requests).toHaveLength(1);
  // The same holds for the retry of a client.
  const other = await gateway.createKey({ rate_limit: { tokens_per_minute: 4_000 } });
  const { status, headers: answered } = await ask(gateway.url, other, task, { path: "/v3/universal-ai" });
  expect([status, answered.get("x-should-retry")]).toEqual([429, "false"]);
  expect(gateway.vendor.requests).toHaveLength(2);
}, 300_000);
