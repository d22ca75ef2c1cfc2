// Teams as they are requested, stored and shown.

import type { LimitDefaults } from "../contract/limits.ts";
import type { CreateTeamRequest, TeamObject, UpdateTeamRequest } from "../contract/teams.ts";
import type { TeamRecord, TeamSettings } from "../storage/teams.ts";
import { toChangedLimits, toNewLimits, toShownLimits } from "./limit-settings.ts";

export function toTeamRecord(request: CreateTeamRequest, defaults: LimitDefaults, now: number): TeamRecord {
  return {
    id: Bun.randomUUIDv7(),
    name: request.name,
    displayName: request.display_name ?? null,
    ...toNewLimits(request, defaults, now),
    enabled: request.enabled ?? true,
    createdAt: now,
  };
}

export function toTeamSettings(request: UpdateTeamRequest, now: number): Partial<TeamSettings> {
  const { display_name: displayName, enabled } = request;
  return {
    ...toChangedLimits(request, now),
    ...(displayName === undefined ? {} : { displayName }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

export function toTeamObject(team: TeamRecord, now: number): TeamObject {
  return {
    id: team.id,
    name: team.name,
    display_name: team.displayName,
    ...toShownLimits(team, now),
    enabled: team.enabled,
    created_at: new Date(team.createdAt).toISOString(),
  };
}
