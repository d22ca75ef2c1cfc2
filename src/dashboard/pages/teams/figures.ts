// What a team spent, from a usage report by teams.

import type { UsageReport } from "../../api/types.ts";

interface TeamFigures {
  readonly cost: number | null;
  readonly lines: number | null;
}

/** Null for what is not known. A team that the report does not have made no calls. */
export function figuresOfTeam(report: UsageReport | undefined, team: string): TeamFigures {
  if (report === undefined) return { cost: null, lines: null };
  const row = report.rows.find((one) => one.team === team);
  return row === undefined ? { cost: 0, lines: 0 } : { cost: row.cost, lines: row.lines };
}
