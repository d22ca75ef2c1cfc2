// Creates, changes and deletes teams in the store. Requests are checked against the keyring's snapshot, which also holds the teams. A change
// therefore returns only when the serving processes have had time to refresh their snapshots.

import type { CreateTeamRequest, TeamObject, UpdateTeamRequest } from "../contract/teams.ts";
import { GatewayError } from "../errors.ts";
import type { Actor } from "../storage/audit.ts";
import type { Storage } from "../storage/storage.ts";
import type { TeamFilter, TeamRecord } from "../storage/teams.ts";
import { type AccessDefaults, type Keyring, noDefaults, waitForPropagation } from "./keys.ts";
import { gatewayActor } from "./roles.ts";
import { toTeamObject, toTeamRecord, toTeamSettings } from "./team-records.ts";

export type Teams = ReturnType<typeof createTeams>;

export interface TeamsOptions {
  readonly storage: Storage;
  readonly keyring: Pick<Keyring, "refresh">;
  readonly defaults?: AccessDefaults;
  /** On whose behalf teams are changed unless a call says otherwise. Default: the gateway itself. */
  readonly actor?: Actor;
  readonly now?: () => number;
}

export function createTeams(options: TeamsOptions) {
  const { storage, keyring, defaults = noDefaults, actor: ownActor = gatewayActor, now = Date.now } = options;

  /** `ofTeam`: the only team that the caller may see; null: all. Any other team is reported as unknown. */
  async function find(nameOrId: string, ofTeam: string | null = null): Promise<TeamRecord> {
    const team = await storage.teams.find(nameOrId);
    if (team === null || (ofTeam !== null && team.name !== ofTeam)) refuseUnknown();
    return team;
  }

  return {
    async create(request: CreateTeamRequest, actor: Actor = ownActor): Promise<TeamObject> {
      const team = toTeamRecord(request, defaults.team, now());
      if ((await storage.teams.insert(team, actor)) === "name_taken")
        throw new GatewayError("team_conflict", `A team named '${team.name}' already exists.`, {
          param: "name",
        });
      await waitForPropagation(keyring.refresh());
      return toTeamObject(team, now());
    },

    async list(filter: TeamFilter): Promise<{ items: TeamObject[]; total: number }> {
      const { total, items } = await storage.teams.list(filter);
      return { items: items.map((team) => toTeamObject(team, now())), total };
    },

    get: async (nameOrId: string, ofTeam: string | null = null): Promise<TeamObject> =>
      toTeamObject(await find(nameOrId, ofTeam), now()),

    async update(nameOrId: string, request: UpdateTeamRequest, actor: Actor = ownActor): Promise<TeamObject> {
      const { id } = await find(nameOrId, actor.team);
      const team = (await storage.teams.update(id, toTeamSettings(request, now()), actor)) ?? refuseUnknown();
      await waitForPropagation(keyring.refresh());
      return toTeamObject(team, now());
    },

    /** Returns the id of the deleted team. */
    async delete(nameOrId: string, actor: Actor = ownActor): Promise<string> {
      const { id, name } = await find(nameOrId, actor.team);
      const keyCount = await storage.teams.delete(id, actor);
      if (keyCount === "not_found") refuseUnknown();
      if (keyCount > 0)
        throw new GatewayError(
          "team_conflict",
          `The team '${name}' has ${keyCount} ${keyCount === 1 ? "key that is" : "keys that are"} not revoked. Revoke its keys or move them to another team first.`,
        );
      await waitForPropagation(keyring.refresh());
      return id;
    },
  };
}

/** The message is stored and shown to others of the caller's team, so it does not repeat the name or id. */
function refuseUnknown(): never {
  throw new GatewayError("team_not_found", "There is no team with this name or id.");
}
