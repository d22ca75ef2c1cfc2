// Lines of the ledger for tests of reports, and sums that are computed from them one by one.

import { hourMs } from "../../src/lib/time-units.ts";
import { toBlock } from "../../src/storage/ledger-blocks.ts";
import type { LedgerLine } from "../../src/storage/ledger-line.ts";
import { insertRows } from "../../src/storage/operation.ts";
import type { Database, SqlRow } from "../../src/storage/sql.ts";
import type { StorageOptions } from "../../src/storage/storage.ts";
import { addToTotals } from "../../src/storage/usage-totals.ts";
import { withDatabase } from "../contracts/engines.ts";

export type TestLine = ReturnType<typeof makeLine>;

export interface LineChanges {
  readonly id?: string;
  readonly time?: number;
  readonly request_id?: string;
  readonly key_id?: string | null;
  readonly team?: string | null;
  readonly tags?: Readonly<Record<string, string>>;
  readonly endpoint?: string;
  readonly provider?: string | null;
  readonly model?: string | null;
  readonly task?: string | null;
  readonly attempt?: number;
  readonly outcome?: string;
  readonly status?: number;
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cached_tokens?: number | null;
  readonly reasoning_tokens?: number | null;
  readonly cost_pico?: bigint | null;
  readonly cost_reason?: string | null;
  readonly price_version?: string | null;
  readonly latency_ms?: number;
  readonly first_token_ms?: number | null;
  readonly count?: number;
  readonly reason?: string | null;
  readonly tokens?: unknown;
  readonly usage?: unknown;
}

/** A call that was answered. */
export function makeLine(changes: LineChanges = {}) {
  const time = changes.time ?? Date.now();
  return {
    id: Bun.randomUUIDv7("hex", time),
    time,
    request_id: crypto.randomUUID(),
    key_id: null as string | null,
    team: null as string | null,
    tags: {} as Readonly<Record<string, string>>,
    endpoint: "/v3/chat/completions",
    provider: "mock" as string | null,
    model: "model-a" as string | null,
    task: null as string | null,
    deployment: null as string | null,
    attempt: 1,
    outcome: "completed",
    status: 200 as number | null,
    input_tokens: 10 as number | null,
    output_tokens: 5 as number | null,
    cached_tokens: 0 as number | null,
    reasoning_tokens: 0 as number | null,
    price_version: "2026-11-01" as string | null,
    cost_pico: 1_000_000n as bigint | null,
    cost_reason: null as string | null,
    counted_pico: changes.cost_pico ?? 0n,
    latency_ms: 100,
    first_token_ms: null as number | null,
    is_stream: 0,
    is_cached: 0,
    job_id: null as string | null,
    count: 1,
    reason: null as string | null,
    accounts: null as unknown,
    tokens: null as unknown,
    units: null as unknown,
    usage: null as unknown,
    ...changes,
  };
}

/** A request that was refused before any attempt. */
export function makeRefusal(changes: LineChanges = {}) {
  const nothing = { input_tokens: null, output_tokens: null, cached_tokens: null, reasoning_tokens: null };
  const unpriced = { cost_pico: null, price_version: null, provider: null, model: null, attempt: 0, latency_ms: 0 };
  const refused = { outcome: "rate_limit_exceeded", status: 429, reason: "60 requests per minute" };
  return makeLine({ ...nothing, ...unpriced, ...refused, ...changes });
}

/** Adds lines and, unless they are not wanted, their hourly totals to a store. */
export async function addLines(
  options: StorageOptions,
  lines: readonly TestLine[],
  { totals = true }: { readonly totals?: boolean } = {},
): Promise<void> {
  await withDatabase(options, async (database) => {
    await createPartition(database);
    await database.transaction(async (sql) => {
      for (const batch of inBatches(lines.map(toLedgerLine), 500))
        await insertRows(sql, "ledger_blocks", [toBlock("tests", batch)]);
    });
  });
  if (totals) await addTotals(options, lines);
}

/** The hourly totals of lines that are not in the store themselves. */
export async function addTotals(options: StorageOptions, lines: readonly TestLine[]): Promise<void> {
  await withDatabase(options, (database) =>
    database.transaction(async (sql) => {
      for (const batch of inBatches(toTotals(lines), 1_000)) await addToTotals(sql, batch);
    }),
  );
}

/** In batches that both engines take. The lines of one call must not share an hour with lines of another call. */
function inBatches<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

async function createPartition({ engine, sql }: Database): Promise<void> {
  if (engine === "postgres")
    await sql.script("create table if not exists ledger_of_tests partition of ledger_blocks default");
}

function toLedgerLine(line: TestLine): LedgerLine {
  const members = Object.entries(line).filter(([, value]) => value !== null);
  const numbers = members.map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]);
  return Object.fromEntries(numbers) as LedgerLine;
}

function toTotals(lines: readonly TestLine[]): SqlRow[] {
  const groups = Map.groupBy(lines, (line) => JSON.stringify(dimensionsOf(line)));
  return [...groups.values()].map((group) => {
    const first = group[0] as TestLine;
    const { cost, unknown, firstToken, ...sums } = sumLines(group);
    return { ...dimensionsOf(first), ...sums, cost_pico: cost, unknown_costs: unknown, first_token_ms: firstToken };
  });
}

function dimensionsOf(line: TestLine) {
  return {
    hour: Math.floor(line.time / hourMs) * hourMs,
    key_id: line.key_id ?? "",
    team: line.team ?? "",
    tags: JSON.stringify(line.tags),
    provider: line.provider ?? "",
    model: line.model ?? "",
    task: line.task ?? "",
    endpoint: line.endpoint,
    outcome: line.outcome,
  };
}

/** Sums that are computed from single lines. */
export function sumLines(lines: readonly TestLine[]) {
  const add = (read: (line: TestLine) => number) => lines.reduce((sum, line) => sum + read(line), 0);
  return {
    lines: add(({ count }) => count),
    input_tokens: add((line) => line.input_tokens ?? 0),
    output_tokens: add((line) => line.output_tokens ?? 0),
    cached_tokens: add((line) => line.cached_tokens ?? 0),
    reasoning_tokens: add((line) => line.reasoning_tokens ?? 0),
    latency_ms: add((line) => line.latency_ms),
    streams: add(({ first_token_ms }) => (first_token_ms === null ? 0 : 1)),
    firstToken: add(({ first_token_ms }) => first_token_ms ?? 0),
    cost: lines.reduce((sum, line) => sum + (line.cost_pico ?? 0n), 0n),
    unknown: add(({ cost_pico, attempt }) => (cost_pico === null && attempt > 0 ? 1 : 0)),
  };
}
