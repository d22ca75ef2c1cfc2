// What one key may do to the others through jobs, and how jobs are cancelled, on both engines: the limit of unfinished jobs, turns between
// owners, cancellation by the owner and by the operator.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { answer, hang } from "../support/answers.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { type Hooks, startHooks } from "../support/hooks.ts";
import { startPostgres, type TestPostgres, whyNoPostgres } from "../support/postgres.ts";
import { isFullRun } from "../support/test-size.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { inParallel, waitFor } from "../support/wait.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly finished_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly items: readonly (Job & { readonly key_id: string; readonly runs: number })[];
  readonly total: number;
}

const maxQueued = 150;
const unknownJob = "00000000-0000-4000-8000-000000000000";
const slow = { model: "text/sentiment_analysis/sandbox/slow-50", input: { text: "It is good.", language: "en" } };
const unanswered = { model: "text/moderation/own", input: { text: "x", language: "en" } };

// The tests of storage run on both in every run.
const engines = [
  ...(isFullRun ? [{ engine: "SQLite", why: null }] : []),
  { engine: "PostgreSQL", why: whyNoPostgres() },
];

for (const { engine, why } of engines)
  describe.skipIf(why !== null)(`jobs of several owners on ${engine}`, () => {
    let vendor: Vendor;
    let postgres: TestPostgres | null = null;
    let hooks: Hooks;
    let gateway: GatewayProcess;
    let keys: Record<"one" | "another" | "third", string>;
    const told: { job_id: string; status: string; error?: { message: string } }[] = [];

    beforeAll(async () => {
      vendor = await startVendor();
      postgres = engine === "SQLite" ? null : await startPostgres();
      hooks = await startHooks(async (request) => {
        told.push((await request.json()) as (typeof told)[number]);
        return new Response();
      });
      gateway = await startGatewayProcess({
        vendor,
        jobWorkers: 1,
        env: {
          ...(postgres === null ? {} : { DATABASE_URL: await postgres.createStore() }),
          SWITCHYARD_JOBS_AT_ONCE: "4",
          SWITCHYARD_MAX_QUEUED_JOBS_PER_KEY: String(maxQueued),
          ...hooks.env,
        },
        config: {
          providers: {
            own: {
              ...{ dialect: "openai", base_url: `http://127.0.0.1:${vendor.port}/tasks/v1`, api_key: providerSecret },
              tasks: ["text/moderation"],
            },
            replicate: { base_url: `http://127.0.0.1:${vendor.port}/replicate`, api_key: providerSecret },
          },
        },
      });
      keys = {
        one: await gateway.createKey({ name: "one" }),
        another: await gateway.createKey({ name: "another" }),
        third: await gateway.createKey({ name: "third" }),
      };
    });

    afterAll(async () => {
      await gateway?.stop();
      await hooks?.stop();
      await vendor?.stop();
      await postgres?.stop();
    });

    afterEach(async () => {
      const { items } = (await gateway.manage("GET", "/jobs?status=processing&limit=1000")) as Job;
      await inParallel(items.length, 8, async (at) => {
        await gateway.manage("POST", `/jobs/${items[at]?.job_id}/cancel`).catch(() => {});
      });
      vendor.clear();
    });

    async function call(method: string, path: string, { body, by = keys.one }: { body?: unknown; by?: string } = {}) {
      const response = await fetch(`${gateway.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Job };
    }

    const path = "/v3/universal-ai/async";

    async function submit(body: unknown, by = keys.one): Promise<string> {
      const { status, body: job } = await call("POST", path, { body, by });
      expect({ status, job }).toMatchObject({ status: 202 });
      return job.job_id;
    }

    test("the queue of one key does not hold up the single job of another, and has an end", async () => {
      await inParallel(maxQueued, 16, async () => void (await submit(slow)));
      const single = await submit(slow, keys.another);
      await waitFor(
        "the single job to be over",
        async () => (await call("GET", `${path}/${single}`, { by: keys.another })).body.status === "success",
        { everyMs: 20 },
      );
      // Four run at once, and a few more may have been taken before.
      const unfinished = (await call("GET", `${path}?status=processing&limit=1`)).body.total;
      expect(unfinished).toBeGreaterThan(maxQueued / 2);
    });

    test("one job too many is refused with 429 for this key, and not for another", async () => {
      vendor.on(unanswered.model, [hang]);
      await inParallel(maxQueued, 16, async () => void (await submit(unanswered, keys.third)));
      const refused = await call("POST", path, { body: unanswered, by: keys.third });
      expect([refused.status, refused.body.error?.code]).toEqual([429, "rate_limit_exceeded"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.body).toHaveProperty("detail", refused.body.error?.message);
      const id = await submit(slow, keys.another);
      const { body } = await call("GET", `${path}?status=processing&limit=1`, { by: keys.third });
      // A place is free when a job is cancelled.
      await call("POST", `${path}/${body.items[0]?.job_id}/cancel`, { by: keys.third });
      await submit(unanswered, keys.third);
      expect(id).toBeString();
    });

    test("cancelling a running job ends the call at the provider, and the receiver gets a webhook", async () => {
      vendor.on(unanswered.model, [hang]);
      // Calls of jobs that the test before has cancelled may still arrive.
      const calls = () => vendor.requests.filter(({ body }) => body.includes("cancel me"));
      const webhook_receiver = hooks.urlOf("/");
      const id = await submit({ ...unanswered, input: { text: "cancel me", language: "en" }, webhook_receiver });
      await vendor.waitFor("the call", () => calls().length === 1);
      expect((await call("POST", `${path}/${id}/cancel`, { by: keys.another })).status).toBe(404);
      expect((await call("DELETE", `${path}/${id}`)).body.error?.code).toBe("job_processing");
      const cancelled = await call("POST", `${path}/${id}/cancel`);
      expect(cancelled).toMatchObject({ status: 200, body: { job_id: id, status: "fail", output: null } });
      expect(cancelled.body.error?.message).toBe("The job was cancelled.");
      await vendor.waitFor("the provider's connection to be closed", () => calls()[0]?.leftAt !== null);
      await waitFor("the receiver to be told", () => told.some((one) => one.job_id === id));
      expect(told.filter((one) => one.job_id === id)).toMatchObject([
        { status: "fail", error: { message: "The job was cancelled." } },
      ]);
      // Again, and the job is still what it was.
      expect(await call("POST", `${path}/${id}/cancel`)).toMatchObject({ status: 200, body: cancelled.body });
      expect((await call("GET", `${path}/${id}`)).body).toEqual(cancelled.body);
      expect(calls()).toHaveLength(1);
      expect((await call("DELETE", `${path}/${id}`)).status).toBe(200);
    });

    test("work that a cancelled job has started counts for the budget of its key, once", async () => {
      const by = await gateway.createKey({ name: "spender", budget: { amount: 0.015, period: "none" } });
      const body = { model: "image/generation/replicate", input: { text: "A fox", resolution: "1:1" } };
      const sends = (method: string) =>
        vendor.requests.filter((sent) => sent.method === method && sent.path.startsWith("/replicate/"));
      vendor.next(answer(201, { id: "p1", status: "starting" }));
      for (let polls = 0; polls < 100; polls++) vendor.next(answer(200, { id: "p1", status: "starting" }));
      const id = await submit(body, by);
      await vendor.waitFor("a poll", () => sends("GET").length > 0);
      expect((await call("POST", `${path}/${id}/cancel`, { by })).status).toBe(200);
      expect((await call("DELETE", `${path}/${id}`, { by })).status).toBe(200);
      const read = async () => await gateway.manage("GET", "/usage?task=image/generation&group_by=outcome");
      const lines = async () => ((await read()) as { totals: { lines: number } }).totals.lines;
      await waitFor("its line", async () => (await lines()) > 0);
      const refused = await call("POST", path, { body, by });
      expect([refused.status, refused.body.error?.code]).toEqual([402, "budget_exceeded"]);
      expect(sends("POST")).toHaveLength(1);
      expect(await lines()).toBe(1);
    });

    test("a queued job that is cancelled is never begun", async () => {
      vendor.on(unanswered.model, [hang]);
      for (let at = 0; at < 8; at++) await submit(unanswered);
      const queued = await submit({ ...unanswered, input: { text: "never sent", language: "en" } });
      expect((await call("POST", `${path}/${queued}/cancel`)).body.status).toBe("fail");
      for (const { job_id } of (await call("GET", `${path}?status=processing`)).body.items)
        await call("POST", `${path}/${job_id}/cancel`);
      const after = await submit(slow);
      await waitFor(
        "a job that came later to be over",
        async () => (await call("GET", `${path}/${after}`)).body.status === "success",
      );
      expect(vendor.requests.filter(({ body }) => body.includes("never sent"))).toHaveLength(0);
    });

    test("a finished job cannot be cancelled, and an unknown one is not found", async () => {
      const id = await submit(slow);
      await waitFor("the job to be over", async () => (await call("GET", `${path}/${id}`)).body.status === "success");
      const { status, headers, body } = await call("POST", `${path}/${id}/cancel`);
      expect([status, body.error?.code, headers.get("x-should-retry")]).toEqual([409, "job_finished", "false"]);
      expect((await call("POST", `${path}/${unknownJob}/cancel`)).body.error?.code).toBe("job_not_found");
      expect((await call("POST", `${path}/none/cancel`)).status).toBe(422);
    });

    test("the operator sees the jobs of all owners and cancels them; an inference key does not", async () => {
      vendor.on(unanswered.model, [hang]);
      const ids = [await submit(unanswered), await submit(unanswered, keys.another)];
      const list = async () => ((await gateway.manage("GET", "/jobs?status=processing")) as Job).items;
      const items = await waitFor("both to run", async () => {
        const found = await list();
        return found.every(({ runs }) => runs === 1) ? found : null;
      });
      expect(items.map(({ job_id }) => job_id)).toEqual(ids.toReversed());
      const own = (await gateway.manage("GET", `/jobs?status=processing&key=${items[1]?.key_id}`)) as Job;
      expect(own.items.map(({ job_id }) => job_id)).toEqual(ids.slice(0, 1));
      for (const id of ids) await gateway.manage("POST", `/jobs/${id}/cancel`);
      expect(await list()).toEqual([]);
      expect((await call("GET", `${path}/${ids[1]}`, { by: keys.another })).body.error?.message).toBe(
        "The job was cancelled.",
      );
      expect((await call("GET", "/v3/manage/jobs")).status).toBe(403);
      expect((await call("POST", `/v3/manage/jobs/${ids[0]}/cancel`)).status).toBe(403);
    });
  });
