// P11: usage reports over five million lines of the ledger, from their hourly totals.

import { hourMs } from "../../src/lib/time-units.ts";
import { createLog } from "../../src/log.ts";
import { connectPostgres, connectSqlite } from "../../src/storage/connect.ts";
import type { SqlRow } from "../../src/storage/sql.ts";
import { migrateStorage } from "../../src/storage/storage.ts";
import { addToTotals } from "../../src/storage/usage-totals.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../../test/support/postgres.ts";
import { waitForAnswer } from "../children.ts";
import { type GatewaySettings, prepareSettings, startServing } from "../contestants.ts";
import { type Check, type Course, checkMost, defineFigure, format, type Measured } from "../figure.ts";
import { readTreeCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

type Engine = "SQLite" | "PostgreSQL";
type Taken = { report: string; tookMs: number; cpuMs: number };

const totalLines = 5_000_000;
const days = 90;
const keys = 40;
const limitMs = 300;
const range = `from=${days}d&time_zone=Europe/Berlin`;
const overviewLimitMs = 500;
/** What the overview of the dashboard asks for: first the report that its figures are made of, and then the others at once. */
const overviews = ["7d", "30d", `${days}d`];
const overviewOf = (period: string) => `overview of ${period}`;
const reports = ["", "day", "key", "provider,model", "day,team", "tag:project", "day,model,outcome"];

export const usageReport = defineFigure("P11", "usage report over 5 million lines", async (course) => {
  const checks: Check[] = [];
  const notes: string[] = [];
  const rounds: Record<string, number[]> = {};
  const rows = makeTotals();
  notes.push(`${totalLines} lines of ${days} days and ${keys} keys have ${rows.length} hourly totals`);
  for (const engine of ["SQLite", "PostgreSQL"] as const) {
    const why = engine === "PostgreSQL" ? whyNoOwnPostgres() : null;
    const taken = why === null ? await measureEngine(course, engine, rows) : [];
    const medians = reports.map((report) => medianOf(taken, report));
    const slowest = taken.length === 0 ? null : Math.max(...medians.map(({ tookMs }) => tookMs));
    for (const { report, tookMs } of taken) {
      const name = `${engine} by ${report || "nothing"}, ms`;
      rounds[name] = [...(rounds[name] ?? []), tookMs];
    }
    checks.push(checkMost(`slowest, ${engine}`, slowest, limitMs, " ms"));
    const ofOverviews = overviews.map((period) => medianOf(taken, overviewOf(period)));
    const slowestOverview = taken.length === 0 ? null : Math.max(...ofOverviews.map(({ tookMs }) => tookMs));
    checks.push(checkMost(`dashboard's overview, ${engine}`, slowestOverview, overviewLimitMs, " ms"));
    if (why !== null) notes.push(`${engine}: ${why}`);
    else notes.push(`${engine}: ${[...medians, ...ofOverviews].map(describe).join("; ")}`);
  }
  const [first] = checks;
  const measured: Measured = { values: {}, unit: "ms", checks, notes, rounds };
  return typeof first?.value === "number" ? { ...measured, values: { Switchyard: first.value } } : measured;
});

function medianOf(taken: readonly Taken[], report: string): Taken {
  const own = taken.filter((one) => one.report === report);
  return {
    report,
    tookMs: own.length === 0 ? 0 : median(own.map(({ tookMs }) => tookMs)),
    cpuMs: own.length === 0 ? 0 : median(own.map(({ cpuMs }) => cpuMs)),
  };
}

function describe({ report, tookMs, cpuMs }: Taken): string {
  const name = report.startsWith("overview") ? report : `by ${report || "nothing"}`;
  return `${name} ${format(tookMs)} ms, of them ${format(cpuMs)} ms CPU of the gateway`;
}

async function measureEngine(course: Course, engine: Engine, rows: readonly SqlRow[]): Promise<Taken[]> {
  const { children, vendors } = course;
  const postgres: OwnPostgres | null = engine === "PostgreSQL" ? await startOwnPostgres() : null;
  const settings = prepareSettings(children, vendors);
  await fill(settings, postgres, rows);
  const { child: gateway, base } = await startServing(course, settings, {
    SWITCHYARD_WORKERS: "1",
    SWITCHYARD_JOB_WORKERS: "0",
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
  });
  try {
    await waitForAnswer(gateway, `${base}/readyz`, 15_000);
    const taken: Taken[] = [];
    // The first round fills the caches of the store.
    for (let round = 0; round <= course.rounds; round++) {
      const take = async (report: string, work: () => Promise<void>) => {
        const cpuBefore = readTreeCpuMs(gateway.pid);
        const startedAt = performance.now();
        await work();
        const tookMs = performance.now() - startedAt;
        if (round > 0) taken.push({ report, tookMs, cpuMs: readTreeCpuMs(gateway.pid) - cpuBefore });
      };
      for (const report of reports)
        await take(report, async () => {
          const lines = await readLines(`${base}/v3/manage/usage?${range}&group_by=${report}`, settings);
          if (lines !== totalLines) throw new Error(`The report by ${report} counts ${lines} lines`);
        });
      for (const period of overviews) await take(overviewOf(period), () => readOverview(base, period, settings));
    }
    return taken;
  } finally {
    await children.stop(gateway);
    await postgres?.stop();
  }
}

async function readLines(url: string, settings: GatewaySettings): Promise<number> {
  return (JSON.parse(await readText(url, settings)) as { totals: { lines: number } }).totals.lines;
}

async function readOverview(base: string, period: string, settings: GatewaySettings): Promise<void> {
  const usage = `${base}/v3/manage/usage?time_zone=Europe/Berlin&from=${period}`;
  await readText(`${usage}&group_by=day,outcome`, settings);
  const now = Date.now();
  const length = Number.parseInt(period, 10) * 24 * hourMs;
  const at = (time: number) => new Date(time).toISOString();
  const others = [
    `${base}/v3/manage/usage?time_zone=Europe/Berlin&from=${at(now - 2 * length)}&to=${at(now - length)}&group_by=outcome`,
    `${base}/v3/manage/latency?time_zone=Europe/Berlin&from=${at(now - length)}&to=${at(now)}&step=day`,
    `${base}/v3/manage/budgets?limit=1`,
    `${usage}&group_by=provider,model`,
    `${usage}&group_by=provider,model,task&sort=cost&limit=7`,
  ];
  await Promise.all(others.map((url) => readText(url, settings)));
}

async function readText(url: string, { adminKey }: GatewaySettings): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${adminKey}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}: ${text.slice(0, 100)}`);
  return text;
}

async function fill(settings: GatewaySettings, postgres: OwnPostgres | null, rows: readonly SqlRow[]): Promise<void> {
  const dataDir = settings.environment["SWITCHYARD_DATA_DIR"] ?? "";
  const databaseUrl = postgres?.url ?? null;
  const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
  await migrateStorage({ databaseUrl, dataDir, log });
  const database =
    databaseUrl === null ? await connectSqlite(dataDir) : connectPostgres(databaseUrl, { maxConnections: 1 });
  try {
    await database.transaction(async (sql) => {
      for (let start = 0; start < rows.length; start += 1_000) await addToTotals(sql, rows.slice(start, start + 1_000));
    });
    // The server of the bench has no autovacuum, which does this in production.
    if (databaseUrl !== null) await database.sql.script("vacuum analyze usage_dimensions, usage_sums");
  } finally {
    await database.client.close({ timeout: 1 });
  }
}

/** The hourly totals of the lines: a few keys make most of the calls, each with a large and a small model, some of them fail. */
function makeTotals(): SqlRow[] {
  const hours = days * 24;
  const firstHour = Math.floor(Date.now() / hourMs) * hourMs - (hours - 1) * hourMs;
  const ids = Array.from({ length: keys }, () => Bun.randomUUIDv7());
  const weightOf = (key: number) => 1 / (key + 1);
  const allWeights = ids.reduce((sum, _, key) => sum + weightOf(key), 0);
  const rows: SqlRow[] = [];
  let counted = 0;
  const add = (hour: number, key: number, model: string, outcome: string, lines: number) => {
    if (lines === 0) return;
    counted += lines;
    rows.push({
      hour: firstHour + hour * hourMs,
      key_id: ids[key] ?? "",
      team: `team-${key % 8}`,
      tags: JSON.stringify({ project: `project-${key % 15}`, stage: key % 2 === 0 ? "live" : "test" }),
      provider: `provider-${key % 4}`,
      model,
      task: "",
      endpoint: "/v3/chat/completions",
      outcome,
      lines,
      input_tokens: lines * 1_200,
      output_tokens: lines * 300,
      cached_tokens: lines * 100,
      reasoning_tokens: lines * 20,
      cost_pico: BigInt(lines) * 3_750_000_000n,
      unknown_costs: 0,
      latency_ms: lines * 1_800,
      first_token_ms: lines * 400,
      streams: lines,
    });
  };
  for (let hour = 0; hour < hours; hour++)
    for (let key = 0; key < keys; key++) {
      const lines = Math.floor((totalLines / hours) * (weightOf(key) / allWeights));
      const failed = (hour + key) % 5 === 0 ? Math.ceil(lines / 100) : 0;
      const small = Math.floor((lines - failed) / 5);
      add(hour, key, `large-model-${key % 6}`, "completed", lines - failed - small);
      add(hour, key, `small-model-${key % 3}`, "completed", small);
      add(hour, key, `large-model-${key % 6}`, "provider_timeout", failed);
    }
  add(hours - 1, 0, "large-model-of-the-rest", "completed", totalLines - counted);
  return rows;
}
