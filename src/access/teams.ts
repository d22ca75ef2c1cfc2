// Teams: created, changed and deleted in the store. Lookups of keys use the snapshot of the keyring, which holds the teams as well.

import type { CreateTeamRequest, TeamObject, UpdateTeamRequest } from "../contract/teams.ts";
import { GatewayError } from "../errors.ts";
import type { Storage } from "../storage/storage.ts";
import type { TeamFilter, TeamRecord } from "../storage/teams.ts";
import { type AccessDefaults, type Keyring, noDefaults, waitForPropagation } from "./keys.ts";
import { toTeamObject, toTeamRecord, toTeamSettings } from "./team-records.ts";

export type Teams = ReturnType<typeof createTeams>;

export interface TeamsOptions {
  readonly storage: Storage;
  readonly keyring: Pick<Keyring, "refresh">;
  readonly defaults?: AccessDefaults;
  readonly now?: () => number;
}

export function createTeams({ storage, keyring, defaults = noDefaults, now = Date.now }: TeamsOptions) {
  async function find(nameOrId: string): Promise<TeamRecord> {
    return (await storage.teams.find(nameOrId)) ?? refuseUnknown();
  }

  return {
    async create(request: CreateTeamRequest): Promise<TeamObject> {
      const team = toTeamRecord(request, defaults.team, now());
      if ((await storage.teams.insert(team)) === "name_taken")
        throw new GatewayError("team_conflict", `There is a team with the name '${team.name}' already.`, {
          param: "name",
        });
      await waitForPropagation(keyring.refresh());
      return toTeamObject(team, now());
    },

    async list(filter: TeamFilter): Promise<{ items: TeamObject[]; total: number }> {
      const { total, items } = await storage.teams.list(filter);
      return { items: items.map((team) => toTeamObject(team, now())), total };
    },

    get: async (nameOrId: string): Promise<TeamObject> => toTeamObject(await find(nameOrId), now()),

    async update(nameOrId: string, request: UpdateTeamRequest): Promise<TeamObject> {
      const { id } = await find(nameOrId);
      const team = (await storage.teams.update(id, toTeamSettings(request, now()))) ?? refuseUnknown();
      await waitForPropagation(keyring.refresh());
      return toTeamObject(team, now());
    },

    /** Returns the id of the deleted team. */
    async delete(nameOrId: string): Promise<string> {
      const { id, name } = await find(nameOrId);
      const keys = await storage.teams.delete(id);
      if (keys === "not_found") refuseUnknown();
      if (keys > 0)
        throw new GatewayError(
          "team_conflict",
          `The team '${name}' has ${keys} ${keys === 1 ? "key that is" : "keys that are"} not revoked. Revoke its keys or move them to another team first.`,
        );
      return id;
    },
  };
}

function refuseUnknown(): never {
  throw new GatewayError("team_not_found", "There is no team with this name or id.");
}
