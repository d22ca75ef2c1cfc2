// `GET /v3/manage/audit`: query parameters and response.

import { z } from "zod";
import { component } from "./component.ts";
import { roles } from "./roles.ts";
import { plainText, wholeNumberText } from "./text-values.ts";
import { cursorText, momentText } from "./usage.ts";

const outcomes = ["done", "failed", "refused", "started"] as const;
const actorKinds = ["key", "user", "command", "gateway"] as const;

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const listAuditQuery = z.object({
  from: momentText
    .optional()
    .describe("Only records of this time or later: a date (UTC), a time, or hours or days before now such as `7d`."),
  to: momentText.optional().describe("Only records before this time; a date is included as a whole day."),
  actor: plainText(256).optional().describe("Only changes by this key or person: an id or a name."),
  action: plainText(64)
    .optional()
    .describe("Only this action, such as `key.create`, or all actions on a kind of object, such as `key`."),
  target: plainText(256).optional().describe("Only changes of this object: its id or its name."),
  team: plainText(256)
    .optional()
    .describe(
      "Only records about this team and what belongs to it, such as keys, jobs and files: the name of the team.",
    ),
  outcome: z.enum(outcomes).optional().describe("Only records with this outcome."),
  limit: wholeNumberText(1, 1_000).default(100).describe("Records per page. CSV has no pages."),
  cursor: cursorText.optional().describe("`next_cursor` of the previous page."),
  format: z.enum(["json", "csv"]).optional().describe("Default: CSV if `Accept` asks for `text/csv`, otherwise JSON."),
});

const state = z.record(z.string(), z.unknown()).nullable();

const auditRecord = component("AuditRecord", {
  id: z.uuid(),
  time: z.iso.datetime(),
  actor: component("AuditActor", {
    kind: z
      .enum(actorKinds)
      .describe(
        "`user`: a person who signed in with OpenID Connect. `command`: the command line. `gateway`: the gateway itself.",
      ),
    id: z.string().nullable().describe("The id of the key, or the subject of the person at the issuer."),
    name: z.string(),
    role: z.enum(roles),
  }).describe("The key, person or program that made the change."),
  address: z
    .string()
    .nullable()
    .describe("The address of the client, or the name of the machine on which a command ran."),
  request_id: z.string().nullable().describe("The `x-request-id` of the request."),
  action: z.string().describe("`<kind of object>.<verb>`, such as `key.create`."),
  outcome: z
    .enum(outcomes)
    .describe(
      "`done`: the change was made. `failed`: it was not, or only in part. `refused`: it was not permitted. `started`: a change outside of the " +
        "store that is still being made, or whose result could not be recorded, for example because the process ended.",
    ),
  code: z
    .string()
    .nullable()
    .describe("Why a change failed or was refused: an error code, or the message of an error that has none."),
  target: component("AuditTarget", {
    kind: z.string(),
    id: z.string().nullable(),
    name: z.string().nullable(),
    team: z.string().nullable().describe("The name of the team that the object belongs to."),
  }).describe("The object that was changed or read."),
  before: state.describe(
    "The changed members, with their values before the change. Null for a new object, and where no values are recorded. Secrets are never recorded.",
  ),
  after: state.describe(
    "The same members, with their values after the change. Null for a deleted object, and where no values are recorded.",
  ),
});

export const auditList = component("AuditList", {
  items: z.array(auditRecord).describe("Newest first."),
  next_cursor: z.string().nullable().describe("Null on the last page."),
});

export type ListAuditRequest = z.output<typeof listAuditQuery>;
export type AuditObject = z.output<typeof auditRecord>;
