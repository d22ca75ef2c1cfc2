// Sessions over real HTTP: sign in with a key, use the cookie, sign out.

import { expect, test } from "bun:test";
import { createSessionClient, errorCodeOf, type SignedIn } from "../support/session-client.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });
const sessionPath = "/v3/manage/session";

async function createManagementKey(members: Record<string, unknown> = {}) {
  const created = await gateway.manage("POST", "/keys", { name: "a person", kind: "management", ...members });
  return created as { id: string; key: string };
}

test("a management key starts a session whose cookie management routes accept", async () => {
  const client = createSessionClient(gateway.url);
  const { key } = await createManagementKey({ name: "Ada", role: "operator" });
  const signedIn = await client.send("POST", sessionPath, { body: { key } });
  expect(signedIn.status).toBe(200);
  expect(signedIn.headers.get("set-cookie")).toMatch(
    /^switchyard_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
  );
  const session = client.use((await signedIn.json()) as SignedIn);
  expect(session).toMatchObject({ name: "Ada", role: "operator", team: null, idle_timeout_seconds: 1_800 });
  expect(Date.parse(session.expires_at)).toBeGreaterThan(Date.now());
  expect(await (await client.send("GET", sessionPath)).json()).toEqual(session);
  expect((await client.send("GET", "/v3/manage/keys")).status).toBe(200);
  const created = await client.change("POST", "/v3/manage/keys", { name: "by cookie" });
  expect(created.status).toBe(201);
  expect(await (await client.send("GET", "/v3/manage/whoami")).json()).toMatchObject({ name: "Ada", role: "operator" });
});

test("the cookie has the flag Secure when a trusted proxy says that the request came by https", async () => {
  await using proxied = await testGateway({ vendor, env: { SWITCHYARD_TRUSTED_PROXIES: "127.0.0.1" } });
  const send = (headers: Record<string, string>) =>
    createSessionClient(proxied.url).send("POST", sessionPath, { body: { key: proxied.adminKey }, headers });
  expect((await send({ "x-forwarded-proto": "https" })).headers.get("set-cookie")).toEndWith("; Secure");
  expect((await send({})).headers.get("set-cookie")).not.toContain("Secure");
});

test("a change by cookie needs the CSRF token and a page of the gateway itself", async () => {
  const client = createSessionClient(gateway.url);
  const { csrf_token } = await client.signIn(gateway.adminKey);
  const create = async (headers: Record<string, string>) => {
    const response = await client.send("POST", "/v3/manage/keys", { body: { name: "forged" }, headers });
    return response.status === 201 ? "accepted" : `${response.status} ${await errorCodeOf(response)}`;
  };
  const token = { "x-switchyard-csrf": csrf_token };
  expect(await create({})).toBe("403 csrf_token_invalid");
  expect(await create({ "x-switchyard-csrf": `${csrf_token}x` })).toBe("403 csrf_token_invalid");
  expect(await create({ ...token, origin: "https://evil.example" })).toBe("403 cross_origin_refused");
  expect(await create({ ...token, origin: "null" })).toBe("403 cross_origin_refused");
  expect(await create({ ...token, "sec-fetch-site": "cross-site" })).toBe("403 cross_origin_refused");
  expect(await create({ ...token, "sec-fetch-site": "same-site" })).toBe("403 cross_origin_refused");
  expect(await create({ ...token, origin: gateway.url, "sec-fetch-site": "same-origin" })).toBe("accepted");
  expect(await create(token)).toBe("accepted");
  // Reading needs no token.
  expect((await client.send("GET", "/v3/manage/keys")).status).toBe(200);
  // A page of another site cannot sign a browser in, either.
  const foreign = { body: { key: gateway.adminKey }, headers: { origin: "https://evil.example" } };
  expect(await errorCodeOf(await client.send("POST", sessionPath, foreign))).toBe("cross_origin_refused");
});

test("signing out ends the session, and removes the cookie", async () => {
  const client = createSessionClient(gateway.url);
  await client.signIn(gateway.adminKey);
  const cookie = client.cookies.get("switchyard_session") ?? "";
  const signedOut = await client.change("DELETE", sessionPath);
  expect(signedOut.status).toBe(204);
  expect(client.cookies.size).toBe(0);
  const again = await client.send("GET", sessionPath, { headers: { cookie: `switchyard_session=${cookie}` } });
  expect(again.status).toBe(401);
  expect(again.headers.get("set-cookie")).toContain("Max-Age=0");
  expect(await errorCodeOf(again)).toBe("session_ended");
});

test("without a session, GET says so; a key in the header works as before", async () => {
  const client = createSessionClient(gateway.url);
  expect(await errorCodeOf(await client.send("GET", sessionPath))).toBe("missing_api_key");
  const bearer = { authorization: `Bearer ${gateway.adminKey}` };
  const withKey = await client.send("GET", sessionPath, { headers: bearer });
  expect([withKey.status, await errorCodeOf(withKey)]).toEqual([401, "session_ended"]);
  expect((await client.send("GET", "/v3/manage/keys", { headers: bearer })).status).toBe(200);
  for (const value of ["x", "a".repeat(43), "a".repeat(5_000), "%00"]) {
    const forged = await client.send("GET", "/v3/manage/keys", { headers: { cookie: `switchyard_session=${value}` } });
    expect(forged.status, value.slice(0, 9)).toBe(401);
  }
});

