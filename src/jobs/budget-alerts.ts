// The body of the webhook that announces a budget that runs low.

import { toUsd } from "../lib/money.ts";
import type { BudgetAlert } from "../storage/budgets.ts";
import { toCanonicalJson } from "./canonical-json.ts";

/** An alert as JSON stores it: amounts are text, because they can exceed the range of exact numbers. */
type StoredAlert = Omit<BudgetAlert, "limitPico" | "spentPico"> & {
  readonly limitPico: string;
  readonly spentPico: string;
};

/** The bytes that are signed and sent. `text` is the stored alert. */
export function toAlertBody(text: string): Buffer {
  const alert = JSON.parse(text) as StoredAlert;
  const limitPico = BigInt(alert.limitPico);
  const spentPico = BigInt(alert.spentPico);
  const payload = {
    event: "budget_threshold_reached",
    id: alert.id,
    budget: describeRule(alert.ruleId),
    threshold_percent: alert.threshold,
    limit: toUsd(limitPico),
    spent: toUsd(spentPico),
    left: toUsd(spentPico < limitPico ? limitPico - spentPico : 0n),
    period_start: alert.periodStart === 0 ? null : toIso(alert.periodStart),
    resets_at: alert.periodEnd === null ? null : toIso(alert.periodEnd),
    created_at: toIso(alert.at),
  };
  return Buffer.from(toCanonicalJson(payload));
}

/** The rule id `team:<id>/<pattern>` in its parts. */
function describeRule(ruleId: string): { holder: string; id: string; model: string | null } {
  const [, holder = "", id = "", model = null] = /^([^:]*):([^/]*)(?:\/(.*))?$/.exec(ruleId) ?? [];
  return { holder, id, model };
}

function toIso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
