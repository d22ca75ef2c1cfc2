// Usage reports: sums of the hourly totals of the ledger, by any combination of dimensions.

import type { GroupBy, UsageRequest } from "../contract/usage.ts";
import { throwProblems } from "../errors.ts";
import { dayMs, hourMs } from "../lib/time-units.ts";
import { splitByOffset } from "../lib/time-zone.ts";
import { hasTag } from "../storage/ledger-line.ts";
import type { UsageFilters } from "../storage/ledger-lines.ts";
import type { Storage } from "../storage/storage.ts";
import type { UsageGroup, UsageQuery, UsageSums } from "../storage/usage-reports.ts";
import { type Period, requireTimeZone, toIso, toReportPeriod } from "./report-period.ts";

export type UsageReports = ReturnType<typeof createUsageReports>;

export interface UsageReport extends Period {
  readonly timeZone: string;
  readonly groupBy: readonly GroupBy[];
  readonly rows: readonly UsageReportRow[];
  /** Rows before the limit of the request. */
  readonly rowCount: number;
  readonly totals: UsageSums;
  /** By id; only when the report is grouped by keys. */
  readonly keyNames: ReadonlyMap<string, string>;
}

export interface UsageReportRow {
  /** One for each dimension; null for lines without a value. */
  readonly values: readonly (string | null)[];
  readonly sums: UsageSums;
}

type Sums = { -readonly [Name in keyof UsageSums]: UsageSums[Name] };
type Tags = Readonly<Record<string, string>>;
type ReportRequest = Omit<UsageRequest, "format">;

// The store answers other operations between the parts of a long report.
const partMs = 7 * dayMs;
// One key has few totals, and an index finds them.
const partOfKeyMs = 180 * dayMs;
// Groups that the store may return for one part. Each set of tags is a group there, so there may be more of them than rows.
const maxGroups = 50_000;
const maxRows = 20_000;
const maxNamesAtOnce = 512;

export function createUsageReports(store: Storage["usageReports"], now: () => number = Date.now) {
  async function report(request: ReportRequest): Promise<UsageReport> {
    const { group_by: groupBy, time_zone: timeZone, limit = maxRows } = request;
    const period = toReportPeriod(request, requireTimeZone(timeZone), now());
    const collector = new RowCollector(groupBy, request.tag);
    for (const part of splitPeriod(period, request)) {
      const groups = await store.summarize(part);
      if (groups === "too_many") refuseTooManyRows();
      for (const group of groups) collector.add(group);
    }
    const rows = collector.rows.sort(orderBy(request.sort ?? defaultOrder(groupBy)));
    const shown = rows.slice(0, limit);
    const keyIndex = groupBy.indexOf("key");
    return {
      ...period,
      timeZone,
      groupBy,
      rows: shown,
      rowCount: rows.length,
      totals: collector.totals,
      keyNames: keyIndex < 0 ? new Map() : await nameKeys(store, new Set(shown.map(({ values }) => values[keyIndex]))),
    };
  }

  return {
    report,
    /** What one key used. */
    async sumOfKey(keyId: string, { from, to }: Period): Promise<UsageSums> {
      const sums = emptySums();
      const whole = { from: Math.floor(from / hourMs) * hourMs, to: Math.ceil(to / hourMs) * hourMs };
      for (let start = whole.from; start < whole.to; start += partOfKeyMs) {
        const part = { from: start, to: Math.min(start + partOfKeyMs, whole.to), offsetMs: 0 };
        const groups = await store.summarize({ ...part, groupBy: [], filters: { key_id: [keyId] }, maxGroups: 1 });
        if (groups !== "too_many") for (const group of groups) addSums(sums, group);
      }
      return sums;
    },
  };
}

/** The names of keys, by id. */
export async function nameKeys(
  store: Storage["usageReports"],
  ids: Iterable<string | null | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...ids].filter((id) => typeof id === "string");
  const names = new Map<string, string>();
  for (let start = 0; start < wanted.length; start += maxNamesAtOnce)
    for (const [id, name] of await store.nameKeys(wanted.slice(start, start + maxNamesAtOnce))) names.set(id, name);
  return names;
}

export function toFilters(
  request: Pick<UsageRequest, "key" | "team" | "provider" | "model" | "task" | "endpoint" | "outcome">,
): UsageFilters {
  const { key, team, provider, model, task, endpoint, outcome } = request;
  return { key_id: key, team, provider, model, task, endpoint, outcome };
}

/** The statements of a report. In each of them, the time zone has one offset. */
function splitPeriod(period: Period, request: ReportRequest): UsageQuery[] {
  const { group_by: groupBy, tag, time_zone } = request;
  // Without days, the time zone does not matter.
  const zone = requireTimeZone(groupBy.includes("day") ? time_zone : "UTC");
  const columns = new Set(groupBy.map(toColumn));
  if (tag.length > 0) columns.add("tags");
  const parts = splitByOffset(zone, period, { maxMs: partMs, stepMs: hourMs });
  return parts.map((part) => ({ ...part, groupBy: [...columns], filters: toFilters(request), maxGroups }));
}

function toColumn(dimension: GroupBy): UsageQuery["groupBy"][number] {
  if (dimension === "key") return "key_id";
  if (dimension === "tag" || isSingleTag(dimension)) return "tags";
  return dimension;
}

