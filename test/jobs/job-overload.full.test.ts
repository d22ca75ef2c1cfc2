// A burst of jobs that is more than its engines can take at once: every one of them gets its turn, and nobody else waits for it.

import { describe, expect, test } from "bun:test";
import { hang } from "../support/answers.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { callJobs } from "../support/jobs.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly error: unknown;
}

const vendor = await startVendor(() => [hang]);
const base_url = `http://127.0.0.1:${vendor.port}/tasks/v1`;
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  env: { SWITCHYARD_JOBS_AT_ONCE: "16", SWITCHYARD_LOCAL_WORKERS: "1", SWITCHYARD_LOCAL_MAX_WAITING: "1" },
  config: { providers: { own: { dialect: "openai", base_url, api_key: providerSecret, tasks: ["text/moderation"] } } },
});
const key = await gateway.createKey();

describe("a burst of jobs", () => {
  async function call(method: string, path: string, body?: unknown): Promise<Job> {
    const response = await callJobs(gateway.url, key, { method, path, body });
    expect(response.ok).toBe(true);
    return (await response.json()) as Job;
  }

  function submitMany(count: number, body: unknown): Promise<Job[]> {
    return Promise.all(Array.from({ length: count }, () => call("POST", "", body)));
  }

  function finished({ job_id }: Job): Promise<Job> {
    return waitFor(
      `the job ${job_id} to be over`,
      async () => {
        const job = await call("GET", `/${job_id}`);
        return job.status === "processing" ? null : job;
      },
      { withinMs: 100_000, everyMs: 100 },
    );
  }

  test("for a local engine with little capacity: all of them wait for it, and succeed", async () => {
    const text = "The quick brown fox jumps over the lazy dog.";
    const jobs = await submitMany(40, { model: "translation/language_detection/local", input: { text } });
    const done = await Promise.all(jobs.map((job) => finished(job)));
    expect(done.map(({ status, error }) => ({ status, error }))).toEqual(
      jobs.map(() => ({ status: "success", error: null })),
    );
  });

  test("for a provider that hangs: the jobs of the others go on", async () => {
    await submitMany(40, { model: "text/moderation/own", input: { text: "x" } });
    await vendor.waitFor("the calls", (requests) => requests.length >= 8);
    const others = await submitMany(10, { model: "text/moderation/sandbox", input: { text: "x" } });
    const done = await Promise.all(others.map((job) => finished(job)));
    expect(done.every(({ status }) => status === "success")).toBe(true);
  });
});
