import { describe, expect, test } from "bun:test";
import { type Family, toPrometheusText } from "../../src/metrics/family.ts";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { createMetricsCollector, createMetricsLink, type MetricsReport } from "../../src/metrics/metrics-link.ts";

const attempt = {
  provider: "openai",
  model: "gpt-5",
  outcome: "completed",
  durationMs: 300,
  firstTokenMs: null,
  inputTokens: 10,
  outputTokens: 5,
  cost: 0.5,
  reason: "first",
} as const;

async function textOf(...all: readonly Metrics[]): Promise<string> {
  return toPrometheusText(await Promise.all(all.map((metrics) => metrics.collect())));
}

function readValue(text: string, series: string): number | null {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe("the text for Prometheus", () => {
  test("adds the counters of all processes", async () => {
    const [one, another] = [createMetrics(), createMetrics()];
    one.attempt(attempt);
    another.attempt({ ...attempt, inputTokens: 7, cost: 0.25 });
    another.attempt({ ...attempt, outcome: "provider_error", cost: null });
    const text = await textOf(one, another);
    const labels = 'provider="openai",model="gpt-5"';
    expect(readValue(text, `switchyard_attempts_total{${labels},outcome="completed"}`)).toBe(2);
    expect(readValue(text, `switchyard_attempts_total{${labels},outcome="provider_error"}`)).toBe(1);
    expect(readValue(text, `switchyard_tokens_total{${labels},kind="input"}`)).toBe(27);
    expect(readValue(text, `switchyard_cost_usd_total{${labels}}`)).toBe(0.75);
    expect(readValue(text, `switchyard_unknown_costs_total{${labels}}`)).toBe(0);
  });

  test("the buckets of a histogram are cumulative and end with all values", async () => {
    const metrics = createMetrics();
    for (const milliseconds of [1, 5, 6, 700_000]) metrics.request("/v3/x", 200, null, milliseconds);
    const text = await textOf(metrics);
    const bucket = (le: string) =>
      readValue(text, `switchyard_http_request_duration_seconds_bucket{route="/v3/x",le="${le}"}`);
    expect([bucket("0.005"), bucket("0.01"), bucket("600"), bucket("+Inf")]).toEqual([2, 3, 3, 4]);
    expect(readValue(text, 'switchyard_http_request_duration_seconds_count{route="/v3/x"}')).toBe(4);
    expect(readValue(text, 'switchyard_http_request_duration_seconds_sum{route="/v3/x"}')).toBeCloseTo(700.012);
  });

  test("the bounds of a histogram ascend", async () => {
    const metrics = createMetrics();
    metrics.request("/v3/x", 200, null, 1);
    const bounds = Map.groupBy(
      (await textOf(metrics)).matchAll(/^(\w+)_bucket\{(.*?),?le="([^"]+)"\}/gm),
      ([, name, labels]) => `${name} ${labels}`,
    );
    expect(bounds.size).toBeGreaterThan(0);
    for (const [series, matches] of bounds) {
      const values = matches.map(([, , , bound]) => (bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound)));
      expect(values, series).toEqual(values.toSorted((one, other) => one - other));
    }
  });

  test("of a gauge that is not a sum, the largest value counts", () => {
    const gauge = (value: number): Family => ({
      name: "circuit_open",
      help: "",
      type: "gauge",
      merge: "max",
      samples: [{ labels: { provider: "openai" }, value }],
    });
    expect(readValue(toPrometheusText([[gauge(1)], [gauge(0)]]), 'switchyard_circuit_open{provider="openai"}')).toBe(1);
  });

  test("quotes, backslashes and line breaks in labels are escaped", async () => {
    const metrics = createMetrics();
    metrics.attempt({ ...attempt, model: 'a"b\\c\nd' });
    expect(await textOf(metrics)).toContain('model="a\\"b\\\\c\\nd"');
  });

  test("names that no provider answered, and models beyond the limit, share one series", async () => {
    const metrics = createMetrics();
    for (let index = 0; index < 100; index++)
      metrics.attempt({ ...attempt, model: `wrong-${index}`, outcome: "model_not_found", cost: null });
    for (let index = 0; index < 1_000; index++) metrics.attempt({ ...attempt, model: `right-${index}` });
    const text = await textOf(metrics);
    const failed = 'switchyard_attempts_total{provider="openai",model="other",outcome="model_not_found"}';
    expect(readValue(text, failed)).toBe(100);
    const models = new Set(text.match(/model="[^"]+"/g));
    expect(models.size).toBe(500);
    const completed = text.split("\n").filter((line) => line.includes('outcome="completed"'));
    expect(completed.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)).toBe(1_000);
  });
});

