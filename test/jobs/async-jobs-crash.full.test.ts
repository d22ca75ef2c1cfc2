// Jobs that are never lost: serving and working processes are killed at random while jobs come in, run and are reported to a
// receiver that fails now and then; and PostgreSQL goes away under all of it. Every job ends, every report arrives and can be verified.
//
// The counts are small enough for every run of the tests; SWITCHYARD_TEST_JOBS, _KILLS and _OUTAGE_MS make it as hard as one likes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type Hooks, startHooks } from "../support/hooks.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const jobs = Number(process.env["SWITCHYARD_TEST_JOBS"] ?? 100);
const kills = Number(process.env["SWITCHYARD_TEST_KILLS"] ?? 3);
const outageMs = Number(process.env["SWITCHYARD_TEST_OUTAGE_MS"] ?? 4_000);
const senders = 16;
const models = ["ok", "slow-20", "slow-200", "ok"];
// Attempts of a delivery: with this share of failures hardly one in ten thousand fails for good; those are sent again by hand.
const failingShare = 0.1;

interface Report {
  readonly jobId: string;
  readonly isGenuine: boolean;
}

const engines = [
  { engine: "SQLite", why: null },
  { engine: "PostgreSQL", why: whyNoOwnPostgres() },
] as const;

for (const { engine, why } of engines) {
  describe.skipIf(why !== null)(`on ${engine}${why === null ? "" : ` (${why})`}`, () => {
    let vendor: Vendor;
    let gateway: GatewayProcess;
    let postgres: OwnPostgres | null = null;
    let hooks: Hooks;
    let publicKey: ReturnType<typeof createPublicKey>;
    let key: string;
    let reports: Report[] = [];

    beforeAll(async () => {
      vendor = await startVendor();
      postgres = engine === "SQLite" ? null : await startOwnPostgres();
      hooks = await startHooks(receive);
      gateway = await startGatewayProcess({
        vendor,
        jobWorkers: 1,
        env: {
          ...(postgres === null ? {} : { DATABASE_URL: await postgres.createStore() }),
          ...hooks.env,
        },
      });
      key = await gateway.createKey();
      const pem = await fetch(`${gateway.url}/v3/webhooks/public-key`).then((response) => response.text());
      publicKey = createPublicKey(pem);
    });

    afterAll(async () => {
      await gateway?.stop();
      await hooks?.stop();
      await vendor?.stop();
      await postgres?.stop();
    });

    async function receive(request: Request): Promise<Response> {
      const text = await request.text();
      if (Math.random() < failingShare) return new Response(null, { status: 503 });
      const signature = Buffer.from(request.headers.get("x-service-signature") ?? "", "hex");
      const digest = Buffer.from(Bun.SHA256.hash(text, "hex"));
      const isGenuine = verify("sha256", digest, publicKey, signature);
      reports.push({ jobId: JSON.parse(text).job_id, isGenuine });
      return new Response(null, { status: 204 });
    }

    /** As a careful client does: with a key of its own, again until there is an answer. */
    async function submit(index: number): Promise<string> {
      return await waitFor(
        `job ${index} to be accepted`,
        async () => {
          const response = await fetch(`${gateway.url}/v3/universal-ai/async`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${key}`,
              "content-type": "application/json",
              "idempotency-key": `job-${engine}-${index}`,
            },
            body: JSON.stringify({
              model: `text/sentiment_analysis/sandbox/${models[index % models.length]}`,
              input: { text: `number ${index}` },
              webhook_receiver: hooks.urlOf("/hook"),
            }),
            signal: AbortSignal.timeout(60_000),
          }).catch(() => null);
          if (response?.status !== 202) return null;
          return ((await response.json()) as { job_id: string }).job_id;
        },
        { withinMs: 120_000, everyMs: 100 },
      );
    }

    async function submitMany(first: number, count: number): Promise<string[]> {
      const ids: string[] = [];
      let next = first;
      async function send(): Promise<void> {
        while (next < first + count) ids.push(await submit(next++));
      }
      await Promise.all(Array.from({ length: senders }, send));
      return ids;
    }

    /** What the gateway says of it; while nobody answers, it is asked again. */
    async function stateOf(id: string): Promise<string> {
      return await waitFor(
        "an answer",
        async () => {
          const response = await fetch(`${gateway.url}/v3/universal-ai/async/${id}`, {
            headers: { authorization: `Bearer ${key}` },
          }).catch(() => null);
          if (response === null || response.status === 503) return null;
          return response.status === 200
            ? ((await response.json()) as { status: string }).status
            : `answered ${response.status}`;
        },
        { everyMs: 100 },
      );
    }

    /** A delivery that met four failures in a row is over; its owner sends it again. */
    async function redeliverFailed(ids: readonly string[]): Promise<void> {
      const told = new Set(reports.map(({ jobId }) => jobId));
      for (const id of ids.filter((one) => !told.has(one))) {
        const headers = { authorization: `Bearer ${key}` };
        const address = `${gateway.url}/v3/universal-ai/async/${id}/deliveries`;
        const log = (await fetch(address, { headers }).then((response) => response.json())) as {
          items: { state: string }[];
        };
        if (log.items.length > 0 && log.items.every(({ state }) => state === "failed"))
          await fetch(`${address}/redeliver`, { method: "POST", headers });
      }
    }

    async function expectAllReported(ids: readonly string[]): Promise<void> {
      await waitFor(
        "every report",
        async () => {
          const told = new Set(reports.map(({ jobId }) => jobId));
          if (ids.every((id) => told.has(id))) return true;
          await redeliverFailed(ids).catch(() => {});
          return false;
        },
        { withinMs: 180_000, everyMs: 500 },
      );
      expect(reports.every(({ isGenuine }) => isGenuine)).toBe(true);
      for (const id of ids) expect(await stateOf(id)).toBe("success");
    }

    test(`${jobs} jobs, ${kills} kills of serving and working processes: every job ends well and is reported`, async () => {
      reports = [];
      const accepted = submitMany(0, jobs);
      let done = 0;
      for (; done < kills; done++) {
        const victims = await waitFor(
          "processes to kill",
          async () => {
            const { serving, working } = await gateway.processes();
            return serving.length > 0 && working.length > 0 ? [serving[0], working[0]] : null;
          },
          { everyMs: 50 },
        );
        await Bun.sleep(Math.random() * 700);
        const victim = victims[done % 2];
        if (victim !== undefined) process.kill(victim, "SIGKILL");
      }
      const ids = await accepted;
      expect(new Set(ids).size).toBe(jobs);
      await expectAllReported(ids);
    }, 600_000);

    test.skipIf(engine === "SQLite")(
      `while PostgreSQL is down for ${outageMs} ms, submitting is a 503; afterwards jobs go on, and none is lost`,
      async () => {
        if (postgres === null) return;
        reports = [];
        const before = await submitMany(100_000, 60);
        await postgres.kill();
        const refused = await fetch(`${gateway.url}/v3/universal-ai/async`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "text/sentiment_analysis/sandbox", input: { text: "x" } }),
        });
        expect(refused.status).toBe(503);
        expect(((await refused.json()) as { error: { code: string } }).error.code).toBe("dependency_unavailable");
        await Bun.sleep(outageMs);
        await postgres.start();
        const id = await submit(200_000);
        await waitFor("a job to be done after the outage", async () => (await stateOf(id)) === "success", {
          everyMs: 50,
        });
        await expectAllReported([...before, id]);
      },
      300_000,
    );
  });
}
