// Stored data belongs to `owner:<team>`, or to `key:<id>` if the key has no team.

import type { AuditTarget } from "./audit.ts";
import type { ListedJob } from "./job-records.ts";

const teamPrefix = "owner:";

export function ownerOfTeam(team: string): string {
  return teamPrefix + team;
}

/** Null: the data belongs to a key alone. */
export function teamOfOwner(owner: string): string | null {
  return owner.startsWith(teamPrefix) ? owner.slice(teamPrefix.length) : null;
}

export function toJobTarget({
  id,
  owner,
  feature,
  subfeature,
  provider,
}: Pick<ListedJob, "id" | "owner" | "feature" | "subfeature" | "provider">): AuditTarget {
  return { kind: "job", id, name: `${feature}/${subfeature}/${provider}`, team: teamOfOwner(owner) };
}