function isSingleTag(dimension: GroupBy): dimension is `tag:${string}` {
  return dimension.startsWith("tag:");
}

/** Adds the groups of the store to rows: it reads the tags, of which the store knows only the JSON, and joins the parts of the report. */
class RowCollector {
  readonly totals = emptySums();
  readonly #groupBy: readonly GroupBy[];
  readonly #tagFilter: readonly string[];
  readonly #columns: ReturnType<typeof toColumn>[];
  readonly #rows = new Map<string, { values: (string | null)[]; sums: Sums }>();
  readonly #tags = new Map<string, Tags>();

  constructor(groupBy: readonly GroupBy[], tagFilter: readonly string[]) {
    this.#groupBy = groupBy;
    this.#tagFilter = tagFilter;
    const columns = new Set(groupBy.map(toColumn));
    if (tagFilter.length > 0) columns.add("tags");
    this.#columns = [...columns];
  }

  get rows(): UsageReportRow[] {
    return [...this.#rows.values()];
  }

  add(group: UsageGroup): void {
    if (group.lines === 0) return;
    const tags = this.#readTags(group);
    if (!this.#tagFilter.every((wanted) => hasTag(tags, wanted))) return;
    addSums(this.totals, group);
    if (this.#groupBy.length === 0) return;
    const pairs = this.#groupBy.includes("tag") ? Object.entries(tags).map(([name, value]) => `${name}=${value}`) : [];
    for (const pair of pairs.length === 0 ? [null] : pairs) this.#addRow(group, tags, pair);
  }

  #addRow(group: UsageGroup, tags: Tags, pair: string | null): void {
    const values = this.#groupBy.map((dimension) => {
      if (dimension === "tag") return pair;
      if (isSingleTag(dimension)) return tags[dimension.slice("tag:".length)] ?? null;
      return toValue(dimension, group.values[this.#columns.indexOf(toColumn(dimension))] ?? "");
    });
    const key = JSON.stringify(values);
    let row = this.#rows.get(key);
    if (row === undefined) {
      if (this.#rows.size >= maxRows) refuseTooManyRows();
      row = { values, sums: emptySums() };
      this.#rows.set(key, row);
    }
    addSums(row.sums, group);
  }

  #readTags(group: UsageGroup): Tags {
    const index = this.#columns.indexOf("tags");
    const text = index < 0 ? "" : (group.values[index] ?? "");
    const known = this.#tags.get(text);
    if (known !== undefined) return known;
    // Without a prototype, so that no tag is found that is not there.
    const tags: Tags = Object.assign(Object.create(null), text === "" ? {} : JSON.parse(text));
    this.#tags.set(text, tags);
    return tags;
  }
}

function toValue(dimension: Exclude<GroupBy, `tag:${string}` | "tag">, value: string): string | null {
  if (dimension === "day") return toIso(Number(value) * dayMs).slice(0, "2026-11-30".length);
  if (dimension === "hour") return toIso(Number(value));
  return value === "" ? null : value;
}

function defaultOrder(groupBy: readonly GroupBy[]): NonNullable<UsageRequest["sort"]> {
  return groupBy.includes("day") || groupBy.includes("hour") ? "name" : "cost";
}

type Order = (one: UsageReportRow, other: UsageReportRow) => number;

function orderBy(sort: NonNullable<UsageRequest["sort"]>): Order {
  if (sort === "name") return byValues;
  const amountOf = { cost: costOf, lines: linesOf, tokens: tokensOf }[sort];
  return (one, other) => {
    const [left, right] = [amountOf(one.sums), amountOf(other.sums)];
    return left === right ? byValues(one, other) : left > right ? -1 : 1;
  };
}

const costOf = ({ costPico }: UsageSums): bigint | number => costPico;
const linesOf = ({ lines }: UsageSums): bigint | number => lines;
const tokensOf = ({ inputTokens, outputTokens }: UsageSums): bigint | number => inputTokens + outputTokens;

/** Lines without a value come last. */
function byValues({ values: left }: UsageReportRow, { values: right }: UsageReportRow): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? null;
    if (value === other) continue;
    if (value === null || other === null) return value === null ? 1 : -1;
    return value < other ? -1 : 1;
  }
  return 0;
}

function emptySums(): Sums {
  return {
    lines: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
    costPico: 0n,
    unknownCosts: 0,
    latencyMs: 0,
    firstTokenMs: 0,
    streams: 0,
  };
}

function addSums(sums: Sums, added: UsageSums): void {
  sums.lines += added.lines;
  sums.inputTokens += added.inputTokens;
  sums.outputTokens += added.outputTokens;
  sums.cachedTokens += added.cachedTokens;
  sums.reasoningTokens += added.reasoningTokens;
  sums.costPico += added.costPico;
  sums.unknownCosts += added.unknownCosts;
  sums.latencyMs += added.latencyMs;
  sums.firstTokenMs += added.firstTokenMs;
  sums.streams += added.streams;
}

function refuseTooManyRows(): never {
  const advice = "choose fewer dimensions, a shorter time, or a filter";
  throwProblems([
    { loc: ["query", "group_by"], msg: `The report would have more than ${maxRows} rows: ${advice}`, type: "too_long" },
  ]);
  throw new TypeError("a problem was not thrown");
}
