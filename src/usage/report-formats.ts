// Usage reports as JSON, as CSV and as a table for people. Amounts of money are exact decimal numbers in all of them.

import { type CsvCell, toCsv } from "../lib/csv.ts";
import { toExactNumber } from "../lib/exact-json.ts";
import { formatUsd } from "../lib/money.ts";
import type { UsageSums } from "../storage/usage-reports.ts";
import { toIso } from "./report-period.ts";
import type { UsageReport, UsageReportRow } from "./reports.ts";

/** The columns of the amounts, in the order in which every format has them. */
const amounts: Readonly<Record<string, (sums: UsageSums) => string | number | null>> = {
  lines: ({ lines }) => lines,
  input_tokens: ({ inputTokens }) => inputTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  cached_tokens: ({ cachedTokens }) => cachedTokens,
  reasoning_tokens: ({ reasoningTokens }) => reasoningTokens,
  cost: costOf,
  cost_unknown: ({ unknownCosts }) => unknownCosts,
  average_latency_ms: ({ latencyMs, lines }) => average(latencyMs, lines),
  average_first_token_ms: ({ firstTokenMs, streams }) => average(firstTokenMs, streams),
};

/** For JSON.stringify. */
export function toReportJson(report: UsageReport): object {
  const { from, to, timeZone, groupBy, rowCount, totals } = report;
  return {
    from: toIso(from),
    to: toIso(to),
    time_zone: timeZone,
    group_by: groupBy,
    rows: report.rows.map((row) => ({ ...Object.fromEntries(labelsOf(report, row)), ...toSumsJson(row.sums) })),
    row_count: rowCount,
    totals: toSumsJson(totals),
  };
}

export function toSumsJson(sums: UsageSums): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amountOf]) => {
      const amount = amountOf(sums);
      return [name, typeof amount === "string" ? toExactNumber(amount) : amount];
    }),
  );
}

/** Without a row of totals, so that a spreadsheet can add up the columns. */
export function toReportCsv(report: UsageReport): string {
  return toCsv([headerOf(report), ...bodyOf(report)]);
}

export function toReportTable(report: UsageReport): string[] {
  const rows: (readonly CsvCell[])[] = [headerOf(report), ...bodyOf(report)];
  const labels = headerOf(report).length - Object.keys(amounts).length;
  if (labels > 0) rows.push(["total", ...Array<string>(labels - 1).fill(""), ...amountsOf(report.totals)]);
  else rows.push(amountsOf(report.totals));
  const lines = alignColumns(rows, labels);
  const left = report.rowCount - report.rows.length;
  const zone = report.timeZone === "UTC" ? "" : `, days of ${report.timeZone}`;
  lines.push("", `${toIso(report.from)} to ${toIso(report.to)}${zone}`);
  if (left > 0) lines.push(`${left} more rows`);
  return lines;
}

function headerOf({ groupBy }: UsageReport): string[] {
  return [...groupBy.flatMap((name) => (name === "key" ? ["key", "key_name"] : [name])), ...Object.keys(amounts)];
}

function bodyOf(report: UsageReport): CsvCell[][] {
  return report.rows.map((row) => [...labelsOf(report, row).map(([, value]) => value), ...amountsOf(row.sums)]);
}

function labelsOf(
  { groupBy, keyNames }: UsageReport,
  { values }: UsageReportRow,
): [name: string, value: string | null][] {
  return groupBy.flatMap((name, index) => {
    const value = values[index] ?? null;
    const label: [string, string | null] = [name, value];
    return name === "key" ? [label, ["key_name", keyNames.get(value ?? "") ?? null]] : [label];
  });
}

function amountsOf(sums: UsageSums): CsvCell[] {
  return Object.values(amounts).map((amountOf) => amountOf(sums));
}

function costOf({ costPico, unknownCosts }: UsageSums): string | null {
  return costPico === 0n && unknownCosts > 0 ? null : formatUsd(costPico);
}

function average(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum / count) * 10) / 10;
}

/** The first columns hold text and start at the left, the others numbers. */
export function alignColumns(rows: readonly (readonly CsvCell[])[], textColumns: number): string[] {
  const cells = rows.map((row) => row.map((cell) => (cell === null ? "-" : toPlainText(String(cell)))));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column < textColumns ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** A terminal executes control characters. */
function toPlainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
