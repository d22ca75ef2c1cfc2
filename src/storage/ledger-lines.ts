// Reads single lines of the ledger from its blocks.

import { dayMs } from "../lib/time-units.ts";
import { readMerges } from "./ledger.ts";
import { type BlockColumn, mayContain, readBlock, toFullModel } from "./ledger-blocks.ts";
import { hasTag, type LedgerLine } from "./ledger-line.ts";
import type { Sql } from "./sql.ts";

export type FilterColumn = "key_id" | "team" | "provider" | "task" | "endpoint" | "outcome";

/** The values of a column, of which one must match. The empty text matches lines without a value. */
export type UsageFilters = Readonly<Partial<Record<FilterColumn | "model", readonly string[]>>>;

/** A line as it is read. Times are epoch milliseconds. */
export interface LineRecord {
  readonly id: string;
  readonly time: number;
  readonly requestId: string;
  readonly keyId: string | null;
  readonly team: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly endpoint: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly task: string | null;
  readonly deployment: string | null;
  readonly attempt: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly priceVersion: string | null;
  readonly costPico: bigint | null;
  readonly costReason: string | null;
  readonly countedPico: bigint;
  readonly latencyMs: number;
  readonly firstTokenMs: number | null;
  readonly isStream: boolean;
  readonly isCached: boolean;
  readonly jobId: string | null;
  readonly count: number;
  readonly reason: string | null;
}

export interface LineDetail extends LineRecord {
  readonly accounts: readonly string[] | null;
  readonly tokens: Readonly<Record<string, number>> | null;
  readonly units: unknown;
  readonly usage: unknown;
}

/** The position of a line in the order of the list. */
export interface LinePosition {
  readonly time: number;
  readonly id: string;
}

export interface LineQuery {
  readonly from: number | null;
  readonly to: number | null;
  /** Only lines that follow this one, towards the past. */
  readonly after: LinePosition | null;
  readonly filters: UsageFilters;
  /** All of them must match: `name=value`, or a name alone. Absent: any tags. */
  readonly tags?: readonly string[];
  readonly status: number | null;
  readonly minCostPico: bigint | null;
  readonly minLatencyMs: number | null;
  readonly limit: number;
  /** A page of a rare filter ends after this time, with the lines that were found so far. */
  readonly scanMs: number;
}

export interface LinePage {
  readonly lines: readonly LineRecord[];
  /** Where the next page begins; null at the end. */
  readonly next: LinePosition | null;
}

interface BlockHead {
  readonly id: string;
  readonly to_time: bigint;
  readonly filter: Uint8Array;
}

// Most pages need the newest block only. A rare filter skips most blocks by their filter, without reading their lines.
const firstHeads = 2;
const maxHeads = 256;
const blocksPerRead = 4;
const headsPerSearch = 500;
/** Follows every id of a line in the order of ids. */
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
// A merge takes milliseconds and happens every minute at most.
const maxRestarts = 5;

/** Newest first. */
export async function listLines(sql: Sql, query: LineQuery): Promise<LinePage> {
  const giveUpAt = performance.now() + query.scanMs;
  const lines: LedgerLine[] = [];
  let after = query.after;
  for (let restarts = 0; ; restarts++) {
    const rest = { ...query, after, limit: query.limit - lines.length };
    const scanned = await scan(sql, rest, giveUpAt, restarts < maxRestarts);
    lines.push(...scanned.lines);
    if (!scanned.isInterrupted) return { lines: lines.map(toRecord), next: scanned.next };
    after = scanned.next ?? after;
  }
}

interface Scan {
  readonly lines: readonly LedgerLine[];
  readonly next: LinePosition | null;
  /** Blocks were merged during the scan, so it must go on from `next` with a new list of blocks. */
  readonly isInterrupted: boolean;
}

