// `switchyard teams create|list|show|update|delete`.

import type { Command } from "commander";
import { toOffset, toPage } from "../contract/paging.ts";
import { parse } from "../contract/problems.ts";
import { createTeamRequest, listTeamsQuery, type TeamObject, teamPath, updateTeamRequest } from "../contract/teams.ts";
import { type Access, type AccessContext, perform, toMemberLines, toTable } from "./access-command.ts";
import { createCommand, explain, type Result, toBoolean, UsageError } from "./command-line.ts";
import { type AccessOptions, addLimitOptions, anyLimits, describeBudget, toLimitMembers } from "./limit-options.ts";

interface TeamOptions extends AccessOptions {
  readonly displayName?: string;
}

/** Every command checks its arguments before it opens the store. */
export function createTeamsCommand(context: AccessContext): Command {
  const group = createCommand("teams", "Create, list, show, update and delete teams.", context);
  const argument = ["<team>", "its name or id"] as const;

  addLimitOptions(
    explain(
      group.command("create"),
      "Create a team. Its limits apply to all its keys together.",
      "teams create --name research --model 'openai/*'",
    )
      .option("--name <name>", "unique; cannot be changed; required")
      .option("--display-name <text>", "what people call the team; default: its name"),
  )
    .option("--json", "print JSON")
    .action(async ({ name, displayName, json: isJson, ...limits }: TeamOptions) => {
      if (name === undefined) throw new UsageError("--name is required.");
      const request = parse(createTeamRequest, { name, ...toDisplayName(displayName), ...toLimitMembers(limits) });
      await perform(context, async ({ teams }) => toResult(await teams.create(request)), isJson);
    });

  explain(group.command("list"), "List teams.", "teams list")
    .option("--enabled <true|false>", "enabled or disabled teams")
    .option("--search <text>", "teams with this text in their name or display name, or as their id")
    .option("--page <n>", "default: 1")
    .option("--limit <n>", "teams per page")
    .option("--json", "print JSON")
    .action(async ({ json: isJson, ...query }: { json?: true }) => {
      const { enabled = null, search = null, page, limit } = parse(listTeamsQuery, query);
      await perform(
        context,
        async ({ teams }) => {
          const { items, total } = await teams.list({ enabled, search, limit, offset: toOffset({ page, limit }) });
          return { json: toPage(items, total, { page, limit }), lines: toTable([header, ...items.map(toRow)]) };
        },
        isJson,
      );
    });

  explain(group.command("show"), "Show a team and its limits.", "teams show research")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, { json: isJson }: { json?: true }) => {
      const { team } = parse(teamPath, { team: given }, "path");
      await perform(context, async ({ teams }) => toResult(await teams.get(team)), isJson);
    });

  addLimitOptions(
    explain(
      group.command("update"),
      "Change a team. What is not named keeps its value.",
      "teams update research --enabled false",
    )
      .argument(...argument)
      .option("--display-name <text>", "what people call the team; none: its name"),
  )
    .option("--enabled <true|false>", "whether the keys of the team work", toBoolean)
    .option("--json", "print JSON")
    .action(async (given: string, { displayName, enabled, json: isJson, ...limits }: TeamOptions) => {
      const { team } = parse(teamPath, { team: given }, "path");
      const others = { ...toDisplayName(displayName), ...(enabled === undefined ? {} : { enabled }) };
      // Checks what can be checked without the team.
      parse(updateTeamRequest, { ...others, ...toLimitMembers(limits, anyLimits) });
      const change = async ({ teams }: Access) => {
        const current = await teams.get(team);
        const request = parse(updateTeamRequest, { ...others, ...toLimitMembers(limits, current) });
        return toResult(await teams.update(current.id, request));
      };
      await perform(context, change, isJson);
    });

  explain(group.command("delete"), "Delete a team whose keys are all revoked.", "teams delete research")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, { json: isJson }: { json?: true }) => {
      const { team } = parse(teamPath, { team: given }, "path");
      await perform(
        context,
        async ({ teams }) => {
          const id = await teams.delete(team);
          return { json: { id, deleted: true }, lines: [`Team ${team} is deleted.`] };
        },
        isJson,
      );
    });

  return group;
}

function toDisplayName(given: string | undefined) {
  return given === undefined ? {} : { display_name: given === "none" ? null : given };
}

function toResult(team: TeamObject): Result {
  return { json: team, lines: toMemberLines(team) };
}

const header = ["id", "state", "budget", "name", "display name"];

function toRow(team: TeamObject): string[] {
  const state = team.enabled ? "active" : "disabled";
  return [team.id, state, describeBudget(team.budget), team.name, team.display_name ?? ""];
}
