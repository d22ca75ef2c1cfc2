// A real Prometheus scrapes a gateway, and evaluates every expression of the dashboard and of the alert rules. Without Prometheus (the Debian package
// `prometheus`) the tests are skipped.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answer } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { deployFolder, listExpressions, metricNamesIn, readDashboard, readRules } from "../support/dashboards.ts";
import { findFreePort } from "../support/free-port.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startHooks } from "../support/hooks.ts";
import { callJobs } from "../support/jobs.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { runProgram } from "../support/run-program.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const promtool = Bun.which("promtool");
const prometheus = Bun.which("prometheus");
const missing = promtool === null || prometheus === null ? " (Prometheus is not installed)" : "";
const rulesFile = join(deployFolder, "prometheus", "switchyard.rules.yml");
const closing: (() => unknown)[] = [];

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function run(command: readonly string[], input = ""): Promise<{ code: number; output: string }> {
  const { code, out, errors } = await runProgram(command, { input });
  return { code, output: out + errors };
}

describe.skipIf(missing !== "")(`the alert rules${missing}`, () => {
  test("are valid", async () => {
    const { code, output } = await run([promtool ?? "", "check", "rules", rulesFile]);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("SUCCESS") });
  });

  test("fire when they should, and only then", async () => {
    const tests = join(deployFolder, "prometheus", "switchyard.rules.test.yml");
    const { code, output } = await run([promtool ?? "", "test", "rules", tests]);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("SUCCESS") });
    const text = await Bun.file(tests).text();
    for (const { alert } of await readRules()) {
      expect(text).toContain(`name: ${alert} fires`);
      expect(text).toContain(`name: ${alert} is silent`);
    }
  });

  test("the sample configuration is valid", async () => {
    const file = join(deployFolder, "prometheus", "prometheus.yml");
    const { code, output } = await run([promtool ?? "", "check", "config", file]);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("SUCCESS") });
  });
});

describe.skipIf(missing !== "")(`a gateway that Prometheus watches${missing}`, () => {
  let gateway: GatewayProcess;
  let metricsUrl: string;
  let prometheusUrl: string;

  beforeAll(async () => {
    const vendor = await startVendor();
    const collector = startOtlpReceiver();
    const hooks = await startHooks(
      (request) => new Response(null, { status: request.url.endsWith("/bad") ? 400 : 204 }),
    );
    closing.push(vendor.stop, collector.stop, hooks.stop);
    const port = await findFreePort();
    metricsUrl = `http://127.0.0.1:${port}/metrics`;
    gateway = await startGatewayProcess({
      vendor,
      workers: 2,
      jobWorkers: 1,
      env: {
        SWITCHYARD_METRICS_PORT: String(port),
        SWITCHYARD_BREAKER_FAILURES: "2",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: "50",
        ...hooks.env,
      },
    });
    closing.push(gateway.kill);
    const key = await gateway.createKey();
    vendor.on("broken", answer(500, { error: { message: "broken" } }));
    const send = async (body: object, path?: string) => {
      const response = await ask(gateway.url, key, body, path === undefined ? {} : { path });
      await response.text();
    };
    for (const stream of [true, false]) for (let count = 0; count < 5; count++) await send({ ...hello, stream });
    for (let count = 0; count < 3; count++) await send({ ...hello, model: "mock/broken", fallbacks: ["mock2/echo"] });
    await send({ ...hello, model: "mock/broken" });
    await send({ ...hello, model: "nobody/x" });
    await send(
      { model: "text/keyword_extraction/local", input: { text: "The signal box at dusk." } },
      "/v3/universal-ai",
    );
    const job = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };
    for (const path of ["good", "bad"]) {
      const body = { ...job, webhook_receiver: hooks.urlOf(`/${path}`) };
      await callJobs(gateway.url, key, { method: "POST", body });
    }
    const series = ['delivery_duration_seconds_count{outcome="failed"}', 'trace_spans_total{outcome="exported"}'];
    await waitFor("deliveries and traces", async () => {
      const text = await (await fetch(metricsUrl)).text();
      return series.every((name) => text.includes(`switchyard_${name}`));
    });
    prometheusUrl = await startPrometheus(port);
  });

  async function startPrometheus(metricsPort: number): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "switchyard-prometheus-"));
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rulesFile],
      scrape_configs: [{ job_name: "switchyard", static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
    };
    // JSON is YAML.
    await writeFile(join(folder, "prometheus.yml"), JSON.stringify(config));
    const port = await findFreePort();
    const child = Bun.spawn(
      [
        prometheus ?? "",
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    closing.push(async () => {
      child.kill("SIGTERM");
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    });
    const url = `http://127.0.0.1:${port}`;
    await waitFor("three scrapes", async () => {
      const found = await query(url, "count_over_time(switchyard_build_info[1m])").catch(() => []);
      return Number(found[0]?.value[1] ?? 0) >= 3;
    });
    return url;
  }

  interface Found {
    readonly metric: Readonly<Record<string, string>>;
    readonly value: readonly [number, string];
  }

  async function query(url: string, expression: string): Promise<readonly Found[]> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, error, data } = (await response.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data?: { readonly result: readonly Found[] };
    };
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return data?.result ?? [];
  }

  test("has metrics in the form that promtool accepts", async () => {
    const text = await (await fetch(metricsUrl)).text();
    expect(await run([promtool ?? "", "check", "metrics"], text)).toEqual({ code: 0, output: "" });
  });

  test("answers every expression of the dashboard with data", async () => {
    const empty: string[] = [];
    for (const expression of listExpressions(await readDashboard()))
      if ((await query(prometheusUrl, expression)).length === 0) empty.push(expression);
    expect(empty).toEqual([]);
  });

  test("evaluates every alert without an error, on metrics that exist", async () => {
    const response = await fetch(`${prometheusUrl}/api/v1/rules`);
    const { data } = (await response.json()) as {
      readonly data: {
        readonly groups: readonly { readonly rules: readonly { name: string; health: string; lastError?: string }[] }[];
      };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.map(({ name }) => name)).toEqual((await readRules()).map(({ alert }) => alert));
    expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    for (const name of new Set((await readRules()).flatMap(({ expr }) => metricNamesIn(expr)))) {
      const found = await query(prometheusUrl, `count({__name__=~"${name}(_count)?"})`);
      expect({ name, count: found.length }).toEqual({ name, count: 1 });
    }
  });
});
