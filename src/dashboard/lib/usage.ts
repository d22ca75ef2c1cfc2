// Rows of usage reports as series over time.

import type { UsageReport, UsageRow } from "../api/types.ts";
import { addDays } from "./days.ts";

export interface Sums {
  lines: number;
  errors: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  /** Null if the cost of some lines is unknown and no other line cost anything. */
  cost: number | null;
  /** Of all lines together. */
  latency_ms: number;
}

export interface Course {
  /** Epoch milliseconds: the beginning of each hour or day in the viewer's zone. */
  readonly times: readonly number[];
  /** The sums of each of them. */
  readonly sums: readonly Sums[];
}

const hourMs = 3_600_000;

export function emptySums(): Sums {
  return { lines: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0, latency_ms: 0 };
}

/** Outcomes that are not failures of the gateway or a provider. */
export function isError(outcome: string | null | undefined): boolean {
  return outcome !== "completed" && outcome !== "caller_left";
}

export function addRow(sums: Sums, row: UsageRow): void {
  sums.lines += row.lines;
  if (row.outcome !== undefined && isError(row.outcome)) sums.errors += row.lines;
  sums.input_tokens += row.input_tokens;
  sums.output_tokens += row.output_tokens;
  sums.cached_tokens += row.cached_tokens;
  sums.cost = addCost(sums.cost, row.cost);
  sums.latency_ms += (row.average_latency_ms ?? 0) * row.lines;
}

/** As the gateway adds them: an unknown cost is left out of a sum, and alone it is no zero. */
export function addCost(sum: number | null, cost: number | null): number | null {
  if (cost === null) return sum === 0 ? null : sum;
  return cost === 0 ? sum : (sum ?? 0) + cost;
}

export function sumCosts(amounts: readonly { readonly cost: number | null }[]): number | null {
  return amounts.reduce<number | null>((sum, { cost }) => addCost(sum, cost), 0);
}

export function sumRows(rows: readonly UsageRow[]): Sums {
  const sums = emptySums();
  for (const row of rows) addRow(sums, row);
  return sums;
}

/** Hours and days without lines are there with zeros, so that a line falls to zero where nothing happened. */
export function toCourse(report: Pick<UsageReport, "from" | "to">, rows: readonly UsageRow[]): Course {
  const byTime = new Map<number, Sums>();
  for (const time of listTimes(report, rows[0]?.hour !== undefined)) byTime.set(time, emptySums());
  for (const row of rows) {
    const time = timeOf(row);
    const sums = byTime.get(time) ?? emptySums();
    addRow(sums, row);
    byTime.set(time, sums);
  }
  const sorted = [...byTime].toSorted(([one], [other]) => one - other);
  return { times: sorted.map(([time]) => time), sums: sorted.map(([, sums]) => sums) };
}

export function timeOf({ hour, day }: UsageRow): number {
  // A date without a time would be read as midnight in UTC.
  return hour !== undefined ? Date.parse(hour) : new Date(`${day}T00:00`).getTime();
}

function listTimes({ from, to }: Pick<UsageReport, "from" | "to">, isHourly: boolean): number[] {
  const times: number[] = [];
  const end = Date.parse(to);
  if (isHourly) {
    for (let time = Date.parse(from); time < end; time += hourMs) times.push(time);
    return times;
  }
  const start = new Date(from);
  for (let date = addDays(start, 0), days = 1; date.getTime() < end; days += 1) {
    times.push(date.getTime());
    date = addDays(start, days);
  }
  return times;
}

/** For each hour or day that begins at one of `times`, the step that begins in it. The steps of a report may begin later than its first day. */
export function stepsAt<Step extends { readonly from: string }>(
  times: readonly number[],
  steps: readonly Step[],
): (Step | undefined)[] {
  const placed = times.map((): Step | undefined => undefined);
  for (const step of steps) {
    const begins = Date.parse(step.from);
    const index = times.findLastIndex((time) => time <= begins);
    if (index >= 0) placed[index] = step;
  }
  return placed;
}

/** The period of the same length before the one that begins `from` (`24h`, `7d`) ago; null for other periods. */
export function periodBefore(from: string, to: string): { readonly from: string; readonly to: string } | null {
  const [, count, unit] = /^(\d+)([hd])$/.exec(from) ?? [];
  if (count === undefined || to !== "") return null;
  return { from: `${Number(count) * 2}${unit}`, to: from };
}

export function modelName({ provider, model, task }: Pick<UsageRow, "provider" | "model" | "task">): string {
  const name = [provider, model].filter((part) => part !== null && part !== undefined).join("/");
  return name || task || "no provider";
}
