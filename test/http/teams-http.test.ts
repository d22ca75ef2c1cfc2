// Teams over real HTTP, at a real gateway.

import { describe, expect, test } from "bun:test";
import { deletedTeam, teamList, teamObject } from "../../src/contract/teams.ts";
import { inBody } from "../support/locations.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  config: { providers: { google: { base_url: `${origin}/google`, api_key: "k" } } },
});

async function call(method: string, path: string, body?: unknown, key = gateway.adminKey) {
  const response = await fetch(`${gateway.url}/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const manage = (method: string, path: string, body?: unknown) => call(method, `/manage${path}`, body);

async function createTeam(members: Record<string, unknown> = {}) {
  const { status, json } = await manage("POST", "/teams", { name: `team ${crypto.randomUUID()}`, ...members });
  expect(status).toBe(201);
  return teamObject.parse(json);
}

async function createKey(members: Record<string, unknown>) {
  const { status, json } = await manage("POST", "/keys", { name: "a key", ...members });
  expect([status, json["detail"]]).toEqual([201, undefined]);
  return json as { id: string; key: string; team: string | null; owner: string | null };
}

function chat(key: string, model = "sandbox/echo") {
  return call("POST", "/chat/completions", { model, messages: [{ role: "user", content: "Hello" }] }, key);
}

describe("/v3/manage/teams", () => {
  test("a team is created, read by id and by name, listed, changed and deleted", async () => {
    const team = await createTeam({ display_name: "Research", tags: { a: "b" } });
    expect(team).toMatchObject({
      display_name: "Research",
      allowed_models: null,
      rate_limit: null,
      budget: null,
      model_limits: [],
      enabled: true,
    });
    for (const path of [team.id, team.id.toUpperCase(), encodeURIComponent(team.name)])
      expect((await manage("GET", `/teams/${path}`)).json).toEqual(team);
    const page = teamList.parse((await manage("GET", "/teams?limit=1")).json);
    expect(page).toMatchObject({ items: [team], page: 1, limit: 1 });
    const changed = await manage("PATCH", `/teams/${team.id}`, { display_name: null, tags: null });
    expect([changed.status, teamObject.parse(changed.json)]).toEqual([200, { ...team, display_name: null, tags: {} }]);
    const deleted = await manage("DELETE", `/teams/${encodeURIComponent(team.name)}`);
    expect([deleted.status, deletedTeam.parse(deleted.json)]).toEqual([200, { id: team.id, deleted: true }]);
    expect(await manage("GET", `/teams/${team.id}`)).toMatchObject({
      status: 404,
      json: { error: { code: "team_not_found" } },
    });
  });

  test("a name that is taken is 409, and a name cannot be changed", async () => {
    const { id, name } = await createTeam();
    expect(await manage("POST", "/teams", { name })).toMatchObject({
      status: 409,
      json: { error: { code: "team_conflict", param: "name" }, detail: expect.stringContaining(name) },
    });
    expect(await manage("PATCH", `/teams/${id}`, { name: "other" })).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "name"], type: "extra_forbidden" }] },
    });
  });

  test("a team with keys that are not revoked cannot be deleted", async () => {
    const team = await createTeam();
    const key = await createKey({ team: team.name, enabled: false });
    expect(await manage("DELETE", `/teams/${team.id}`)).toMatchObject({
      status: 409,
      json: { error: { code: "team_conflict", message: expect.stringContaining("1 key that is not revoked") } },
    });
    expect((await manage("DELETE", `/keys/${key.id}`)).status).toBe(200);
    expect((await manage("DELETE", `/teams/${team.id}`)).status).toBe(200);
    // The revoked key still tells which team it belonged to.
    expect((await manage("GET", `/keys/${key.id}`)).json).toMatchObject({ team: team.name });
  });

  test("a key names its team by name or id; a team that does not exist is 422", async () => {
    const team = await createTeam();
    expect(await createKey({ team: team.id })).toMatchObject({ team: team.name, owner: team.name });
    const lone = await createKey({});
    expect(lone).toMatchObject({ team: null, owner: null });
    const moved = await manage("PATCH", `/keys/${lone.id}`, { team: team.name });
    expect(moved.json).toMatchObject({ team: team.name });
    for (const query of [`team=${team.id}`, `team=${encodeURIComponent(team.name)}`, `owner=${team.id}`])
      expect((await manage("GET", `/keys?${query}`)).json).toMatchObject({ total: 2 });
    const problem = { detail: [{ loc: ["body", "team"], type: "value_error" }], error: { param: "team" } };
    for (const unknown of ["no such team", crypto.randomUUID()]) {
      expect(await manage("POST", "/keys", { name: "x", team: unknown })).toMatchObject({ status: 422, json: problem });
      expect(await manage("PATCH", `/keys/${lone.id}`, { team: unknown })).toMatchObject({
        status: 422,
        json: problem,
      });
    }
    expect((await manage("GET", "/keys?team=no+such+team")).json).toMatchObject({ total: 0 });
  });

  test("the older spelling `owner` creates the team, once, and contradicts no `team`", async () => {
    const owner = `owner ${crypto.randomUUID()}`;
    const first = await createKey({ owner });
    expect(await createKey({ owner })).toMatchObject({ team: owner });
    expect((await manage("GET", `/teams/${encodeURIComponent(owner)}`)).json).toMatchObject({ name: owner });
    expect(await manage("PATCH", `/keys/${first.id}`, { team: null, owner })).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "owner"], type: "value_error" }] },
    });
    // A key that was read can be sent back.
    expect((await manage("PATCH", `/keys/${first.id}`, { team: owner, owner })).status).toBe(200);
    expect((await manage("PATCH", `/keys/${first.id}`, { owner: null })).json).toMatchObject({ team: null });
  });

  test("the keys of a disabled team are refused with 403 until it is enabled again", async () => {
    const team = await createTeam();
    const { key } = await createKey({ team: team.name });
    expect((await chat(key)).status).toBe(200);
    await manage("PATCH", `/teams/${team.id}`, { enabled: false });
    expect(await chat(key)).toMatchObject({
      status: 403,
      json: { error: { code: "team_disabled", type: "permission_error" }, detail: expect.any(String) },
    });
    await manage("PATCH", `/teams/${team.id}`, { enabled: true });
    expect((await chat(key)).status).toBe(200);
  });

  test("a model must be allowed by the key and by its team", async () => {
    const team = await createTeam({ allowed_models: ["sandbox/e*", "text/*"] });
    const { key } = await createKey({ team: team.name, allowed_models: ["sandbox/*o"] });
    expect((await chat(key)).status).toBe(200);
    for (const model of ["sandbox/hello", "sandbox/error"])
      expect(await chat(key, model)).toMatchObject({ status: 403, json: { error: { code: "model_not_allowed" } } });
    await manage("PATCH", `/teams/${team.id}`, { allowed_models: ["openai/*"] });
    expect((await chat(key)).status).toBe(403);
    await manage("PATCH", `/teams/${team.id}`, { allowed_models: null });
    expect((await chat(key)).status).toBe(200);
    const task = (of: string) =>
      call("POST", "/universal-ai", { model: "text/moderation/sandbox", input: { text: "a" } }, of);
    const { key: free } = await createKey({ team: team.name });
    expect((await task(free)).status).toBe(200);
    await manage("PATCH", `/teams/${team.id}`, { allowed_models: ["sandbox/*"] });
    expect((await task(free)).status).toBe(403);
  });

  test("the keys of a team share its rate limit, beside limits of their own", async () => {
    const team = await createTeam({ rate_limit: { requests_per_minute: 3 } });
    const [first, second] = [
      await createKey({ team: team.name, rate_limit: { requests_per_minute: 1 } }),
      await createKey({ team: team.name }),
    ];
    const statuses = [];
    for (const { key } of [first, first, second, second, second]) statuses.push((await chat(key)).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
    const refused = await chat(second.key);
    expect(refused.json).toMatchObject({
      error: { code: "rate_limit_exceeded", message: expect.stringContaining("team") },
    });
    // A higher limit applies without a restart.
    await manage("PATCH", `/teams/${team.id}`, { rate_limit: { requests_per_minute: 100 } });
    expect((await chat(second.key)).status).toBe(200);
  });

  test("a limit of models counts the calls whose model fits its pattern, of all keys of the team", async () => {
    const limit = { model: "sandbox/e*", rate_limit: { requests_per_minute: 2 } };
    const team = await createTeam({ model_limits: [limit] });
    const [first, second] = [await createKey({ team: team.name }), await createKey({ team: team.name })];
    const statuses = [];
    for (const { key } of [first, second, first]) statuses.push((await chat(key)).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await chat(first.key, "sandbox/hello")).status).not.toBe(429);
  });

  test("a limit applies under every name of the provider", async () => {
    const limits = [
      { model: "gemini/*", rate_limit: { requests_per_minute: 1 } },
      { model: "text/summarize/gemini/*", rate_limit: { requests_per_minute: 1 } },
    ];
    const { key } = await createKey({ model_limits: limits });
    // The vendor does not speak the provider's format: only the limits matter here.
    expect((await chat(key, "google/gemini-2.5-flash")).status).not.toBe(429);
    for (const name of ["google", "gemini"])
      expect(await chat(key, `${name}/gemini-2.5-flash`)).toMatchObject({
        status: 429,
        json: { error: { code: "rate_limit_exceeded" } },
      });
    // The pattern is shown as it was written.
    const { items } = (await manage("GET", "/keys?limit=1")).json as { items: { model_limits: { model: string }[] }[] };
    expect(items[0]?.model_limits.map(({ model }) => model)).toEqual(limits.map(({ model }) => model));
  });

  test.each([
    ["no name", {}, "name", "missing"],
    ["an empty name", { name: "" }, "name", "string_too_short"],
    ["a name with a control character", { name: "a\u0007" }, "name", "value_error"],
    ["a name with half of a character", { name: "a\ud800" }, "name", "string_unicode"],
    ["a name of 257 characters", { name: "a".repeat(257) }, "name", "string_too_long"],
    ["a number as a name", { name: 7 }, "name", "string_type"],
    ["an unknown member", { name: "a", owner: "b" }, "owner", "extra_forbidden"],
    ["a negative budget", { name: "a", budget: { amount: -1 } }, "budget.amount", "greater_than_equal"],
    [
      "an unknown time zone",
      { name: "a", budget: { amount: 0, time_zone: "Mars" } },
      "budget.time_zone",
      "value_error",
    ],
    ["a pattern with a space", { name: "a", allowed_models: ["a b"] }, "allowed_models.0", "string_pattern_mismatch"],
    ["no allowed model", { name: "a", allowed_models: [] }, "allowed_models", "too_short"],
  ])("%s is a 422 that says where, in both forms", async (_, body, path, type) => {
    const loc = inBody(path);
    const { status, json } = await manage("POST", "/teams", body);
    expect([status, json["detail"]]).toMatchObject([422, [{ loc, type }]]);
    expect(json["error"]).toMatchObject({ type: "invalid_request_error", code: type, param: loc.slice(1).join(".") });
  });

  test("an inference key may not manage teams, and an unknown team is 404 for every method", async () => {
    const { key } = await createKey({});
    expect((await call("GET", "/manage/teams", undefined, key)).status).toBe(403);
    for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as const)
      for (const [path, expected] of [
        [crypto.randomUUID(), 404],
        ["no%20such", 404],
        ["%00", 422],
      ] as const)
        expect([path, (await manage(method, `/teams/${path}`, body)).status]).toEqual([path, expected]);
  });
});
