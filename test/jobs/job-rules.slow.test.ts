// Jobs keep to the limits that their key and team have when they run.

import { expect, test } from "bun:test";
import { testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly runs: number;
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
