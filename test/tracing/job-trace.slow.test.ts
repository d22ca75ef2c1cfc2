// The trace of a job and of its webhook, from the processes of a real gateway.

import { afterAll, expect, test } from "bun:test";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startHooks } from "../support/hooks.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const webhooks: { readonly headers: Headers; readonly text: string }[] = [];
const collector = startOtlpReceiver();
const vendor = await startVendor();
let statuses: number[] = [];
const hooks = await startHooks(async (request) => {
  webhooks.push({ headers: request.headers, text: await request.text() });
  return new Response(null, { status: statuses.shift() ?? 204 });
});
const gateway = await startGatewayProcess({
  vendor,
  jobWorkers: 1,
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    ...hooks.env,
  },
});
const key = await gateway.createKey();
afterAll(async () => {
  await gateway.stop();
  await hooks.stop();
  collector.stop();
  await vendor.stop();
});

async function submit(body: object, traceparent: string): Promise<string> {
  const response = await waitFor("the job to be accepted", async () => {
    const answer = await fetch(`${gateway.url}/v3/universal-ai/async`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", traceparent },
      body: JSON.stringify(body),
    });
    return answer.status === 202 ? answer : null;
  });
  return ((await response.json()) as { job_id: string }).job_id;
}

function makeParent() {
  const traceId = crypto.randomUUID().replaceAll("-", "");
  return { traceId, spanId: "00f067aa0ba902b7", traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
}

test("the run of a job and its webhook belong to the trace of the request that submitted it", async () => {
  statuses = [503];
  const parent = makeParent();
  const body = {
    model: "text/sentiment_analysis/sandbox",
    input: { text: "A lovely day" },
    webhook_receiver: hooks.urlOf("/secret-path"),
  };
  const jobId = await submit(body, parent.traceparent);
  await waitFor("both deliveries", () => webhooks.length >= 2);
  const spans = await collector.waitForTrace(parent.traceId, 6);
  const named = (name: string) => spans.filter((span) => span.name === name).sort((a, b) => Number(a.start - b.start));
  const [request] = named("POST /v3/universal-ai/async");
  const [job] = named("job text/sentiment_analysis");
  const [task] = named("task text/sentiment_analysis");
  const attempt = spans.find(({ attributes }) => attributes["gen_ai.operation.name"] !== undefined);
  const deliveries = named("POST webhook");

  expect(request).toMatchObject({ kind: "server", parentSpanId: parent.spanId });
  expect(job).toMatchObject({ kind: "consumer", parentSpanId: request?.spanId ?? "", isError: false });
  expect(job?.attributes).toMatchObject({
    "switchyard.job.id": jobId,
    "switchyard.job.run": 1,
    "switchyard.job.status": "success",
    "switchyard.task": "text/sentiment_analysis",
    "messaging.operation.type": "process",
    "messaging.message.id": jobId,
  });
  expect(job?.resource["process.pid"]).not.toBe(request?.resource["process.pid"]);
  expect(task).toMatchObject({ kind: "internal", parentSpanId: job?.spanId ?? "" });
  expect(attempt).toMatchObject({ parentSpanId: task?.spanId ?? "" });
  expect(attempt?.attributes).toMatchObject({
    "gen_ai.operation.name": "text/sentiment_analysis",
    "gen_ai.provider.name": "sandbox",
    "switchyard.job.id": jobId,
  });
  expect(
    deliveries.map(({ kind, parentSpanId, isError, attributes }) => ({ kind, parentSpanId, isError, attributes })),
  ).toEqual([
    {
      kind: "client",
      parentSpanId: job?.spanId ?? "",
      isError: true,
      attributes: {
        "http.request.method": "POST",
        "http.response.status_code": 503,
        "server.address": "hooks.example.com",
        "server.port": hooks.port,
        "url.scheme": "https",
        "error.type": "503",
        "switchyard.delivery.id": expect.any(String),
        "switchyard.delivery.outcome": "retry",
        "switchyard.job.id": jobId,
      },
    },
    {
      kind: "client",
      parentSpanId: job?.spanId ?? "",
      isError: false,
      attributes: {
        "http.request.method": "POST",
        "http.request.resend_count": 1,
        "http.response.status_code": 204,
        "server.address": "hooks.example.com",
        "server.port": hooks.port,
        "url.scheme": "https",
        "switchyard.delivery.id": expect.any(String),
        "switchyard.delivery.outcome": "delivered",
        "switchyard.job.id": jobId,
      },
    },
  ]);
  const sent = webhooks.map(({ headers }) => headers.get("traceparent"));
  expect(sent).toEqual(deliveries.map(({ spanId }) => `00-${parent.traceId}-${spanId}-01`));
  // The context is stored with the job, and is neither shown nor sent.
  const shown = await fetch(`${gateway.url}/v3/universal-ai/async/${jobId}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(await shown.text()).not.toContain(parent.traceId);
  expect(webhooks[0]?.text).not.toContain(parent.traceId);
  expect(JSON.stringify(spans, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    "secret-path",
  );
});
