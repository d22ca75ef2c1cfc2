// The hourly totals of the ledger. `usage_dimensions` has a row for each combination of key, team, model and so on, and `usage_sums` a row for
// each of these and each hour with calls. The id of a sum consists of both, so that the sums of one combination lie beside each other in the
// order of time, and a report reads them without sorting. The view `usage_hourly` shows both tables as one.

import { hourMs } from "../lib/time-units.ts";
import { toBatches } from "./batches.ts";
import type { LedgerLine } from "./ledger-line.ts";
import type { Sql, SqlFragment, SqlRow } from "./sql.ts";

/** What lines are counted by, beside their hour. Empty text takes the place of null. */
const dimensions = ["key_id", "team", "tags", "provider", "model", "task", "endpoint", "outcome"] as const;
type Dimension = (typeof dimensions)[number];

class LineSums {
  lines = 0;
  input_tokens = 0;
  output_tokens = 0;
  cached_tokens = 0;
  reasoning_tokens = 0;
  /** Sums of counts are exact as numbers. */
  cost_pico = 0n;
  unknown_costs = 0;
  latency_ms = 0;
  first_token_ms = 0;
  streams = 0;

  add(line: LedgerLine): void {
    this.lines += line.count;
    this.input_tokens += line.input_tokens ?? 0;
    this.output_tokens += line.output_tokens ?? 0;
    this.cached_tokens += line.cached_tokens ?? 0;
    this.reasoning_tokens += line.reasoning_tokens ?? 0;
    if (line.cost_pico != null) this.cost_pico += BigInt(line.cost_pico);
    else if (line.cost_reason != null && line.cost_reason !== "not_answered") this.unknown_costs += 1;
    this.latency_ms += line.latency_ms;
    if (line.first_token_ms == null) return;
    this.first_token_ms += line.first_token_ms;
    this.streams += 1;
  }
}

export const totalColumns = ["hour", ...dimensions] as const;
export const sumNames = Object.keys(new LineSums()) as (keyof Omit<LineSums, "add">)[];

/** Adds up lines by hour and dimensions, and by the accounts of budgets that they are charged to. */
export class LedgerSums {
  lines = 0;
  /** By account. Every account of a line is charged the whole amount. */
  readonly charges = new Map<string, bigint>();
  readonly #totals = new Map<string, { readonly dimensions: SqlRow; readonly sums: LineSums }>();

  add(line: LedgerLine): void {
    this.lines += 1;
    const hour = Math.floor(line.time / hourMs) * hourMs;
    const tags = JSON.stringify(line.tags);
    // No text contains a NUL.
    const key = `${hour}\0${line.key_id}\0${line.team}\0${tags}\0${line.provider}\0${line.model}\0${line.task}\0${line.endpoint}\0${line.outcome}`;
    let known = this.#totals.get(key);
    if (known === undefined) {
      const { key_id = "", team = "", provider = "", model = "", task = "", endpoint, outcome } = line;
      const texts = { key_id, team, tags, provider, model, task, endpoint, outcome } satisfies Record<
        Dimension,
        string
      >;
      known = { dimensions: { hour, ...texts }, sums: new LineSums() };
      this.#totals.set(key, known);
    }
    known.sums.add(line);
    if (line.counted_pico === 0) return;
    for (const id of line.accounts ?? [])
      this.charges.set(id, (this.charges.get(id) ?? 0n) + BigInt(line.counted_pico));
  }

