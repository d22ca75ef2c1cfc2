// Two gateways, a worker, nginx with the sample configuration, and PostgreSQL: every part is restarted under load, and no request fails.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { stream } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { callJobs } from "../support/jobs.ts";
import { type SteadyLoad, startSteadyLoad } from "../support/steady-load.ts";
import { startTopology, type Topology, whyNoTopology } from "../support/topology.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const why = whyNoTopology();
// `TEST_OUTAGE_SECONDS=60` shows that a longer outage makes no difference.
const outageMs = Number(process.env["TEST_OUTAGE_SECONDS"] ?? 20) * 1_000;
const job = { model: "text/sentiment_analysis/sandbox", input: { text: "A good day." } };

describe.skipIf(why !== null)(`the topology of deploy/compose.yaml${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let vendor: Vendor;
  let topology: Topology;
  let key: string;
  let load: SteadyLoad | null = null;

  beforeAll(async () => {
    vendor = await startVendor();
    // About a second long, so that streams begin and end in every phase of a restart.
    const words = Array.from({ length: 20 }, () => "word ");
    vendor.on("slow", stream(words, { intervalMs: 50 }));
    topology = await startTopology(vendor);
    key = await topology.createKey();
    await waitFor("every process to know the key", async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => ask(topology.url, key, hello, { headers: { connection: "close" } })),
      );
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      return texts.length > 0 && answers.every((answer) => answer.status === 200);
    });
  }, 300_000);

  afterAll(async () => {
    await topology?.stop();
    await vendor?.stop();
  }, 300_000);

  afterEach(async () => {
    await load?.stop();
    load = null;
  });

  async function startLoad(): Promise<SteadyLoad> {
    const started = startSteadyLoad({ url: topology.url, key, streamModel: "mock/slow" });
    load = started;
    await waitFor("the load to run", () => started.plain() > 100 && started.streams() > 8);
    return started;
  }

  /** The load goes on for a while after a change, and then has served nothing but successes. */
  async function expectNoFailure(running: SteadyLoad): Promise<void> {
    const [plain, streams] = [running.plain(), running.streams()];
    await waitFor("more answers", () => running.plain() > plain + 200 && running.streams() > streams + 16);
    await running.stop();
    if (running.failures.length > 0) console.log(topology.describe());
    expect(running.failures).toEqual([]);
  }

  test("rolling restarts of both gateways fail no request and cut no stream", async () => {
    const running = await startLoad();
    for (let round = 0; round < 2; round += 1)
      for (const gateway of topology.gateways) {
        await gateway.restart();
        const served = running.plain();
        await waitFor("the load to go on", () => running.plain() > served + 50);
      }
    await expectNoFailure(running);
    expect(running.resent()).toBe(0);
  }, 600_000);

  test("a reload of nginx fails no request and cuts no stream", async () => {
    const running = await startLoad();
    for (let round = 0; round < 5; round += 1) {
      await topology.nginx.reload();
      const served = running.plain();
      await waitFor("the load to go on", () => running.plain() > served + 50);
    }
    await expectNoFailure(running);
  }, 300_000);

  test("a restart of the worker loses no job, and requests do not notice it", async () => {
    const running = await startLoad();
    const jobs: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 40; count += 1) jobs.push(await submitJob());
      await topology.worker.restart();
    }
    await waitFor("all jobs to complete", async () => {
      const states = await Promise.all(jobs.map(readJob));
      return states.every((state) => state === "success");
    });
    await expectNoFailure(running);
  }, 300_000);

  test("a restart of PostgreSQL fails no request", async () => {
    const running = await startLoad();
    await topology.postgres.kill();
    await topology.postgres.start();
    await waitFor("jobs to be accepted again", async () => (await trySubmit()).status === 202);
    await expectNoFailure(running);
  }, 300_000);

  test("while PostgreSQL is away, chat goes on, the gateways stay ready, and no line of the ledger is lost", async () => {
    const running = await startLoad();
    const linesBefore = await countLines();
    const answeredBefore = running.plain() + running.streams();
    const notReady: string[] = [];
    let isAway = true;
    const probes = topology.gateways.map(async ({ url }) => {
      while (isAway) {
        const answer = await fetch(`${url}/readyz`).then(
          async (response) => `${response.status} ${await response.text()}`,
          String,
        );
        if (!answer.startsWith("200 ")) notReady.push(answer);
        await Bun.sleep(500);
      }
    });
    await topology.postgres.kill();
    const endsAt = Date.now() + outageMs;
    await waitFor("the end of the outage", () => Date.now() > endsAt, { withinMs: 2 * outageMs });
    expect((await trySubmit()).status).toBe(503);
    await topology.postgres.start();
    await waitFor("jobs to be accepted again", async () => (await trySubmit()).status === 202);
    isAway = false;
    await Promise.all(probes);
    await expectNoFailure(running);
    if (notReady.length > 0) console.log(topology.describe());
    expect(notReady).toEqual([]);
    const answered = running.plain() + running.streams() - answeredBefore;
    expect(answered).toBeGreaterThan(300);
    await waitFor("the lines of the outage", async () => (await countLines()) - linesBefore >= answered);
  }, 600_000);

  async function trySubmit(): Promise<Response> {
    return await fetch(`${topology.url}/v3/universal-ai/async`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(job),
    });
  }

  async function submitJob(): Promise<string> {
    const response = await callJobs(topology.url, key, { method: "POST", body: job });
    expect(response.status).toBe(202);
    return ((await response.json()) as { job_id: string }).job_id;
  }

  async function readJob(id: string): Promise<string> {
    const response = await callJobs(topology.url, key, { path: `/${id}` });
    return ((await response.json()) as { status: string }).status;
  }

  async function countLines(): Promise<number> {
    const report = (await topology.manage("GET", "/usage?from=24h&outcome=completed")) as { totals: { lines: number } };
    return report.totals.lines;
  }
});
