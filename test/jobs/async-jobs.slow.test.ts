// Jobs over HTTP, with a gateway and its working process, on both engines: submit, ask, list, delete, and what happens when things break.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { canonicalizeJsonText } from "../../src/jobs/canonical-json.ts";
import { parseExactJson } from "../../src/lib/exact-json.ts";
import { answer, hang, type Script } from "../support/answers.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { type Hooks, startHooks } from "../support/hooks.ts";
import { startPostgres, type TestPostgres, whyNoPostgres } from "../support/postgres.ts";
import { toSilence } from "../support/silence.ts";
import { isFullRun } from "../support/test-size.ts";
import { startVendor, type Vendor, type VendorRequest } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

interface Received {
  readonly headers: Headers;
  readonly text: string;
  readonly at: number;
}

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly [member: string]: unknown;
}

interface Delivery {
  readonly state: string;
  readonly attempts: readonly { readonly status: number | null }[];
}

/** Whatever of it a test reads is there, or the test fails. */
interface Body extends Job {
  readonly error: { readonly code: string };
  readonly detail: unknown;
  readonly total: number;
  readonly total_pages: number;
  readonly items: readonly (Job & Delivery)[];
}

const unknownJob = "00000000-0000-4000-8000-000000000000";
const sentiment = { model: "text/sentiment_analysis/sandbox", input: { text: "It is good." } };

const finishedTranscript = {
  id: "t-1",
  status: "completed",
  text: "Hello there.",
  audio_duration: 1,
  utterances: [
    {
      speaker: "A",
      text: "Hello there.",
      words: [
        { text: "Hello", start: 0, end: 400, confidence: 0.9, speaker: "A" },
        { text: "there.", start: 400, end: 800, confidence: 0.9, speaker: "A" },
      ],
    },
  ],
};

// The tests of storage run on both in every run.
const engines = [
  { engine: "SQLite", why: null },
  ...(isFullRun ? [{ engine: "PostgreSQL", why: whyNoPostgres() }] : []),
];

