// The request that creates or changes a team, from the fields of the form.

import type { CreateTeam, Team, UpdateTeam } from "../../api/types.ts";
import { type LimitFields, toLimits } from "../../components/limit-fields.ts";

export interface TeamFields {
  readonly name: string;
  readonly displayName: string;
  readonly limits: LimitFields;
}

export function toNewTeam({ name, displayName, limits }: TeamFields): CreateTeam {
  const label = displayName.trim();
  return { name: name.trim(), ...(label !== "" && { display_name: label }), ...toLimits(limits, null) };
}

export function toChangedTeam({ displayName, limits }: TeamFields, before: Team): UpdateTeam {
  return { display_name: displayName.trim() || null, ...toLimits(limits, before) };
}
