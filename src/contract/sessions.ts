// `/v3/manage/session`: requests and answers.

import { z } from "zod";
import { component, strictComponent } from "./component.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { roles } from "./roles.ts";
import { uuidText } from "./text-values.ts";

export const signInRequest = strictComponent("SignInRequest", {
  key: z.string().min(1).max(512).describe("A management key, `mgmt-sy-…`."),
});

export const sessionObject = component("Session", {
  name: z.string().describe("The name of the key, or of the person as the issuer states it."),
  role: z.enum(roles).describe("What the session may do."),
  team: z.string().nullable().describe("The id of the only team that the session sees. Null: all teams."),
  team_name: z.string().nullable().describe("The name of that team."),
  csrf_token: z.string().describe("Send it as `x-switchyard-csrf` with every request other than GET and HEAD."),
  expires_at: z.iso.datetime().describe("When the session ends, even if it is in use."),
  idle_timeout_seconds: z
    .int()
    .describe(
      "The session ends earlier if it is not used for this long. `x-switchyard-background: true` marks requests that are not a use.",
    ),
});

export const signInMethods = component("SignInMethods", {
  key: z.literal(true).describe("A management key can always be used."),
  oidc: component("OidcSignIn", {
    name: z.string().describe("What the button says."),
    url: z.string().describe("Open this address in the browser."),
  })
    .nullable()
    .describe("Sign-in with OpenID Connect; null if it is not configured."),
});

/** A path on this gateway: two slashes or a backslash would name another host. */
const localPath = z
  .string()
  .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,500}$/, "Input should be a path such as /dashboard/keys");

export const startOidcQuery = z.object({
  return_to: localPath.default("/dashboard").describe("The page to open after the sign-in."),
});

const listedSession = component("ListedSession", {
  id: z.uuid(),
  name: z.string().describe("The name of the key, or of the person as the issuer states it."),
  method: z.enum(["key", "oidc"]).describe("How it began: with a management key, or with OpenID Connect."),
  key_id: z.string().nullable().describe("The key with which it began."),
  subject: z.string().nullable().describe("The person at the issuer."),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().describe("To the minute."),
  expires_at: z.iso.datetime(),
});

export const listSessionsQuery = z.object(pageQuery);
export const sessionPath = z.object({ session_id: uuidText.describe("The session's id.") });
export const sessionList = pageOf(listedSession).meta({ id: "SessionList" });
export const endedSession = component("EndedSession", { id: z.uuid(), deleted: z.literal(true) });

export type ListedSession = z.output<typeof listedSession>;
export type SessionObject = z.output<typeof sessionObject>;
