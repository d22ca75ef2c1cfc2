// How the cost of a line of the ledger was computed, with the prices of today.

import { findTask } from "../contract/tasks.ts";
import type { CostBasis } from "../lib/charge.ts";
import type { LineDetail } from "../storage/ledger-lines.ts";
import type { CostExplanation } from "../usage/explain-cost.ts";
import type { PricedProvider, Pricing } from "./pricing.ts";
import { explainUnits } from "./universal-ai/unit-price.ts";

/** Null when the line has nothing to compute a cost from. */
export type ExplainLine = (line: LineDetail) => CostExplanation | null;

export function createLineExplainer(pricing: Pricing, rowOf: (provider: string) => PricedProvider["row"]): ExplainLine {
  return (line) => {
    const { provider, model, task: taskName, time, latencyMs } = line;
    const basis = readBasis(line);
    if (provider === null || basis === null) return null;
    if ("units" in basis) {
      const task = findTask(taskName ?? "");
      return task === undefined ? null : explainUnits(task, provider, model, basis);
    }
    const row = rowOf(provider);
    const priced = row === undefined ? { name: provider } : { name: provider, row };
    // The charge was computed when the call had ended.
    return pricing.explain(priced, model ?? "", basis, new Date(time + latencyMs));
  };
}

function readBasis({ usage, units }: LineDetail): CostBasis | null {
  // The ledger stores what the charge was computed from.
  if (typeof usage === "object" && usage !== null) return usage as CostBasis;
  return typeof units === "object" && units !== null ? ({ units } as CostBasis) : null;
}
