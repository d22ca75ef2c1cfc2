// The lines of the ledger, one by one: recent calls and refusals, and how the cost of each of them was computed.

import { type ListRequestsRequest, toCursor } from "../contract/usage.ts";
import { GatewayError } from "../errors.ts";
import { toExactNumber } from "../lib/exact-json.ts";
import { formatUsd, picoPerUsd } from "../lib/money.ts";
import type { LineDetail, LineRecord } from "../storage/ledger-lines.ts";
import type { Storage } from "../storage/storage.ts";
import type { CostExplanation, ExplainedPart } from "./explain-cost.ts";
import { requireTimeZone, toIso, toListPeriod } from "./report-period.ts";
import { nameKeys, toFilters } from "./reports.ts";

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Null when there is nothing to compute a cost from. */
export type ExplainCost = (line: LineDetail) => CostExplanation | null;

const maxAttempts = 200;
// The store answers other operations between two pages.
const scanMs = 150;

export function createRequestLog(
  store: Storage["usageReports"],
  explainCost: ExplainCost,
  now: () => number = Date.now,
) {
  return {
    /** For JSON.stringify. */
    async list(request: ListRequestsRequest) {
      const { status = null, min_cost = null, min_latency_ms = null, limit, cursor = null } = request;
      const { lines, next } = await store.listLines({
        ...toListPeriod(request, requireTimeZone(request.time_zone), now()),
        after: cursor,
        filters: toFilters(request),
        tags: request.tag,
        status,
        minCostPico: min_cost,
        minLatencyMs: min_latency_ms,
        limit,
        scanMs,
      });
      const names = await nameKeys(store, new Set(lines.map(({ keyId }) => keyId)));
      return {
        items: lines.map((line) => toLineJson(line, names)),
        next_cursor: next === null ? null : toCursor(next),
      };
    },

    /** For JSON.stringify. */
    async find(requestId: string, ofTeam: string | null = null) {
      const found = await store.findRequest(requestId, maxAttempts + 1, ofTeam);
      if (found.length === 0) throw new GatewayError("request_not_found", "The ledger has no request with this id.");
      const lines = found.slice(-maxAttempts);
      const names = await nameKeys(store, new Set(lines.map(({ keyId }) => keyId)));
      const costs = lines.map((line) => line.costPico ?? (isUnbilled(line) ? 0n : null));
      const isKnown = costs.every((cost) => cost !== null);
      return {
        request_id: requestId,
        cost: isKnown ? toUsdJson(costs.reduce((sum, cost) => sum + cost, 0n)) : null,
        attempts: lines.map((line) => ({ ...toLineJson(line, names), ...toDetailJson(line, explainCost(line)) })),
        has_more: found.length > maxAttempts,
      };
    },
  };
}

/** As in the hourly totals: a request that was refused, or failed without an answer, has no cost that could be unknown. */
function isUnbilled({ attempt, costReason }: LineRecord): boolean {
  return attempt === 0 || costReason === "not_answered";
}

function toLineJson(line: LineRecord, keyNames: ReadonlyMap<string, string>) {
  return {
    id: line.id,
    request_id: line.requestId,
    job_id: line.jobId,
    time: toIso(line.time),
    key: line.keyId,
    key_name: keyNames.get(line.keyId ?? "") ?? null,
    team: line.team,
    tags: line.tags ?? {},
    endpoint: line.endpoint,
    provider: line.provider,
    model: line.model,
    task: line.task,
    deployment: line.deployment,
    attempt: line.attempt,
    outcome: line.outcome,
    status: line.status,
    reason: line.reason,
    count: line.count,
    is_stream: line.isStream,
    is_cached: line.isCached,
    latency_ms: line.latencyMs,
    first_token_ms: line.firstTokenMs,
    input_tokens: line.inputTokens,
    output_tokens: line.outputTokens,
    cached_tokens: line.cachedTokens,
    reasoning_tokens: line.reasoningTokens,
    cost: line.costPico === null ? null : toUsdJson(line.costPico),
    cost_reason: line.costReason,
    price_version: line.priceVersion,
  };
}

function toDetailJson(line: LineDetail, explained: CostExplanation | null) {
  return {
    tokens: line.tokens,
    units: line.units,
    usage: line.usage,
    counted_cost: toUsdJson(line.countedPico),
    ...describeCost(line, explained),
  };
}

/** The parts are shown only if they add up to the recorded cost: prices may have changed since. */
function describeCost({ costPico, costReason, priceVersion, attempt }: LineDetail, explained: CostExplanation | null) {
  const none = (cost_note: string | null) => ({ price: null, cost_parts: null, cost_note });
  if (attempt === 0) return none("The request was refused before a provider was called, so it costs nothing.");
  if (costReason === "not_answered") return none("The attempt failed without an answer, which is usually not billed.");
  if (costPico === null) return none(`The cost is unknown: ${costReason ?? "no reason was recorded"}.`);
  const free = { price: toPrice(priceVersion, null), cost_parts: [], cost_note: "The call was free." };
  if (explained === null && costPico === 0n) return free;
  if (explained === null) return none("The line has no usage from which the cost could be computed again.");
  const sum = explained.parts.reduce((total, { pico }) => total + BigInt(pico), 0n);
  if (explained.pico === null || sum !== costPico) {
    const now = explained.version === null ? "" : ` and is now ${explained.version}`;
    return none(`The prices have changed: the version was ${priceVersion ?? "not recorded"}${now}.`);
  }
  return {
    price: toPrice(explained.version, explained.source),
    cost_parts: explained.parts.map(toPartJson),
    cost_note: null,
  };
}

function toPrice(version: string | null, source: CostExplanation["source"]) {
  return version === null ? null : { version, source: source?.url ?? null, updated_at: source?.date ?? null };
}

function toPartJson({ kind, model, count, rate, pico }: ExplainedPart) {
  const ratePico = Math.round(rate * picoPerUsd);
  // The price of a task's unit may be a fraction of a pico-dollar; the amount is then rounded.
  const unit_price = ratePico * count === pico ? toUsdJson(BigInt(ratePico)) : rate;
  return { kind, model, quantity: count, unit_price, amount: toUsdJson(BigInt(pico)) };
}

function toUsdJson(pico: bigint): object {
  return toExactNumber(formatUsd(pico));
}