/** Reads blocks in the order of their newest lines. A line is in the list when no block that follows can have a newer one. */
async function scan(sql: Sql, query: LineQuery, giveUpAt: number, mayRestart: boolean): Promise<Scan> {
  const { limit, after } = query;
  const merges = await readMerges(sql);
  const lines: LedgerLine[] = [];
  const waiting: LedgerLine[] = [];
  const until = Math.min((query.to ?? Number.MAX_SAFE_INTEGER) - 1, after?.time ?? Number.MAX_SAFE_INTEGER);
  let previous: BlockHead | null = null;
  for (let size = firstHeads; ; size = Math.min(size * 4, maxHeads)) {
    const heads: readonly BlockHead[] = await listHeads(sql, { from: query.from ?? 0, until, previous, limit: size });
    const wanted = heads.filter(({ filter }) => mayMatch(filter, query));
    for await (const line of readLines(sql, wanted)) if (isMatch(line, query)) waiting.push(line);
    waiting.sort(compareLines);
    if (mayRestart && (await readMerges(sql)) !== merges)
      return { lines, next: positionOf(lines.at(-1)), isInterrupted: true };
    previous = heads.at(-1) ?? null;
    // The newest line that the blocks that follow can have.
    const newest = heads.length < size || previous === null ? Number.NEGATIVE_INFINITY : Number(previous.to_time);
    const complete = waiting.findIndex(({ time }) => time <= newest);
    // One line more than the page has shows that another page follows.
    lines.push(...waiting.splice(0, complete < 0 ? waiting.length : complete));
    if (lines.length > limit)
      return { lines: lines.slice(0, limit), next: positionOf(lines[limit - 1]) ?? after, isInterrupted: false };
    if (newest === Number.NEGATIVE_INFINITY) return { lines, next: null, isInterrupted: false };
    // The next page must begin before this one.
    if (performance.now() >= giveUpAt && newest < until)
      return { lines, next: { time: newest, id: lastId }, isInterrupted: false };
  }
}

interface RequestOfTeam {
  readonly requestId: string;
  /** Null: of any team, or of none. */
  readonly team: string | null;
}

/** The newest lines of a request, the oldest of them first. */
export async function findLines(
  sql: Sql,
  { requestId, team }: RequestOfTeam,
  limit: number,
): Promise<readonly LineDetail[]> {
  const isWanted = (line: LedgerLine) => line.request_id === requestId && (team === null || line.team === team);
  for (let restarts = 0; ; restarts++) {
    const merges = await readMerges(sql);
    const found: LedgerLine[] = [];
    for (let previous: BlockHead | null = null; ; ) {
      const range = { from: startOf(requestId), until: Number.MAX_SAFE_INTEGER, previous, limit: headsPerSearch };
      const heads: readonly BlockHead[] = await listHeads(sql, range);
      const wanted = heads.filter(({ filter }) => mayContain(filter, "request_id", [requestId]));
      for await (const line of readLines(sql, wanted)) if (isWanted(line)) found.push(line);
      if (heads.length < headsPerSearch) break;
      previous = heads.at(-1) ?? null;
    }
    if (restarts < maxRestarts && (await readMerges(sql)) !== merges) continue;
    const newest = found.sort(
      (one, other) => other.time - one.time || other.attempt - one.attempt || compareIds(one, other),
    );
    return newest.slice(0, limit).reverse().map(toDetail);
  }
}

const uuidOfVersion7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

/** The time in a request id that a gateway made, less a day because clocks differ: the request has no earlier lines. 0 for other ids. */
function startOf(requestId: string): number {
  if (!uuidOfVersion7.test(requestId)) return 0;
  return Math.max(0, Number.parseInt(requestId.replace("-", "").slice(0, 12), 16) - dayMs);
}

interface HeadRange {
  readonly from: number;
  readonly until: number;
  /** The last head of the list before. */
  readonly previous: BlockHead | null;
  readonly limit: number;
}

/** The blocks that may have lines of this time, those with the newest lines first. */
async function listHeads(sql: Sql, { from, until, previous, limit }: HeadRange): Promise<BlockHead[]> {
  const follows =
    previous === null
      ? sql.part`1 = 1`
      : sql.part`to_time <= ${previous.to_time} and (to_time, id) < (${previous.to_time}, ${previous.id})`;
  return await sql<BlockHead>`
    select id, to_time, filter from ledger_blocks where to_time >= ${from} and from_time <= ${until} and ${follows}
    order by to_time desc, id desc limit ${limit}`;
}

