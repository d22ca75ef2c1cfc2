// Sign-in with OpenID Connect, against an issuer on this machine that signs real tokens.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startIssuer } from "../support/oidc-issuer.ts";
import { createSessionClient, errorCodeOf, type SignedIn } from "../support/session-client.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const issuer = await startIssuer();
afterAll(() => issuer.stop());
const initial = structuredClone(issuer.state);
beforeEach(() => {
  Object.assign(issuer.state, structuredClone(initial));
});
const oidc = {
  issuer: issuer.url,
  client_id: issuer.clientId,
  client_secret: issuer.clientSecret,
  name: "Example Login",
  roles: [
    { group: "gateway-admins", role: "administrator" },
    { group: "research", role: "operator", team: "research" },
    { group: "lost", role: "viewer", team: "no-such-team" },
    { group: "short-lived", role: "viewer", team: "short-lived" },
  ],
};
const gateway = await sharedGateway({ vendor, config: { oidc } });
const team = (await gateway.manage("POST", "/teams", { name: "research" })) as { id: string };
const start = "/v3/manage/session/oidc";

/** Follows the redirects as a browser does, up to the answer of the callback. */
async function signIn(client = createSessionClient(gateway.url), path = start) {
  const started = await client.send("GET", path);
  expect(started.status).toBe(303);
  const atIssuer = await fetch(started.headers.get("location") ?? "", { redirect: "manual" });
  return { client, callback: await client.send("GET", atIssuer.headers.get("location") ?? "") };
}

async function readSession(client: ReturnType<typeof createSessionClient>): Promise<SignedIn> {
  return client.use((await (await client.send("GET", "/v3/manage/session")).json()) as SignedIn);
}

test("a person signs in, and the groups decide about the role", async () => {
  const methods = await fetch(`${gateway.url}/v3/manage/session/methods`);
  expect(await methods.json()).toEqual({ key: true, oidc: { name: "Example Login", url: start } });
  const { client, callback } = await signIn();
  expect([callback.status, callback.headers.get("location")]).toEqual([303, "/dashboard"]);
  expect(callback.headers.get("set-cookie")).toMatch(/^switchyard_session=.*; HttpOnly; SameSite=Strict$/);
  expect(await readSession(client)).toMatchObject({ name: "ada@example.com", role: "administrator", team: null });
  expect((await client.change("POST", "/v3/manage/teams", { name: crypto.randomUUID() })).status).toBe(201);
  expect(await (await client.send("GET", "/v3/manage/whoami")).json()).toMatchObject({ name: "ada@example.com" });
});

test("a group may belong to a team, and its people see that team only", async () => {
  issuer.state.person = { sub: "bo", email: "bo@example.com", groups: ["other", "research"] };
  const { client } = await signIn();
  expect(await readSession(client)).toMatchObject({
    name: "bo@example.com",
    role: "operator",
    team: team.id,
    team_name: "research",
  });
  const created = await client.change("POST", "/v3/manage/keys", { name: "bo's key" });
  expect(await created.json()).toMatchObject({ team: "research" });
  const teams = (await (await client.send("GET", "/v3/manage/teams")).json()) as { items: { name: string }[] };
  expect(teams.items.map(({ name }) => name)).toEqual(["research"]);
});

test("a group whose team was deleted has no role, neither at sign-in nor in a session", async () => {
  await gateway.manage("POST", "/teams", { name: "short-lived" });
  issuer.state.person = { sub: "di", groups: ["short-lived"] };
  const { client } = await signIn();
  expect(await readSession(client)).toMatchObject({ role: "viewer" });
  await gateway.manage("DELETE", "/teams/short-lived");
  const ended = await client.send("GET", "/v3/manage/teams");
  expect([ended.status, await errorCodeOf(ended)]).toEqual([403, "no_role"]);
  const { callback } = await signIn();
  expect([callback.status, await errorCodeOf(callback)]).toEqual([403, "no_role"]);
});

test("groups that only the userinfo endpoint states are found there", async () => {
  issuer.state.person = { sub: "cy" };
  issuer.state.userInfo = { groups: ["gateway-admins"], email: "cy@example.com" };
  const { client } = await signIn();
  expect(await readSession(client)).toMatchObject({ name: "cy@example.com", role: "administrator" });
});

test("the page that asked for the sign-in is opened again, and no other site", async () => {
  const { callback } = await signIn(undefined, `${start}?return_to=/dashboard/keys%3Fteam=research`);
  expect(callback.headers.get("location")).toBe("/dashboard/keys?team=research");
  const client = createSessionClient(gateway.url);
  for (const target of [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "dashboard",
    "/a b",
    "/a\r\nb: c",
  ]) {
    const refused = await client.send("GET", `${start}?return_to=${encodeURIComponent(target)}`);
    expect(refused.status, target).toBe(422);
  }
});

