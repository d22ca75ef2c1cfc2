// One scrape shows what all processes of a gateway did, whichever process answers it.

import { describe, expect, test } from "bun:test";
import { ask } from "../support/chat.ts";
import { listDocumentedMetrics } from "../support/dashboards.ts";
import { findFreePort } from "../support/free-port.ts";
import { sharedGatewayProcess } from "../support/gateway-process.ts";
import { callJobs } from "../support/jobs.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const openStream =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" +
  'data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n';

const vendor = await startVendor();
const port = await findFreePort();
const metricsUrl = `http://127.0.0.1:${port}/metrics`;
const env = { SWITCHYARD_METRICS_PORT: String(port) };
const gateway = await sharedGatewayProcess({ vendor, workers: 2, jobWorkers: 1, env });
const key = await gateway.createKey();

function readValue(text: string, series: string): number | null {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

async function scrape(): Promise<string> {
  const response = await fetch(metricsUrl, { headers: { connection: "close" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  return await response.text();
}

describe("/metrics", () => {
  test("counts the requests, attempts and tokens of all processes", async () => {
    const question = { messages: [{ role: "user", content: "hello" }] };
    // A new connection for each request, so that both processes serve some.
    const send = async (model: string, stream: boolean) => {
      const answer = await ask(gateway.url, key, { ...question, model, stream }, { headers: { connection: "close" } });
      await answer.text();
      return answer.status;
    };
    const statuses = await Promise.all([
      ...Array.from({ length: 20 }, () => send("mock/echo", false)),
      ...Array.from({ length: 5 }, () => send("mock/echo", true)),
      ...Array.from({ length: 3 }, () => send("nobody/echo", false)),
    ]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    const text = await scrape();
    const route = 'route="/v3/chat/completions"';
    expect(readValue(text, `switchyard_http_requests_total{${route},status="200"}`)).toBe(25);
    expect(readValue(text, `switchyard_errors_total{${route},code="provider_not_found"}`)).toBe(3);
    expect(readValue(text, `switchyard_http_request_duration_seconds_count{${route}}`)).toBe(28);
    const labels = 'provider="mock",model="echo"';
    expect(readValue(text, `switchyard_attempts_total{${labels},outcome="completed"}`)).toBe(25);
    expect(readValue(text, `switchyard_tokens_total{${labels},kind="input"}`)).toBeGreaterThan(0);
    expect(text).not.toContain("nobody");
    expect(readValue(text, "switchyard_store_up")).toBe(1);
  });

  test("shows jobs, the queue, the store, the ledger and the local engines", async () => {
    const job = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };
    expect((await callJobs(gateway.url, key, { method: "POST", body: job })).status).toBe(202);
    // The engine process starts with the first local task.
    const task = { model: "text/keyword_extraction/local", input: { text: "The signal box at dusk." } };
    const answer = await fetch(`${gateway.url}/v3/universal-ai`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(task),
    });
    expect(answer.status).toBe(200);
    const done = 'switchyard_job_duration_seconds_count{task="text/sentiment_analysis",status="success"}';
    const text = await waitFor("the job and the engine process", async () => {
      const scraped = await scrape();
      const isComplete = readValue(scraped, done) === 1 && scraped.includes('process="engine-');
      return isComplete ? scraped : null;
    });
    expect(readValue(text, 'switchyard_queue_items{kind="run",state="waiting"}')).toBe(0);
    expect(readValue(text, 'switchyard_queue_oldest_waiting_seconds{kind="deliver"}')).toBe(0);
    const operations = 'switchyard_store_operation_duration_seconds_count{store="jobs",mode="write"}';
    expect(readValue(text, operations)).toBeGreaterThan(0);
    expect(readValue(text, 'switchyard_local_engine_waiting{pool="requests",lane="light"}')).toBe(0);
    expect(readValue(text, 'switchyard_local_engine_workers{pool="requests",lane="light"}')).toBe(1);
    expect(readValue(text, "switchyard_ledger_dropped_lines_total")).toBe(0);
    expect(readValue(text, "switchyard_ledger_waiting_lines")).not.toBeNull();
    expect(readValue(text, 'switchyard_circuits{provider="mock",deployment="mock",state="closed"}')).toBe(1);
    expect(text).toMatch(/switchyard_event_loop_delay_seconds_count\{process="worker-\d+"\} [1-9]/);
    expect(text).toMatch(/switchyard_build_info\{version="\d[^"]+"\} 1/);
  });

  test("has no metric that docs/metrics.md does not list", async () => {
    const documented = await listDocumentedMetrics();
    const shown = [...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
    expect(shown.length).toBeGreaterThan(25);
    expect(shown.filter((name) => !documented.has(name))).toEqual([]);
  });

  test("counts a stream while it runs", async () => {
    vendor.on("slow", [{ do: "write", bytes: openStream }, { do: "hang" }]);
    const leaving = new AbortController();
    const question = { model: "mock/slow", messages: [{ role: "user", content: "hello" }], stream: true };
    const answer = await ask(gateway.url, key, question, { signal: leaving.signal });
    expect(answer.status).toBe(200);
    const streams = async () => readValue(await scrape(), "switchyard_running_streams");
    expect(await streams()).toBe(1);
    leaving.abort();
    await waitFor("the stream to end", async () => (await streams()) === 0);
  });

  test("keeps the counts of a process that was killed, and shows its successor", async () => {
    const series = 'switchyard_http_requests_total{route="/v3/chat/completions",status="200"}';
    const before = readValue(await scrape(), series);
    const [killed] = (await gateway.processes()).serving;
    if (killed === undefined) throw new Error("there is no serving process");
    process.kill(killed, "SIGKILL");
    await waitFor("another process", async () => {
      const { serving } = await gateway.processes();
      return serving.length === 2 && !serving.includes(killed);
    });
    const text = await waitFor("the scrape with its successor", async () => {
      const scraped = await scrape().catch(() => null);
      const serving = new Set(scraped?.match(/"serving-\d+"/g));
      return serving.size === 2 && !serving.has(`"serving-${killed}"`) ? scraped : null;
    });
    expect(readValue(text, series)).toBe(before);
  });

  test("names every process", async () => {
    // The worker process starts after the serving processes.
    await waitFor("all processes", async () => {
      const processes = new Set((await scrape()).match(/process="(?:serving|worker)-\d+"/g));
      return processes.size === 3;
    });
  });

  test("needs a management key on the port of the gateway", async () => {
    const get = (authorization?: string) =>
      fetch(`${gateway.url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
    expect((await get()).status).toBe(401);
    expect((await get(`Bearer ${key}`)).status).toBe(403);
    const allowed = await get(`Bearer ${gateway.adminKey}`);
    expect(allowed.status).toBe(200);
    expect(await allowed.text()).toContain("# TYPE switchyard_http_requests_total counter");
  });
});