for (const { engine, why } of engines) {
  describe.skipIf(why !== null)(`on ${engine}${why === null ? "" : ` (${why})`}`, () => {
    let vendor: Vendor;
    let gateway: GatewayProcess;
    let postgres: TestPostgres | null = null;
    let hooks: Hooks;
    let receiverUrl: string;
    let received: Received[] = [];
    let respond: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 204 });
    let transcribing: (request: VendorRequest) => Script = () => answer(500, {});
    let key: string;
    let otherKey: string;

    beforeAll(async () => {
      vendor = await startVendor((request) =>
        request.path.startsWith("/assemblyai/") ? transcribing(request) : answer(500, {}),
      );
      postgres = engine === "SQLite" ? null : await startPostgres();
      hooks = await startHooks(async (request) => {
        received.push({ headers: request.headers, text: await request.text(), at: Date.now() });
        return await respond(request);
      });
      receiverUrl = hooks.urlOf("/hook");
      const origin = `http://127.0.0.1:${vendor.port}`;
      const declared = { dialect: "openai", base_url: `${origin}/tasks/v1`, api_key: providerSecret };
      gateway = await startGatewayProcess({
        vendor,
        jobWorkers: 1,
        env: {
          ...(postgres === null ? {} : { DATABASE_URL: await postgres.createStore() }),
          ASSEMBLYAI_API_KEY: providerSecret,
          ASSEMBLYAI_BASE_URL: `http://127.0.0.1:${vendor.port}/assemblyai`,
          ...hooks.env,
        },
        config: {
          providers: {
            own: { ...declared, tasks: ["text/moderation", "translation/language_detection"] },
            spare: { ...declared, base_url: `${origin}/spare/v1`, tasks: ["text/moderation"] },
          },
        },
      });
      key = await gateway.createKey({ name: "one" });
      otherKey = await gateway.createKey({ name: "another" });
    });

    afterAll(async () => {
      await gateway?.stop();
      await hooks?.stop();
      await vendor?.stop();
      await postgres?.stop();
    });

    async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}, by = key) {
      const response = await fetch(`${gateway.url}/v3/universal-ai/async${path}`, {
        method,
        headers: { authorization: `Bearer ${by}`, "content-type": "application/json", ...more },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
    }

    async function submit(body: unknown, more: Record<string, string> = {}): Promise<Job> {
      const { status, body: job } = await call("POST", "", body, more);
      expect({ status, job }).toMatchObject({ status: 202 });
      return job;
    }

    function finished(id: string): Promise<Job> {
      return waitFor(
        `the job ${id} to be over`,
        async () => {
          const { body } = await call("GET", `/${id}`);
          return body.status === "processing" ? null : (body as Job);
        },
        { everyMs: 50 },
      );
    }

    function deliveries(id: string) {
      return call("GET", `/${id}/deliveries`).then(({ body }) => body);
    }

    test("a job is accepted with 202 and its place, and ends with the output of its task", async () => {
      const { status, headers, body: job } = await call("POST", "", sentiment);
      expect(status).toBe(202);
      expect(headers.get("location")).toBe(`/v3/universal-ai/async/${job.job_id}`);
      expect<unknown>(job).toEqual({
        job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        public_id: job.job_id,
        status: "processing",
        feature: "text",
        subfeature: "sentiment_analysis",
        provider: "sandbox",
        model: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        finished_at: null,
        cost: null,
        output: null,
        error: null,
      });
      const done = await finished(job.job_id);
      expect(done).toMatchObject({ status: "success", cost: 0, error: null, provider: "sandbox" });
      expect(done["output"]).toMatchObject({ general_sentiment: expect.any(String) });
      expect(done["finished_at"]).toEqual(expect.stringMatching(/Z$/));
      expect(done).not.toHaveProperty("original_response");
    });

    test("the vendor's own answer is included on request only", async () => {
      const { job_id } = await submit({ ...sentiment, show_original_response: true });
      expect(await finished(job_id)).toMatchObject({ original_response: { sandbox: true } });
    });

    test("a job that fails says why, and costs nothing that is known", async () => {
      const { job_id } = await submit({ ...sentiment, model: `${sentiment.model}/error-400` });
      expect(await finished(job_id)).toMatchObject({
        status: "fail",
        output: null,
        cost: null,
        error: { message: expect.stringContaining("400") },
      });
    });

    test("an invalid request is refused at once, and no job is created", async () => {
      const before = (await call("GET", "")).body.total;
      expect((await call("POST", "", { ...sentiment, input: {} })).status).toBe(422);
      expect((await call("POST", "", { ...sentiment, model: "text/sentiment_analysis/nobody" })).body.error.code).toBe(
        "provider_not_found",
      );
      const file = { model: "ocr/ocr_async/sandbox", input: { file: unknownJob } };
      expect((await call("POST", "", file)).body.detail).toMatchObject([
        { loc: ["body", "input", "file"], type: "file_not_found" },
      ]);
      expect((await call("GET", "")).body.total).toBe(before);
    });

    test("jobs are listed newest first, filtered and paged, the own ones only", async () => {
      const first = await submit(sentiment);
      const second = await submit({ model: "text/moderation/sandbox", input: { text: "x" } });
      await finished(second.job_id);
      const { body: page } = await call("GET", "?limit=1&page=1");
      expect(page).toMatchObject({ page: 1, limit: 1, items: [{ job_id: second.job_id }] });
      expect(page.total_pages).toBe(page.total);
      const { body: filtered } = await call("GET", "?feature=text&subfeature=sentiment_analysis");
      expect(filtered.items[0]?.job_id).toBe(first.job_id);
      expect(filtered.items.every((item) => item["subfeature"] === "sentiment_analysis")).toBe(true);
      expect((await call("GET", "?status=success")).body.items.every((item) => item.status === "success")).toBe(true);
      expect((await call("GET", "", undefined, {}, otherKey)).body.total).toBe(0);
      expect((await call("GET", "?status=done")).status).toBe(422);
      expect((await call("GET", "?limit=1001")).status).toBe(422);
    });

    test("somebody else's job, a deleted one and one that never was are the same answer", async () => {
      const { job_id } = await submit(sentiment);
      await finished(job_id);
      expect((await call("DELETE", `/${job_id}`, undefined, {}, otherKey)).status).toBe(404);
      expect<unknown>((await call("DELETE", `/${job_id}`)).body).toEqual({ job_id, deleted: true });
      const answers = await Promise.all([
        call("GET", `/${job_id}`),
        call("GET", `/${job_id}`, undefined, {}, otherKey),
        call("GET", `/${unknownJob}`),
        call("GET", `/${job_id}/deliveries`),
        call("DELETE", `/${job_id}`),
        call("POST", `/${job_id}/deliveries/redeliver`),
      ]);
      for (const one of answers) {
        expect(one.status).toBe(404);
        expect(one.body).toEqual(answers[0].body);
        expect(one.body.error.code).toBe("job_not_found");
      }
    });

    test("a running job cannot be deleted", async () => {
      vendor.next([hang]);
      const { job_id } = await submit({ model: "text/moderation/own", input: { text: "x" } });
      await vendor.waitFor("the call", (requests) => requests.length > 0);
      const { status, headers, body } = await call("DELETE", `/${job_id}`);
      expect(status).toBe(409);
      expect(headers.get("x-should-retry")).toBe("false");
      expect(body.error.code).toBe("job_processing");
      vendor.clear();
    });

    test("the same key and body make one job, another body with the same key is refused", async () => {
      const idempotencyKey = { "idempotency-key": `key-${engine}` };
      const all = await Promise.all(Array.from({ length: 8 }, () => submit(sentiment, idempotencyKey)));
      expect(new Set(all.map(({ job_id }) => job_id)).size).toBe(1);
      const other = await call("POST", "", { ...sentiment, input: { text: "other" } }, idempotencyKey);
      expect(other.status).toBe(422);
      expect(other.body.detail).toMatchObject([{ loc: ["header", "idempotency-key"], type: "idempotency_key_reused" }]);
      const form = new FormData();
      form.append("file", new File(["%PDF-1.4 of a kind"], "a.pdf"));
      const headers = { authorization: `Bearer ${key}` };
      const upload = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
      const { file_id } = (await upload.json()) as { file_id: string };
      const withFile = { model: "ocr/ocr_async/sandbox", input: { file: file_id } };
      const first = await submit(withFile, { "idempotency-key": "with-a-file" });
      await fetch(`${gateway.url}/v3/upload`, { method: "DELETE", headers });
      // Its file is gone: what was accepted stays so, and would not be accepted now.
      expect((await submit(withFile, { "idempotency-key": "with-a-file" })).job_id).toBe(first.job_id);
      expect((await call("POST", "", withFile)).status).toBe(422);
      const foreign = await call("POST", "", sentiment, idempotencyKey, otherKey);
      expect(foreign.status).toBe(202);
      expect(foreign.body.job_id).not.toBe(all[0]?.job_id);
      expect((await call("POST", "", sentiment, { "idempotency-key": "with space" })).status).toBe(422);
    });

    test("a failed provider is followed by the fallback, in the same job", async () => {
      vendor.clear();
      vendor.next(answer(500, { error: { message: "no" } }));
      vendor.next(answer(200, { output: { nsfw_likelihood: 1, items: [], nsfw_likelihood_score: 0.1 } }));
      const { job_id } = await submit({
        model: "text/moderation/own",
        fallbacks: ["text/moderation/spare", "text/moderation/sandbox"],
        input: { text: "x" },
      });
      const done = await finished(job_id);
      expect(done.status).toBe("success");
      expect(["spare", "sandbox"]).toContain(String(done["provider"]));
      expect(vendor.requests[0]?.path).toBe("/tasks/v1/universal-ai");
    });

    test("when its process is killed, a job is done again where that is safe, else it fails and says so", async () => {
      vendor.clear();
      vendor.next([hang]);
      const unsafe = await submit({ model: "text/moderation/own", input: { text: "x" } });
      const safe = await submit({ ...sentiment, model: `${sentiment.model}/slow-3000` });
      await vendor.waitFor("the call", (requests) => requests.length > 0);
      const { working } = await gateway.processes();
      for (const pid of working) process.kill(pid, "SIGKILL");
      expect(await finished(unsafe.job_id)).toMatchObject({
        status: "fail",
        error: { message: expect.stringContaining("interrupted") },
      });
      expect(vendor.requests.filter(({ path }) => path.startsWith("/tasks"))).toHaveLength(1);
      expect(await finished(safe.job_id)).toMatchObject({ status: "success" });
    });

    test("work that continues at a vendor is started once, and polled again after a crash", async () => {
      // Invented answers in the documented form.
      let isDone = false;
      const asked: string[] = [];
      transcribing = ({ method, path }) => {
        asked.push(`${method} ${path}`);
        if (path.endsWith("/v2/upload")) return answer(200, { upload_url: "https://cdn.example/upload/1" });
        return answer(200, isDone ? finishedTranscript : { id: "t-1", status: "processing" });
      };
      const form = new FormData();
      form.append("file", new File([toSilence()], "silence.wav"));
      const upload = await fetch(`${gateway.url}/v3/upload`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: form,
      });
      const { file_id } = (await upload.json()) as { file_id: string };
      const { job_id } = await submit({ model: "audio/speech_to_text_async/assemblyai", input: { file: file_id } });
      await waitFor("a first question", () => asked.some((line) => line.startsWith("GET")));
      const { working } = await gateway.processes();
      for (const pid of working) process.kill(pid, "SIGKILL");
      isDone = true;
      const done = await finished(job_id);
      expect(done).toMatchObject({ status: "success", provider: "assembly", output: { text: "Hello there." } });
      expect(asked.filter((line) => line.startsWith("POST"))).toEqual([
        "POST /assemblyai/v2/upload",
        "POST /assemblyai/v2/transcript",
      ]);
    });

    test("the report is signed, canonical and complete, and is logged", async () => {
      received = [];
      const { job_id } = await submit({
        ...sentiment,
        webhook_receiver: receiverUrl,
        user_webhook_parameters: { "10": 1, "9": { b: null, a: "ü" }, id: parseExactJson("9007199254740993") },
      });
      await finished(job_id);
      await waitFor("the report", () => received.length > 0);
      const [report] = received as [Received];
      const payload = JSON.parse(report.text);
      expect(payload).toMatchObject({
        event: "async_job_completed",
        job_id,
        status: "success",
        feature: "text",
        subfeature: "sentiment_analysis",
        provider: "sandbox",
        model: null,
        user_parameters: { "10": 1, "9": { b: null, a: "ü" } },
      });
      expect(payload).not.toHaveProperty("error");
      expect(payload).not.toHaveProperty("original_response");
      expect(report.text).toContain('"id": 9007199254740993\n');
      expect(canonicalizeJsonText(report.text)).toBe(report.text);
      const headers = Object.fromEntries(report.headers);
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "user-agent": "Switchyard-Webhooks/1",
        "x-service-webhook": "true",
        "x-service-hash-algorithm": "SHA256",
      });
      const pem = await fetch(`${gateway.url}/v3/webhooks/public-key`).then((response) => response.text());
      const digest = Bun.SHA256.hash(report.text, "hex");
      const signature = Buffer.from(headers["x-service-signature"] ?? "", "hex");
      expect(verify("sha256", Buffer.from(digest), createPublicKey(pem), signature)).toBe(true);
      const log = await waitFor("the log of it", async () => {
        const found = await deliveries(job_id);
        return found.items[0]?.state === "delivered" ? found : null;
      });
      expect(log).toMatchObject({
        job_id,
        items: [{ state: "delivered", next_attempt_at: null, attempts: [{ number: 1, status: 204, error: null }] }],
      });
    });

    test("a report can be sent again, as a delivery of its own", async () => {
      received = [];
      const { job_id } = await submit({ ...sentiment, webhook_receiver: receiverUrl });
      await waitFor("the report", () => received.length === 1);
      const again = await call("POST", `/${job_id}/deliveries/redeliver`);
      expect(again).toMatchObject({ status: 202, body: { state: "pending", attempts: [] } });
      await waitFor("the second report", () => received.length === 2);
      expect(received[1]?.text).toBe(received[0]?.text ?? "");
      await waitFor(
        "both in the log",
        async () => (await deliveries(job_id)).items.filter(({ state }) => state === "delivered").length === 2,
      );
      const without = await submit(sentiment);
      await finished(without.job_id);
      expect((await call("POST", `/${without.job_id}/deliveries/redeliver`)).body.error.code).toBe(
        "no_webhook_receiver",
      );
    });

    test("a receiver that fails at first is tried again after about a second", async () => {
      received = [];
      let refusals = 1;
      respond = () => new Response(null, { status: refusals-- > 0 ? 503 : 200 });
      const { job_id } = await submit({ ...sentiment, webhook_receiver: receiverUrl });
      await waitFor("the second attempt", () => received.length === 2);
      respond = () => new Response(null, { status: 204 });
      const gap = (received[1]?.at ?? 0) - (received[0]?.at ?? 0);
      expect(gap).toBeGreaterThan(700);
      expect(received[1]?.headers.get("webhook-id")).toBe(received[0]?.headers.get("webhook-id") ?? "");
      const log = await waitFor("the log", async () => {
        const found = await deliveries(job_id);
        return found.items[0]?.state === "delivered" ? found : null;
      });
      expect(log.items[0]?.attempts.map(({ status }) => status)).toEqual([503, 200]);
    });

    test("a receiver that hangs does not delay the others", async () => {
      received = [];
      const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
      try {
        const stuck = Array.from({ length: 40 }, () =>
          submit({ ...sentiment, webhook_receiver: `https://hooks.example.com:${silent.port}/hook` }),
        );
        await Promise.all(stuck);
        await Promise.all(Array.from({ length: 40 }, () => submit({ ...sentiment, webhook_receiver: receiverUrl })));
        await waitFor("the other reports", () => received.length === 40);
      } finally {
        silent.stop(true);
      }
    });

    test("a binary result can be fetched from the job's answer", async () => {
      const { job_id } = await submit({ model: "audio/tts/sandbox", input: { text: "Hello" } });
      const done = await finished(job_id);
      const address = (done["output"] as { audio_resource_url: string }).audio_resource_url;
      expect((await fetch(address)).status).toBe(200);
    });

    test("jobs that run when the gateway goes down are done by the next one", async () => {
      // The last test: it replaces every process.
      const { job_id } = await submit({ ...sentiment, model: `${sentiment.model}/slow-3000` });
      await waitFor("the job to run", async () => {
        const { runs } = (await gateway.manage("GET", `/jobs/${job_id}`)) as { readonly runs: number };
        return runs > 0;
      });
      const before = await gateway.processes();
      gateway.signal("SIGHUP");
      await waitFor(
        "other processes",
        async () => (await gateway.processes()).working.every((pid) => !before.working.includes(pid)),
        { everyMs: 100 },
      );
      expect((await finished(job_id)).status).toBe("success");
    });
  });
}
