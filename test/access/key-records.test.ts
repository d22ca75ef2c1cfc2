// Keys as they are requested, stored and shown.

import { describe, expect, test } from "bun:test";
import {
  generateSecret,
  hashSecret,
  plainRequest,
  tailOf,
  toKeyObject,
  toRecord,
  toSettings,
} from "../../src/access/key-records.ts";
import { keyScopes } from "../../src/contract/keys.ts";
import { problemsOf } from "../support/thrown.ts";

const now = Date.parse("2030-01-01T00:00:00Z");
const secret = "sk-sy-0123456789";
const defaults = { tags: { team: "default" } };

const create = (kind: "inference" | "management" | "sandbox", more: object = {}) =>
  toRecord({ request: { ...plainRequest(kind, "a key"), ...more }, team: null, secret, defaults, now });

describe("a secret", () => {
  test.each([
    ["inference", /^sk-sy-[0-9A-Za-z]{43}$/],
    ["management", /^mgmt-sy-[0-9A-Za-z]{43}$/],
    ["sandbox", /^sk-sy-sandbox-[0-9A-Za-z]{43}$/],
  ] as const)("of an %s key begins with its kind, and has 43 random characters", (kind, form) => {
    const secrets = Array.from({ length: 200 }, () => generateSecret(kind));
    for (const one of secrets) expect(one).toMatch(form);
    expect(new Set(secrets).size).toBe(200);
    // 8,600 characters: each of the 62 is there, unless the chance of one in 10^58 comes true.
    const characters = new Set(secrets.flatMap((one) => [...one.slice(-43)]));
    expect(characters.size).toBe(62);
  });

  test("is stored as a hash, and shown by its last four characters", () => {
    const record = create("inference");
    expect(record).toMatchObject({ secretHash: hashSecret(secret), secretTail: "6789", previousHash: null });
    expect(tailOf(secret)).toBe("6789");
    expect(JSON.stringify(record)).not.toContain(secret);
    expect(toKeyObject(record, now).masked).toBe("sk-sy-…6789");
  });
});

describe("a new key", () => {
  test("that calls models has all scopes and the default limits, and no role", () => {
    expect(create("inference")).toMatchObject({ role: null, scopes: keyScopes, tags: { team: "default" } });
    expect(create("sandbox", { scopes: ["chat"] })).toMatchObject({ role: null, scopes: ["chat"] });
  });

  test("for management is an administrator unless it says otherwise, and has no scopes and no default limits", () => {
    expect(create("management")).toMatchObject({ role: "administrator", scopes: [], tags: {} });
    expect(create("management", { role: "viewer", scopes: ["chat"] })).toMatchObject({ role: "viewer", scopes: [] });
  });

  test("was not used yet", () => {
    expect(toKeyObject(create("inference"), now)).toMatchObject({
      ...{ created_at: "2030-01-01T00:00:00.000Z", last_used_at: null, revoked_at: null, expires_at: null },
      enabled: true,
    });
  });
});

describe("the expiry of a key", () => {
  const acts = [
    (expires_at: string) => create("inference", { expires_at }),
    (expires_at: string) => toSettings({ expires_at }, now),
  ];

  test("is in the future", () => {
    for (const act of acts) {
      for (const past of ["2029-12-31T23:59:59Z", "2030-01-01T00:00:00Z"])
        expect(problemsOf(() => act(past))).toEqual([
          { loc: ["body", "expires_at"], msg: "The expiry must be in the future", type: "value_error" },
        ]);
      expect(act("2030-01-01T00:00:00.001Z").expiresAt).toBe(now + 1);
    }
  });

  test("can be removed", () => {
    expect(toSettings({ expires_at: null }, now)).toEqual({ expiresAt: null });
  });
});

test("a change has the members that the request names, and no others", () => {
  const changes = { name: "other", role: "viewer" as const, scopes: ["chat" as const], enabled: false };
  expect(toSettings(changes, now)).toEqual(changes);
  for (const [name, value] of Object.entries(changes))
    expect(toSettings({ [name]: value }, now)).toEqual({ [name]: value });
  expect(toSettings({}, now)).toEqual({});
});
