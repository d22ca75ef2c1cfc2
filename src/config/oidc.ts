// The member `oidc` of switchyard.yaml: sign-in with OpenID Connect, and the roles of the issuer's groups.

import { z } from "zod";
import { roles } from "../contract/roles.ts";
import { closedObject, expected, oneOf, text } from "./schema-parts.ts";

const issuerForm = /^(?:https:\/\/[^?#\s]+|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/[^?#\s]*)?)$/;

const groupRole = closedObject(
  {
    group: text(z.string().min(1)).describe("The name or id of a group, as the issuer states it."),
    role: oneOf(...roles).describe(
      "`viewer` reads, `operator` also changes keys and jobs, `administrator` does everything.",
    ),
    team: text(z.string().min(1)).nullable().default(null).describe("Limits the role to this team: its name or id."),
  },
  "should have the members group and role",
);

const texts = z.array(text(z.string().min(1)));

const written = closedObject(
  {
    issuer: text(
      z
        .string()
        .regex(
          issuerForm,
          expected("the https address of the issuer, without /.well-known; http only on this machine"),
        ),
    ).describe("Address of the issuer; `<issuer>/.well-known/openid-configuration` describes it."),
    client_id: text(z.string().min(1)).describe("The client that is registered for the gateway at the issuer."),
    client_secret: text(z.string().min(1))
      .nullable()
      .default(null)
      .describe("Its secret; unset for a public client, which PKCE alone protects."),
    name: text(z.string().min(1).max(64))
      .default("OpenID Connect")
      .describe("What the button of the sign-in page says."),
    scopes: texts
      .default(["openid", "profile", "email"])
      .describe("Scopes to request. Some issuers state groups only with a scope of their own."),
    groups_claim: text(z.string().min(1))
      .default("groups")
      .describe("The claim with the groups of a person; dots lead into nested claims, such as `realm_access.roles`."),
    name_claims: texts
      .default(["email", "preferred_username", "name"])
      .describe("The claims to take the name of a person from; the first one that is there counts."),
    roles: z
      .array(groupRole)
      .min(1, "should have at least one entry: without a role, sign-in is impossible")
      .describe(
        "Roles of groups. The first entry whose group a person belongs to decides; a person without one is refused.",
      ),
  },
  "should hold members such as 'issuer:', 'client_id:' and 'roles:'",
).superRefine(({ scopes }, context) => {
  if (!scopes.includes("openid"))
    context.addIssue({
      code: "custom",
      path: ["scopes"],
      message: "should contain openid, or the issuer states no identity",
    });
});

export const oidcSchema = written.nullable().default(null).describe("Sign-in to the dashboard with OpenID Connect.");

/** The members, with their descriptions. */
export const oidcShape = written.shape;

export type OidcSettings = z.output<typeof written>;
