// `/v3/manage/teams`.

import type { Teams } from "../../access/teams.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import * as contract from "../../contract/teams.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

const common = { tag: "Teams", key: "management" } as const;
const reading = { ...common, role: "viewer", reach: "team" } as const;
// The limits of a team are set for it, not by it.
const changing = { ...common, role: "administrator", reach: "gateway", audit: "stored" } as const;
const one = { path: "/v3/manage/teams/{team}", params: contract.teamPath } as const;
const examplePath = { team: "research" };

export function teamRoutes(teams: Teams): Route[] {
  return [
    defineRoute("listTeams", "List teams", {
      ...reading,
      description: "Newest first, a page at a time. `GET /v3/manage/keys?team=<name>` lists the keys of a team.",
      method: "GET",
      path: "/v3/manage/teams",
      query: contract.listTeamsQuery,
      answers: [{ status: 200, description: "A page of teams.", schema: contract.teamList }],
      example: { query: "limit=20" },
      async run({ query, caller }) {
        const { enabled = null, search = null, limit } = query;
        const filter = { name: caller.team, enabled, search, limit, offset: toOffset(query) };
        const { items, total } = await teams.list(filter);
        return replyJson(toPage(items, total, query));
      },
    }),
    defineRoute("createTeam", "Create a team", {
      ...changing,
      description: "The limits of a team apply to all its keys together, beside the limits of each key.",
      method: "POST",
      path: "/v3/manage/teams",
      body: { kind: "json", schema: contract.createTeamRequest },
      answers: [{ status: 201, description: "The team.", schema: contract.teamObject }],
      errors: ["team_conflict"],
      example: { body: { name: "research", display_name: "Research", allowed_models: ["sandbox/*"] } },
      run: async ({ body, actor }) => replyJson(await teams.create(body, actor), { status: 201 }),
    }),
    defineRoute("retrieveTeam", "Retrieve a team", {
      ...reading,
      ...one,
      method: "GET",
      answers: [{ status: 200, description: "The team.", schema: contract.teamObject }],
      errors: ["team_not_found"],
      example: { path: examplePath },
      run: async ({ params, caller }) => replyJson(await teams.get(params.team, caller.team)),
    }),
    defineRoute("updateTeam", "Change a team", {
      ...changing,
      ...one,
      description:
        "Replaces the given members; members that are absent keep their values. The keys of a disabled team are refused with 403 `team_disabled`.",
      method: "PATCH",
      body: { kind: "json", schema: contract.updateTeamRequest },
      answers: [{ status: 200, description: "The team as it is now.", schema: contract.teamObject }],
      errors: ["team_not_found"],
      example: { path: examplePath, body: { tags: { department: "research" } } },
      run: async ({ params, body, actor }) => replyJson(await teams.update(params.team, body, actor)),
    }),
    defineRoute("deleteTeam", "Delete a team", {
      ...changing,
      ...one,
      description: "Only a team whose keys are all revoked, or that has none.",
      method: "DELETE",
      answers: [{ status: 200, description: "The team is deleted.", schema: contract.deletedTeam }],
      errors: ["team_not_found", "team_conflict"],
      example: { path: examplePath },
      run: async ({ params, actor }) => replyJson({ id: await teams.delete(params.team, actor), deleted: true }),
    }),
  ];
}