  /** Rows of `usage_hourly`. */
  toRows(): SqlRow[] {
    return Array.from(this.#totals.values(), ({ dimensions: values, sums }) => ({ ...values, ...sums }));
  }
}

const addSums = `do update set ${sumNames.map((name) => `${name} = usage_sums.${name} + excluded.${name}`).join(", ")}`;
const keepLastHour =
  "do update set last_hour = case when excluded.last_hour > usage_dimensions.last_hour then excluded.last_hour else usage_dimensions.last_hour end";
// Rows of an index of PostgreSQL are short, so the long dimensions are hashed there.
const sameDimensions = {
  postgres: "key_id, provider, endpoint, outcome, md5(team || '|' || tags || '|' || model || '|' || task)",
  sqlite: dimensions.join(", "),
};
/** The ids of the sums of one combination. Two million hours are 239 years. */
const idsPerDimension = 2 ** 21;

/** Rows as `LedgerSums.toRows` returns them. Always in the same order, so that two transactions never wait for each other. */
export async function addToTotals(sql: Sql, rows: readonly SqlRow[]): Promise<void> {
  const ids = await findDimensions(sql, rows);
  const sums = rows.map((row) => {
    const dimension_id = ids.get(toKey(row)) ?? 0n;
    const hour = Number(row["hour"]);
    const id = dimension_id * BigInt(idsPerDimension) + BigInt(hour / hourMs);
    return { id, dimension_id, hour, ...Object.fromEntries(sumNames.map((name) => [name, row[name] ?? 0])) };
  });
  const onConflict = sql.raw(`on conflict (id) ${addSums}`);
  for (const batch of toBatches(sums.toSorted((one, other) => (one.id < other.id ? -1 : 1))))
    await sql`insert into usage_sums ${sql.columns(batch)} ${onConflict}`;
}

/** The ids of the combinations of these rows. New ones get a random id: stores are copied with their ids, and no sequence has to follow. */
async function findDimensions(sql: Sql, rows: readonly SqlRow[]): Promise<ReadonlyMap<string, bigint>> {
  const wanted = new Map<string, SqlRow>();
  for (const row of rows) {
    const key = toKey(row);
    const known = wanted.get(key);
    if (known !== undefined && Number(known["last_hour"]) >= Number(row["hour"])) continue;
    const values = Object.fromEntries(dimensions.map((name) => [name, row[name] ?? ""]));
    wanted.set(key, { id: Math.floor((1 + Math.random()) * 2 ** 40), ...values, last_hour: Number(row["hour"]) });
  }
  const sorted = [...wanted].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  const onConflict = sql.raw(`on conflict (${sameDimensions[sql.engine]}) ${keepLastHour}`);
  const ids = new Map<string, bigint>();
  for (const batch of toBatches(sorted)) {
    const found = await sql<SqlRow & { readonly id: bigint }>`
      insert into usage_dimensions ${sql.columns(batch)} ${onConflict} returning ${sql.names(["id", ...dimensions])}`;
    for (const row of found) ids.set(toKey(row), row.id);
  }
  return ids;
}

function toKey(row: SqlRow): string {
  return dimensions.map((name) => row[name]).join("\0");
}

/** On SQLite: joins the sums from a full hour to another one, which is not included, as `s` to `usage_dimensions d`, by ranges of the primary key. */
export function joinSums(sql: Sql, from: number, to: number): SqlFragment {
  const [first, end] = [from, to].map((time) => `d.id * ${idsPerDimension} + ${Math.ceil(time / hourMs)}`);
  return sql.raw(`cross join usage_sums s on s.id >= ${first} and s.id < ${end}`);
}

/** The sums, and then the combinations that have none: at most `limit` rows together. */
export async function deleteTotals(sql: Sql, before: number, limit: number): Promise<number> {
  const old =
    sql.engine === "postgres"
      ? sql.part`select id from usage_sums where hour < ${before}`
      : sql.part`select s.id from usage_dimensions d ${joinSums(sql, 0, before)}`;
  const deleted = await sql`delete from usage_sums where id in (${old} limit ${limit}) returning 1 as one`;
  if (deleted.length === limit) return limit;
  // A transaction that adds to a combination locks it and changes its last hour, so none is deleted that is in use.
  const lock = sql.raw(sql.engine === "postgres" ? "for update skip locked" : "");
  const unused = await sql`
    delete from usage_dimensions where id in (
      select id from usage_dimensions where last_hour < ${Math.floor(before / hourMs) * hourMs}
      order by id limit ${limit - deleted.length} ${lock}
    ) returning 1 as one`;
  return deleted.length + unused.length;
}
