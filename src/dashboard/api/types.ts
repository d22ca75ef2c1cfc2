// The answers of the management interface, from the schemas that the gateway checks them with.

import type { z } from "zod";
import type * as budgets from "../../contract/budgets.ts";
import type * as keys from "../../contract/keys.ts";
import type * as latency from "../../contract/latency.ts";
import type * as live from "../../contract/live.ts";
import type * as models from "../../contract/models.ts";
import type * as teams from "../../contract/teams.ts";
import type * as usage from "../../contract/usage.ts";

export type Key = z.output<typeof keys.keyObject>;
export type KeyWithSecret = z.output<typeof keys.keyWithSecret>;
export type KeyList = z.output<typeof keys.keyList>;
export type CreateKey = z.input<typeof keys.createKeyRequest>;
export type UpdateKey = z.input<typeof keys.updateKeyRequest>;
export type Team = z.output<typeof teams.teamObject>;
export type TeamList = z.output<typeof teams.teamList>;
export type CreateTeam = z.input<typeof teams.createTeamRequest>;
export type UpdateTeam = z.input<typeof teams.updateTeamRequest>;
export type UsageReport = z.output<typeof usage.usageReport>;
export type UsageRow = UsageReport["rows"][number];
export type RequestList = z.output<typeof usage.requestList>;
export type LedgerLine = RequestList["items"][number];
export type RequestDetail = z.output<typeof usage.requestDetail>;
export type RequestAttempt = RequestDetail["attempts"][number];
export type BudgetList = z.output<typeof budgets.budgetList>;
export type Budget = BudgetList["items"][number];
export type LiveFigures = z.output<typeof live.liveFigures>;
export type LatencyReport = z.output<typeof latency.latencyReport>;
export type ModelList = z.output<typeof models.modelList>;