test("a cookie does not open the routes that call models", async () => {
  const client = createSessionClient(gateway.url);
  await client.signIn(gateway.adminKey);
  const body = { model: "mock/m", messages: [{ role: "user", content: "Hi" }] };
  expect(await errorCodeOf(await client.change("POST", "/v3/chat/completions", body))).toBe("missing_api_key");
});

test("a session ends with the secret that began it", async () => {
  const [rotated, revoked, disabled] = [
    createSessionClient(gateway.url),
    createSessionClient(gateway.url),
    createSessionClient(gateway.url),
  ];
  const [first, second, third] = [
    await createManagementKey(),
    await createManagementKey(),
    await createManagementKey(),
  ];
  await rotated.signIn(first.key);
  await revoked.signIn(second.key);
  await disabled.signIn(third.key);
  const graced = createSessionClient(gateway.url);
  const fourth = await createManagementKey();
  await graced.signIn(fourth.key);
  await gateway.manage("POST", `/keys/${first.id}/rotate`, {});
  await gateway.manage("DELETE", `/keys/${second.id}`);
  await gateway.manage("PATCH", `/keys/${third.id}`, { enabled: false });
  await gateway.manage("POST", `/keys/${fourth.id}/rotate`, { grace_seconds: 3_600 });
  for (const client of [rotated, revoked, disabled])
    expect(await errorCodeOf(await client.send("GET", "/v3/manage/keys"))).toBe("session_ended");
  expect((await graced.send("GET", "/v3/manage/keys")).status).toBe(200);
});

test("a role that changes applies to sessions that run", async () => {
  const client = createSessionClient(gateway.url);
  const { id, key } = await createManagementKey({ role: "operator" });
  await client.signIn(key);
  expect((await client.change("POST", "/v3/manage/keys", { name: "x" })).status).toBe(201);
  await gateway.manage("PATCH", `/keys/${id}`, { role: "viewer" });
  const refused = await client.change("POST", "/v3/manage/keys", { name: "x" });
  expect([refused.status, await errorCodeOf(refused)]).toEqual([403, "insufficient_role"]);
});

test("wrong keys are limited in rate, and then even the right one has to wait", async () => {
  await using limited = await testGateway({ vendor });
  const client = createSessionClient(limited.url);
  const codes = new Set<string>();
  for (let attempt = 0; attempt < 10; attempt++)
    codes.add(await errorCodeOf(await client.send("POST", sessionPath, { body: { key: `mgmt-sy-${attempt}` } })));
  expect([...codes]).toEqual(["invalid_api_key"]);
  const right = await client.send("POST", sessionPath, { body: { key: limited.adminKey } });
  expect(right.status).toBe(429);
  expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
  // Clients with a key in the header are not affected.
  expect(await limited.manage("GET", "/keys")).toBeDefined();
});

test("a key that calls models cannot sign in, and a body without a key is refused", async () => {
  const client = createSessionClient(gateway.url);
  const key = await gateway.createKey();
  expect(await errorCodeOf(await client.send("POST", sessionPath, { body: { key } }))).toBe("insufficient_scope");
  for (const body of [{}, { key: 7 }, { key: "" }, { key: "a", more: 1 }, []])
    expect((await client.send("POST", sessionPath, { body })).status).toBe(422);
});

test("the ways to sign in are public", async () => {
  const response = await fetch(`${gateway.url}${sessionPath}/methods`);
  expect(await response.json()).toEqual({ key: true, oidc: null });
  const oidc = await fetch(`${gateway.url}${sessionPath}/oidc`, { redirect: "manual" });
  expect([oidc.status, await errorCodeOf(oidc)]).toEqual([404, "not_found"]);
});

test("a session works at another gateway on the same store, and after a restart", async () => {
  const first = await testGateway({ vendor });
  const client = createSessionClient(first.url);
  await client.signIn(first.adminKey);
  const env = { SWITCHYARD_DATA_DIR: first.dataFolder, SWITCHYARD_ADMIN_KEY: first.adminKey };
  await using second = await testGateway({ vendor, env });
  expect((await client.send("GET", `${second.url}${sessionPath}`)).status).toBe(200);
  await first.stop();
});

test("an administrator lists the sessions, and ends one", async () => {
  const client = createSessionClient(gateway.url);
  const name = `Bo ${crypto.randomUUID()}`;
  const { id: keyId, key } = await createManagementKey({ name, role: "viewer" });
  await client.signIn(key);
  const { items } = (await gateway.manage("GET", "/sessions")) as { items: { id: string; name: string }[] };
  const session = items.find((one) => one.name === name);
  expect(session).toMatchObject({ method: "key", key_id: keyId, subject: null });
  expect(JSON.stringify(items)).not.toContain(client.cookies.get("switchyard_session") ?? "");
  expect(await gateway.manage("DELETE", `/sessions/${session?.id}`)).toEqual({ id: session?.id, deleted: true });
  expect(await errorCodeOf(await client.send("GET", "/v3/manage/keys"))).toBe("session_ended");
  const again = await fetch(`${gateway.url}/v3/manage/sessions/${session?.id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  expect([again.status, await errorCodeOf(again)]).toEqual([404, "session_not_found"]);
});