describe("what is counted", () => {
  test("retries and fallbacks are told apart, and first calls are neither", async () => {
    const metrics = createMetrics();
    metrics.attempt(attempt);
    metrics.attempt({ ...attempt, reason: "retry" });
    metrics.attempt({ ...attempt, reason: "retry" });
    metrics.attempt({ ...attempt, reason: "fallback" });
    const text = await textOf(metrics);
    const retries = (reason: string) =>
      readValue(text, `switchyard_retries_total{provider="openai",model="gpt-5",reason="${reason}"}`);
    expect([retries("retry"), retries("fallback"), retries("first")]).toEqual([2, 1, null]);
  });

  test("deliveries by outcome, jobs by task, and operations of the store by part", async () => {
    const metrics = createMetrics();
    metrics.delivery({ outcome: "delivered", durationMs: 20 });
    metrics.delivery({ outcome: "retry", durationMs: 30_000 });
    metrics.job({ task: "text/moderation", status: "success", durationMs: 2_000 });
    metrics.storeOperation({ store: "jobs", mode: "write", durationMs: 0.4, hasFailed: false });
    metrics.storeOperation({ store: "jobs", mode: "write", durationMs: 1_000, hasFailed: true });
    const text = await textOf(metrics);
    expect(readValue(text, 'switchyard_delivery_duration_seconds_count{outcome="delivered"}')).toBe(1);
    expect(readValue(text, 'switchyard_delivery_duration_seconds_sum{outcome="retry"}')).toBe(30);
    expect(readValue(text, 'switchyard_job_duration_seconds_sum{task="text/moderation",status="success"}')).toBe(2);
    const operations = 'switchyard_store_operation_duration_seconds_bucket{store="jobs",mode="write",le="0.0005"}';
    expect(readValue(text, operations)).toBe(1);
    expect(readValue(text, 'switchyard_store_failures_total{store="jobs",mode="write"}')).toBe(1);
  });

  test("a gauge that cannot be read does not hide the others", async () => {
    const metrics = createMetrics();
    metrics.addGauges(() => Promise.reject(new Error("the store is away")));
    metrics.request("/v3/x", 200, null, 1);
    expect(await textOf(metrics)).toContain('switchyard_http_requests_total{route="/v3/x",status="200"} 1');
  });
});

describe("a scrape", () => {
  /** The processes and their supervisor, connected as they are by IPC. */
  function connect(count: number) {
    const sources = Array.from({ length: count }, (_, index) => {
      const metrics = createMetrics();
      metrics.request(`/from/${index}`, 200, null, 1);
      const link = createMetricsLink(metrics, (report) => deliver(index, report));
      return { metrics, link, send: link.receive };
    });
    const collector = createMetricsCollector(() => sources);
    function deliver(index: number, report: MetricsReport): void {
      const source = sources[index];
      if (source !== undefined) queueMicrotask(() => collector.receive(source, report));
    }
    return { sources, collector };
  }

  test("shows all processes, whichever answers it", async () => {
    const { sources } = connect(3);
    const texts = await Promise.all(sources.map(async ({ link }) => toPrometheusText(await link.readAll())));
    for (const text of texts)
      for (const index of [0, 1, 2])
        expect(readValue(text, `switchyard_http_requests_total{route="/from/${index}",status="200"}`)).toBe(1);
  });

  test("does not wait for a process that has ended", async () => {
    const { sources, collector } = connect(2);
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("there are two processes");
    second.send = () => {
      throw new Error("the channel is closed");
    };
    const routesOf = async (reading: ReturnType<typeof first.link.readAll>) =>
      [...toPrometheusText(await reading).matchAll(/requests_total\{route="([^"]+)"/g)].map(([, route]) => route);
    const own = ["/from/0"];
    expect(await routesOf(first.link.readAll())).toEqual(own);
    second.send = () => {};
    const reading = first.link.readAll();
    await Bun.sleep(0);
    collector.forget(second);
    expect(await routesOf(reading)).toEqual(own);
  });

  test("counts what processes did that have ended, once, and forgets their gauges", async () => {
    const { sources, collector } = connect(2);
    const [first, second] = sources;
    if (first === undefined || second === undefined) throw new Error("there are two processes");
    const gauge = { name: "memory", help: "", type: "gauge", merge: "sum" } as const;
    second.metrics.addGauges(() => [{ ...gauge, samples: [{ labels: { process: "serving-2" }, value: 5 }] }]);
    const cpu = { name: "cpu_total", help: "", type: "counter" } as const;
    second.metrics.addGauges(() => [{ ...cpu, samples: [{ labels: { process: "serving-2" }, value: 5 }] }]);
    second.metrics.request("/from/1", 200, null, 1);
    await second.link.sendLast();
    await Bun.sleep(0);
    second.metrics.request("/from/1", 200, null, 1);
    collector.forget(second);
    sources.pop();
    for (let scrape = 0; scrape < 2; scrape++) {
      const text = toPrometheusText(await first.link.readAll());
      expect(readValue(text, 'switchyard_http_requests_total{route="/from/1",status="200"}')).toBe(2);
      expect(readValue(text, 'switchyard_http_request_duration_seconds_count{route="/from/1"}')).toBe(2);
      expect(text).not.toContain("serving-2");
    }
  });

  test("reads the figures that the processes share once", async () => {
    const { sources } = connect(3);
    let reads = 0;
    const gauge = { name: "queue_items", help: "", type: "gauge", merge: "sum" } as const;
    for (const { metrics } of sources)
      metrics.addGatewayGauges(() => {
        reads++;
        return [{ ...gauge, samples: [{ labels: {}, value: 7 }] }];
      });
    const text = toPrometheusText((await sources[1]?.link.readAll()) ?? []);
    expect([readValue(text, "switchyard_queue_items"), reads]).toEqual([7, 1]);
  });
});
