// `switchyard requests list|show`. They read the database, beside a running gateway and without one.

import type { Command } from "commander";
import type { z } from "zod";
import { parse } from "../contract/problems.ts";
import { listRequestsQuery, type requestDetail, type requestList, requestPath } from "../contract/usage.ts";
import { alignColumns } from "../usage/report-formats.ts";
import { createRequestLog, type ExplainCost } from "../usage/requests.ts";
import { createCommand, explain, printResult } from "./command-line.ts";
import { addFilterOptions, addTimeOptions, toMembers, type UsageContext, withStorage } from "./usage.ts";

export interface RequestsContext extends UsageContext {
  /** Reads the prices, which `list` does not need. */
  loadExplainCost(): Promise<ExplainCost>;
}

interface ListOptions {
  readonly timeZone?: string;
  readonly minCost?: string;
  readonly minLatencyMs?: string;
  readonly json?: true;
}

type Page = z.output<typeof requestList>;
type Detail = z.output<typeof requestDetail>;
type Attempt = Detail["attempts"][number];

/** Arguments are checked before the store is opened. */
export function createRequestsCommand(context: RequestsContext): Command {
  const group = createCommand(
    "requests",
    "List calls and refused requests, and show how a cost was computed.",
    context,
  );
  const list = explain(
    group.command("list"),
    "List the lines of the ledger, newest first.",
    "requests list --outcome provider_timeout --from 24h",
  );
  addFilterOptions(addTimeOptions(list))
    .option("--status <n>", "only lines with this HTTP status")
    .option("--min-cost <usd>", "only lines that cost at least this much")
    .option("--min-latency-ms <n>", "only lines that took at least this long")
    .option("--limit <n>", "lines per page; default: 100")
    .option("--cursor <text>", "next_cursor of the previous page")
    .option("--json", "print JSON")
    .action(async ({ timeZone, minCost, minLatencyMs, json, ...options }: ListOptions) => {
      const renamed = { time_zone: timeZone, min_cost: minCost, min_latency_ms: minLatencyMs };
      const query = parse(listRequestsQuery, { ...options, ...toMembers(renamed) }, "query");
      const page = await withStorage(context, ({ usageReports }) =>
        createRequestLog(usageReports, () => null).list(query),
      );
      // Its amounts are written by JSON.stringify, with all their digits.
      printResult(context, json, { json: page, lines: toListing(page as unknown as Page) });
    });

  explain(
    group.command("show"),
    "Show every attempt of a request, and how its cost was computed.",
    "requests show 0198f3a2-7c1e-7000-8000-5d0c7a3c1e42",
  )
    .argument("<request id>", "the x-request-id of the answer")
    .option("--json", "print JSON")
    .action(async (id: string, { json }: { json?: true }) => {
      const { request_id } = parse(requestPath, { request_id: id }, "path");
      const explainCost = await context.loadExplainCost();
      const found = await withStorage(context, ({ usageReports }) =>
        createRequestLog(usageReports, explainCost).find(request_id),
      );
      printResult(context, json, { json: found, lines: toDescription(found as unknown as Detail) });
    });
  return group;
}

function toListing({ items, next_cursor }: Page): string[] {
  const header = ["time", "request", "outcome", "key", "model", "status", "in", "out", "cost", "ms"];
  const rows = items.map((line) => [
    line.time,
    line.request_id,
    line.count > 1 ? `${line.outcome} × ${line.count}` : line.outcome,
    line.key_name ?? line.key,
    nameOf(line),
    line.status,
    line.input_tokens,
    line.output_tokens,
    line.cost === null ? null : show(line.cost),
    line.latency_ms,
  ]);
  const lines = alignColumns([header, ...rows], header.indexOf("status"));
  return next_cursor === null ? lines : [...lines, "", `More: --cursor ${next_cursor}`];
}

function nameOf({ task, provider, model }: Pick<Attempt, "task" | "provider" | "model">): string | null {
  const parts = [task, provider, model].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join("/");
}

function toDescription({ request_id, cost, attempts, has_more }: Detail): string[] {
  const lines = [`request ${request_id}, cost ${show(cost)} USD`];
  if (has_more) lines.push("It has older attempts, which are not shown.");
  return [...lines, ...attempts.flatMap(describeAttempt)];
}

function describeAttempt(attempt: Attempt): string[] {
  const { time, outcome, status, latency_ms, first_token_ms, key, key_name, team, endpoint, reason } = attempt;
  const kind = attempt.attempt === 0 ? "refused" : `attempt ${attempt.attempt}: ${nameOf(attempt)}`;
  const firstToken = first_token_ms === null ? "" : `, first token after ${first_token_ms} ms`;
  const rows: [string, unknown][] = [
    ["endpoint", endpoint],
    ["key", key === null ? null : `${key_name ?? "unknown"} (${key})`],
    ["team", team],
    ["outcome", `${outcome}${status === null ? "" : `, status ${status}`}`],
    ["reason", reason],
    ["time", `${latency_ms} ms${firstToken}${attempt.is_stream ? ", streamed" : ""}`],
    ["tokens", describeTokens(attempt.tokens)],
    ["cost", `${show(attempt.cost)} USD${attempt.cost_reason === null ? "" : ` (${attempt.cost_reason})`}`],
    ["price", describePrice(attempt)],
    ["note", attempt.cost_note],
  ];
  const shown = rows.filter(([, value]) => value !== null && value !== undefined);
  const described = alignColumns(
    shown.map(([name, value]) => [`  ${name}`, String(value)]),
    2,
  );
  return ["", `${time} ${kind}`, ...described, ...describeParts(attempt.cost_parts)];
}

function describeTokens(tokens: Attempt["tokens"]): string | null {
  const kinds = Object.entries(tokens ?? {}).map(([kind, count]) => `${count} ${kind}`);
  return kinds.length === 0 ? null : kinds.join(", ");
}

function describePrice({ price }: Attempt): string | null {
  if (price === null) return null;
  const source = price.source === null ? "" : `, ${price.source} as of ${price.updated_at}`;
  return `version ${price.version}${source}`;
}

function describeParts(parts: Attempt["cost_parts"]): string[] {
  if (parts === null || parts.length === 0) return [];
  const rows = parts.map(({ kind, model, quantity, unit_price, amount }) => [
    `    ${model === null ? kind : `${kind} of ${model}`}`,
    quantity,
    "×",
    show(unit_price),
    "=",
    show(amount),
  ]);
  return alignColumns(rows, 1);
}

/** Numbers with all their digits. */
function show(value: unknown): string {
  return value === null ? "unknown" : JSON.stringify(value);
}