test("a wrong token is refused", async () => {
  const past = Math.floor(Date.now() / 1_000) - 3_600;
  const cases: [string, () => void][] = [
    ["wrong nonce", () => Object.assign(issuer.state, { claims: { nonce: "another" } })],
    ["wrong audience", () => Object.assign(issuer.state, { claims: { aud: "another-client" } })],
    ["expired", () => Object.assign(issuer.state, { claims: { iat: past - 300, exp: past } })],
    ["wrong issuer", () => Object.assign(issuer.state, { claims: { iss: "https://evil.example" } })],
    ["wrong signature", () => Object.assign(issuer.state, { signsWithOtherKey: true })],
    ["refused by the issuer", () => Object.assign(issuer.state, { refuses: "access_denied" })],
  ];
  for (const [name, prepare] of cases) {
    Object.assign(issuer.state, structuredClone(initial));
    prepare();
    const { client, callback } = await signIn();
    expect(callback.status, name).toBe(401);
    expect(await errorCodeOf(callback), name).toBe("sign_in_failed");
    expect(client.cookies.has("switchyard_session"), name).toBe(false);
  }
});

test("a person without a group that has a role is refused", async () => {
  for (const groups of [["nobody"], [], "nobody", undefined, [7, null], ["lost"]]) {
    issuer.state.person = { sub: "di", ...(groups === undefined ? {} : { groups }) };
    const { client, callback } = await signIn();
    expect([callback.status, await errorCodeOf(callback)], JSON.stringify(groups)).toEqual([403, "no_role"]);
    expect(client.cookies.has("switchyard_session")).toBe(false);
  }
});

test("a callback without the browser that began the sign-in is refused", async () => {
  const client = createSessionClient(gateway.url);
  const started = await client.send("GET", start);
  const atIssuer = await fetch(started.headers.get("location") ?? "", { redirect: "manual" });
  const callback = atIssuer.headers.get("location") ?? "";
  const stranger = await createSessionClient(gateway.url).send("GET", callback);
  expect([stranger.status, await errorCodeOf(stranger)]).toEqual([401, "sign_in_failed"]);
  const other = createSessionClient(gateway.url);
  await other.send("GET", start);
  expect((await other.send("GET", callback)).status).toBe(401);
  client.cookies.set("switchyard_sign_in", `${client.cookies.get("switchyard_sign_in")?.slice(0, -4)}AAAA`);
  expect((await client.send("GET", callback)).status).toBe(401);
});

test("a code works once", async () => {
  const client = createSessionClient(gateway.url);
  const started = await client.send("GET", start);
  const atIssuer = await fetch(started.headers.get("location") ?? "", { redirect: "manual" });
  const callback = atIssuer.headers.get("location") ?? "";
  expect((await client.send("GET", callback)).status).toBe(303);
  expect((await client.send("GET", callback)).status).toBe(401);
});

test("a browser is sent to the dashboard with the reason of a failure", async () => {
  issuer.state.person = { sub: "ed", groups: [] };
  const client = createSessionClient(gateway.url);
  const started = await client.send("GET", start);
  const atIssuer = await fetch(started.headers.get("location") ?? "", { redirect: "manual" });
  const headers = { accept: "text/html,application/xhtml+xml" };
  const callback = await client.send("GET", atIssuer.headers.get("location") ?? "", { headers });
  expect(callback.status).toBe(303);
  const target = new URL(callback.headers.get("location") ?? "", gateway.url);
  expect([target.origin, target.pathname, target.searchParams.get("sign_in_error")]).toEqual([
    gateway.url,
    "/dashboard",
    "no_role",
  ]);
});

test("an issuer that does not answer is a 502, and keys still work", async () => {
  const away = await startIssuer();
  await using lonely = await testGateway({ vendor, config: { oidc: { ...oidc, issuer: away.url } } });
  away.stop();
  const client = createSessionClient(lonely.url);
  const started = await client.send("GET", start);
  expect([started.status, await errorCodeOf(started)]).toEqual([502, "issuer_unavailable"]);
  expect(await client.signIn(lonely.adminKey)).toMatchObject({ role: "administrator" });
});

test("an issuer that stops answering between the two requests is a 502", async () => {
  const leaving = await startIssuer();
  await using lonely = await testGateway({ vendor, config: { oidc: { ...oidc, issuer: leaving.url } } });
  const client = createSessionClient(lonely.url);
  const started = await client.send("GET", start);
  const atIssuer = await fetch(started.headers.get("location") ?? "", { redirect: "manual" });
  leaving.stop();
  const callback = await client.send("GET", atIssuer.headers.get("location") ?? "");
  expect([callback.status, await errorCodeOf(callback)]).toEqual([502, "issuer_unavailable"]);
});

test("the secret of the client is in no log", async () => {
  await signIn();
  expect(gateway.log()).not.toContain(issuer.clientSecret);
});
