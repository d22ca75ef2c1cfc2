// Keys over real HTTP, at a real gateway.

import { describe, expect, test } from "bun:test";
import { deletedKey, keyList, keyObject, keyWithSecret } from "../../src/contract/keys.ts";
import { inBody } from "../support/locations.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });

async function call(method: string, path: string, body?: unknown, key = gateway.adminKey) {
  const response = await fetch(`${gateway.url}/v3/manage${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function create(members: Record<string, unknown> = {}) {
  const { status, json } = await call("POST", "/keys", { name: "a key", ...members });
  expect(status).toBe(201);
  return keyWithSecret.parse(json);
}

describe("/v3/manage/keys", () => {
  test("a created key answers 201 with the secret, and never shows it again", async () => {
    const { key, ...shown } = await create({ tags: { team: "a" } });
    const found = await call("GET", `/keys/${shown.id}`);
    expect(found.status).toBe(200);
    expect(keyObject.parse(found.json)).toEqual(shown);
    expect(JSON.stringify((await call("GET", "/keys")).json)).not.toContain(key);
  });

  test("lists are paged, newest first, and filtered", async () => {
    const owner = crypto.randomUUID();
    const ids: string[] = [];
    for (const kind of ["inference", "sandbox", "management"]) ids.unshift((await create({ owner, kind })).id);
    const page = keyList.parse((await call("GET", `/keys?owner=${owner}&limit=2`)).json);
    expect(page).toMatchObject({ total: 3, page: 1, limit: 2, total_pages: 2 });
    expect(page.items.map((key) => key.id)).toEqual(ids.slice(0, 2));
    const rest = keyList.parse((await call("GET", `/keys?owner=${owner}&limit=2&page=2`)).json);
    expect(rest.items.map((key) => key.id)).toEqual(ids.slice(2));
    const sandbox = keyList.parse((await call("GET", `/keys?owner=${owner}&kind=sandbox&enabled=true`)).json);
    expect(sandbox.items.map((key) => key.kind)).toEqual(["sandbox"]);
    expect((await call("GET", `/keys?owner=${owner}&enabled=false`)).json).toMatchObject({ items: [], total_pages: 0 });
    expect((await call("GET", "/keys?owner=%00")).status).toBe(422);
  });

  test("an update returns the whole key, and null removes a setting", async () => {
    const made = await create({ owner: "a", budget: { amount: 0, period: "daily" } });
    const { status, json } = await call("PATCH", `/keys/${made.id}`, { name: "new", budget: null });
    expect(status).toBe(200);
    expect(keyObject.parse(json)).toMatchObject({ id: made.id, name: "new", owner: "a", budget: null });
  });

  test("rotation returns 200 with a new secret, and the old secret is refused", async () => {
    const made = await create({ kind: "management" });
    const rotated = await call("POST", `/keys/${made.id}/rotate`, {});
    expect(rotated.status).toBe(200);
    expect(keyWithSecret.parse(rotated.json).id).toBe(made.id);
    expect((await call("GET", "/whoami", undefined, made.key)).json).toMatchObject({
      error: { code: "api_key_revoked" },
    });
    expect((await call("GET", "/whoami", undefined, String(rotated.json["key"]))).status).toBe(200);
  });

  test("a disabled key is refused with the remedy, and works again when it is enabled", async () => {
    const made = await create({ kind: "management", enabled: false });
    expect(await call("GET", "/whoami", undefined, made.key)).toMatchObject({
      status: 401,
      json: {
        error: { code: "api_key_revoked", message: "This API key is disabled. An administrator can enable it." },
      },
    });
    expect((await call("PATCH", `/keys/${made.id}`, { enabled: true })).status).toBe(200);
    expect((await call("GET", "/whoami", undefined, made.key)).status).toBe(200);
  });

  test("a deleted key is revoked permanently: it is refused and cannot be changed", async () => {
    const made = await create({ kind: "management" });
    const deleted = await call("DELETE", `/keys/${made.id}`);
    expect(deleted.status).toBe(200);
    expect(deletedKey.parse(deleted.json)).toEqual({ id: made.id, deleted: true });
    expect((await call("GET", "/whoami", undefined, made.key)).status).toBe(401);
    expect(await call("PATCH", `/keys/${made.id}`, { enabled: true })).toMatchObject({
      status: 409,
      json: { error: { code: "key_conflict" } },
    });
    expect((await call("POST", `/keys/${made.id}/rotate`, {})).status).toBe(409);
  });

  test("an unknown id is 404, and one that is not a UUID is 422", async () => {
    for (const [method, suffix, body] of [
      ["GET", ""],
      ["PATCH", "", {}],
      ["DELETE", ""],
      ["POST", "/rotate", {}],
    ] as const) {
      expect(await call(method, `/keys/${crypto.randomUUID()}${suffix}`, body)).toMatchObject({
        status: 404,
        json: { error: { code: "key_not_found" } },
      });
      expect(await call(method, `/keys/not-a-uuid${suffix}`, body)).toMatchObject({
        status: 422,
        json: { detail: [{ loc: ["path", "key_id"], type: "uuid_parsing" }] },
      });
    }
  });

  test.each([
    ["no name", {}, "name", "missing"],
    ["an empty name", { name: "" }, "name", "string_too_short"],
    ["a name with a NUL", { name: "a\u0000" }, "name", "value_error"],
    ["a tag with a NUL", { name: "a", tags: { a: "\u0000" } }, "tags.a", "value_error"],
    ["an unknown member", { name: "a", colour: "red" }, "colour", "extra_forbidden"],
    ["an unknown kind", { name: "a", kind: "root" }, "kind", "literal_error"],
    ["an unknown scope", { name: "a", scopes: ["all"] }, "scopes.0", "literal_error"],
    ["scopes of a management key", { name: "a", kind: "management", scopes: ["chat"] }, "scopes", "value_error"],
    [
      "a rate of zero",
      { name: "a", rate_limit: { requests_per_second: 0 } },
      "rate_limit.requests_per_second",
      "greater_than_equal",
    ],
    [
      "concurrent requests of a fraction",
      { name: "a", rate_limit: { concurrent_requests: 1.5 } },
      "rate_limit.concurrent_requests",
      "int_from_float",
    ],
    ["a negative budget", { name: "a", budget: { amount: -1 } }, "budget.amount", "greater_than_equal"],
    ["an unknown period", { name: "a", budget: { amount: 0, period: "yearly" } }, "budget.period", "literal_error"],
    [
      "a budget with seven decimals",
      { name: "a", budget: { amount: 0.0000001 } },
      "budget.amount",
      "decimal_max_places",
    ],
    ["a budget of a text", { name: "a", budget: { amount: "25" } }, "budget.amount", "float_type"],
    [
      "a budget beyond what can be counted",
      { name: "a", budget: { amount: 1e300 } },
      "budget.amount",
      "less_than_equal",
    ],
    [
      "an unknown time zone",
      { name: "a", budget: { amount: 0, time_zone: "Europe/Berlim" } },
      "budget.time_zone",
      "value_error",
    ],
    [
      "an offset as a time zone",
      { name: "a", budget: { amount: 0, time_zone: "+02:00" } },
      "budget.time_zone",
      "value_error",
    ],
    [
      "an endless time zone",
      { name: "a", budget: { amount: 0, time_zone: "A".repeat(1_000_000) } },
      "budget.time_zone",
      "string_too_long",
    ],
    [
      "a misspelt member of a budget",
      { name: "a", budget: { amount: 0, timezone: "UTC" } },
      "budget.timezone",
      "extra_forbidden",
    ],
    [
      "a raise in the past",
      { name: "a", budget: { amount: 0, raise: { amount: 1, until: "2020-01-01T00:00:00Z" } } },
      "budget.raise.until",
      "value_error",
    ],
    [
      "a raise without an end",
      { name: "a", budget: { amount: 0, raise: { amount: 1 } } },
      "budget.raise.until",
      "missing",
    ],
    [
      "a raise of nothing",
      { name: "a", budget: { amount: 0, raise: { amount: 0, until: "2040-01-01T00:00:00Z" } } },
      "budget.raise.amount",
      "greater_than",
    ],
    [
      "a raise beyond what can be counted",
      { name: "a", budget: { amount: 1, raise: { amount: 9_000_000, until: "2040-01-01T00:00:00Z" } } },
      "budget.raise",
      "less_than_equal",
    ],
    [
      "an allowed model with a space",
      { name: "a", allowed_models: ["openai/*", "open ai/*"] },
      "allowed_models.1",
      "string_pattern_mismatch",
    ],
    [
      "a limit of models with a regular expression",
      { name: "a", model_limits: [{ model: "openai/(a|b)", budget: { amount: 0 } }] },
      "model_limits.0.model",
      "string_pattern_mismatch",
    ],
    [
      "a limit of a model without its provider",
      { name: "a", model_limits: [{ model: "gpt-5", budget: { amount: 0 } }] },
      "model_limits.0.model",
      "value_error",
    ],
    [
      "two limits of one pattern",
      {
        name: "a",
        model_limits: [
          { model: "a/*", budget: { amount: 0 } },
          { model: "a/*", budget: { amount: 0 } },
        ],
      },
      "model_limits.1.model",
      "value_error",
    ],
    [
      "a limit of models that limits nothing",
      { name: "a", model_limits: [{ model: "a/*" }] },
      "model_limits.0",
      "value_error",
    ],
    [
      "21 limits of models",
      { name: "a", model_limits: Array.from({ length: 21 }, (_, n) => ({ model: `a/${n}`, budget: { amount: 0 } })) },
      "model_limits",
      "too_long",
    ],
    [
      "a raise in the past for models",
      {
        name: "a",
        model_limits: [{ model: "a/*", budget: { amount: 0, raise: { amount: 1, until: "2020-01-01T00:00:00Z" } } }],
      },
      "model_limits.0.budget.raise.until",
      "value_error",
    ],
    ["an owner with a control character", { name: "a", owner: "a\nb" }, "owner", "value_error"],
    ["an empty team", { name: "a", team: "" }, "team", "string_too_short"],
    ["an expiry that is no time", { name: "a", expires_at: "tomorrow" }, "expires_at", "datetime_parsing"],
    ["an expiry in the past", { name: "a", expires_at: "2020-01-01T00:00:00Z" }, "expires_at", "value_error"],
    ["a number as enabled", { name: "a", enabled: 1 }, "enabled", "bool_type"],
  ])("%s is a 422 that says where", async (_, body, path, type) => {
    const loc = inBody(path);
    const { status, json } = await call("POST", "/keys", body);
    expect(status).toBe(422);
    expect(json["detail"]).toMatchObject([{ loc, type }]);
  });

  test.each([
    ["kind=root", ["query", "kind"], "literal_error"],
    ["enabled=yes", ["query", "enabled"], "literal_error"],
    ["page=0", ["query", "page"], "greater_than_equal"],
    ["page=one", ["query", "page"], "int_parsing"],
    ["limit=1001", ["query", "limit"], "less_than_equal"],
    ["limit=", ["query", "limit"], "int_parsing"],
  ])("?%s is a 422 that says where", async (query, loc, type) => {
    const { status, json } = await call("GET", `/keys?${query}`);
    expect(status).toBe(422);
    expect(json["detail"]).toMatchObject([{ loc, type }]);
  });

  test("whoami shows the caller's own key", async () => {
    const { key, ...shown } = await create({ kind: "management", name: "me" });
    expect((await call("GET", "/whoami", undefined, key)).json).toMatchObject({ id: shown.id, name: "me" });
    const admin = await call("GET", "/whoami");
    expect(keyObject.parse(admin.json)).toMatchObject({ name: "SWITCHYARD_ADMIN_KEY", kind: "management" });
  });
});