async function* readLines(sql: Sql, heads: readonly BlockHead[]): AsyncGenerator<LedgerLine> {
  for (let from = 0; from < heads.length; from += blocksPerRead) {
    const some = heads.slice(from, from + blocksPerRead);
    const times = some.map(({ to_time }) => to_time);
    const rows = await sql<{ data: Uint8Array }>`
      select data from ledger_blocks
      where to_time <= ${times.at(0) ?? 0n} and to_time >= ${times.at(-1) ?? 0n} and id in ${sql.list(some.map(({ id }) => id))}`;
    for (const { data } of rows) yield* readBlock(data);
  }
}

function mayMatch(filter: Uint8Array, { filters, status }: LineQuery): boolean {
  if (status !== null && !mayContain(filter, "status", [status])) return false;
  return (Object.entries(filters) as [BlockColumn, readonly string[]][]).every(
    ([column, values]) => values.length === 0 || mayContain(filter, column, values),
  );
}

function isMatch(line: LedgerLine, query: LineQuery): boolean {
  const { from, to, after, filters, tags = [], status, minCostPico, minLatencyMs } = query;
  if (line.time < (from ?? 0) || (to !== null && line.time >= to)) return false;
  if (after !== null && (line.time > after.time || (line.time === after.time && line.id >= after.id))) return false;
  if (status !== null && line.status !== status) return false;
  if (minCostPico !== null && (line.cost_pico == null || BigInt(line.cost_pico) < minCostPico)) return false;
  if (minLatencyMs !== null && line.latency_ms < minLatencyMs) return false;
  if (!tags.every((tag) => hasTag(line.tags ?? {}, tag))) return false;
  const { model = [], ...others } = filters;
  if (model.length > 0 && !model.includes(line.model ?? "") && !model.includes(toFullModel(line))) return false;
  return (Object.entries(others) as [FilterColumn, readonly string[]][]).every(
    ([column, values]) => values.length === 0 || values.includes(line[column] ?? ""),
  );
}

/** Newest first. */
function compareLines(one: LedgerLine, other: LedgerLine): number {
  return other.time - one.time || compareIds(one, other);
}

function compareIds(one: LedgerLine, other: LedgerLine): number {
  return one.id < other.id ? 1 : -1;
}

function positionOf(line: LedgerLine | undefined): LinePosition | null {
  return line === undefined ? null : { time: line.time, id: line.id };
}

function toRecord(line: LedgerLine): LineRecord {
  return {
    id: line.id,
    time: line.time,
    requestId: line.request_id,
    keyId: line.key_id ?? null,
    team: line.team ?? null,
    tags: line.tags,
    endpoint: line.endpoint,
    provider: line.provider ?? null,
    model: line.model ?? null,
    task: line.task ?? null,
    deployment: line.deployment ?? null,
    attempt: line.attempt,
    outcome: line.outcome,
    status: line.status,
    inputTokens: line.input_tokens ?? null,
    outputTokens: line.output_tokens ?? null,
    cachedTokens: line.cached_tokens ?? null,
    reasoningTokens: line.reasoning_tokens ?? null,
    priceVersion: line.price_version ?? null,
    costPico: line.cost_pico == null ? null : BigInt(line.cost_pico),
    costReason: line.cost_reason ?? null,
    countedPico: BigInt(line.counted_pico),
    latencyMs: line.latency_ms,
    firstTokenMs: line.first_token_ms ?? null,
    isStream: line.is_stream === 1,
    isCached: line.is_cached === 1,
    jobId: line.job_id ?? null,
    count: line.count,
    reason: line.reason ?? null,
  };
}

function toDetail(line: LedgerLine): LineDetail {
  const { accounts = null, tokens = null, units = null, usage = null } = line;
  return { ...toRecord(line), accounts, tokens, units, usage };
}
