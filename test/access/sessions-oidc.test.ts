// A sign-in with OpenID Connect from its start to its end, at a clock of the test, against an issuer on this machine.

import { afterAll, describe, expect, test } from "bun:test";
import { createOidc } from "../../src/access/sessions-oidc.ts";
import { GatewayError } from "../../src/errors.ts";
import { createSealer } from "../../src/lib/seal.ts";
import { minuteMs } from "../../src/lib/time-units.ts";
import { quiet } from "../contracts/engines.ts";
import { startIssuer } from "../support/oidc-issuer.ts";
import { rejectionOf } from "../support/thrown.ts";

const issuer = await startIssuer();
afterAll(() => issuer.stop());

const redirectUri = "https://gateway.example/v3/manage/session/oidc/callback";

/** Starts a sign-in, and returns the function with which the issuer sends the browser back. */
async function start(options: { readonly groupsClaim?: string; readonly nameClaims?: readonly string[] } = {}) {
  const clock = { now: Date.now() };
  const oidc = createOidc({
    ...{ issuer: issuer.url, clientId: issuer.clientId, clientSecret: issuer.clientSecret, scopes: ["openid"] },
    ...{ groupsClaim: "groups", nameClaims: ["email"], ...options },
    ...{ sealer: createSealer([Buffer.alloc(32, 1)]), log: quiet, now: () => clock.now },
  });
  const { url, transaction } = await oidc.start(redirectUri, "/dashboard/keys");
  const atIssuer = await fetch(url, { redirect: "manual" });
  const { search } = new URL(atIssuer.headers.get("location") ?? "");
  return { clock, finish: (sealed: string | null = transaction) => oidc.finish(search, sealed) };
}

describe("a sign-in", () => {
  test("that takes less than ten minutes leads to the person, and to the page where it began", async () => {
    const { clock, finish } = await start();
    clock.now += 10 * minuteMs - 1;
    expect(await finish()).toEqual({
      identity: { issuer: issuer.url, subject: "ada", name: "ada@example.com", groups: ["gateway-admins"] },
      returnTo: "/dashboard/keys",
    });
  });

  test("that takes ten minutes has to begin again, and so has one that another browser began", async () => {
    const { clock, finish } = await start();
    clock.now += 10 * minuteMs;
    for (const sealed of [undefined, null, "AAAA"]) {
      const refused = await rejectionOf(finish(sealed), GatewayError);
      expect(refused.message).toContain("The sign-in took too long, or began in another browser. Try again.");
    }
  });
});

test.each([
  ["a list", "groups", { groups: ["a", "b"] }, ["a", "b"]],
  ["a single text", "groups", { groups: "a" }, ["a"]],
  ["a list with values that are no texts", "groups", { groups: ["a", 5, null] }, ["a"]],
  ["nested claims, by a path", "realm.roles", { realm: { roles: ["a"] } }, ["a"]],
  [
    "a claim with dots in its name, before a path",
    "realm.roles",
    { "realm.roles": ["b"], realm: { roles: ["a"] } },
    ["b"],
  ],
  ["a path that ends early", "realm.roles.all", { realm: { roles: "a" } }, []],
  ["a claim that every object has", "constructor", {}, []],
] as const)("groups are read from %s", async (_title, groupsClaim, claims, expected) => {
  issuer.state.person = { sub: "ada", ...claims };
  const { finish } = await start({ groupsClaim });
  expect((await finish()).identity.groups).toEqual([...expected]);
});

test.each([
  ["the first claim that has a text", { name: "Ada", email: "ada@example.com" }, "Ada"],
  ["the next claim if the first one is a number", { name: 5, email: "ada@example.com" }, "ada@example.com"],
  ["the subject if no claim has a name", {}, "ada"],
] as const)("the name of a person is %s", async (_title, claims, expected) => {
  issuer.state.person = { sub: "ada", ...claims };
  const { finish } = await start({ nameClaims: ["name", "email"] });
  expect((await finish()).identity.name).toBe(expected);
});
