// `/v3/manage/teams`: requests and answers.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { limitSettings, shownLimits } from "./limits.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { booleanText, plainText } from "./text-values.ts";

const descriptions = {
  name: "Unique, and cannot be changed: files, jobs and stored responses belong to this name.",
  display_name: "What people call the team. Null: its name.",
  enabled: "Whether the keys of the team work. A disabled team can be enabled again.",
};

const settings = {
  display_name: plainText(256).nullable().describe(descriptions.display_name),
  ...limitSettings,
  enabled: z.boolean().describe(descriptions.enabled),
};

export const createTeamRequest = z
  .strictObject({ name: plainText(256).describe(descriptions.name), ...z.strictObject(settings).partial().shape })
  .meta({ id: "CreateTeamRequest" });

export const updateTeamRequest = z.strictObject(settings).partial().meta({ id: "UpdateTeamRequest" });

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const listTeamsQuery = z.object({
  enabled: booleanText.optional().describe("Only enabled teams, or only disabled ones."),
  search: plainText(256)
    .optional()
    .describe(
      "Only teams whose name or display name contains this text, or that have it as their id. The case of the letters A to Z does not matter.",
    ),
  ...pageQuery,
});

export const teamPath = z.object({ team: plainText(256).describe("The team's id or name.") });

export const teamObject = strictComponent("Team", {
  id: z.uuid(),
  name: z.string().describe(descriptions.name),
  display_name: z.string().nullable().describe(descriptions.display_name),
  ...shownLimits,
  enabled: z.boolean().describe(descriptions.enabled),
  created_at: z.iso.datetime(),
});

export const teamList = pageOf(teamObject).meta({ id: "TeamList" });

export const deletedTeam = strictComponent("DeletedTeam", { id: z.uuid(), deleted: z.literal(true) });

export type CreateTeamRequest = z.output<typeof createTeamRequest>;
export type UpdateTeamRequest = z.output<typeof updateTeamRequest>;
export type TeamObject = z.output<typeof teamObject>;
