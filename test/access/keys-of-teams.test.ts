// Which team a new or changed key belongs to, on SQLite.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Keyring, openKeyring } from "../../src/access/keys.ts";
import { gatewayActor } from "../../src/access/roles.ts";
import { createKeyRequest, type UpdateKeyRequest } from "../../src/contract/keys.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import type { Actor } from "../../src/storage/audit.ts";
import { openStorage, type Storage } from "../../src/storage/storage.ts";
import { createEngines, makeTeam, quiet } from "../contracts/engines.ts";
import { rejectionOf } from "../support/thrown.ts";

const [engine] = createEngines();
let storage: Storage;
let keyring: Keyring;
const red = makeTeam("red");
beforeAll(async () => {
  storage = await openStorage(await engine.createStore());
  for (const team of [red, makeTeam("blue")]) await storage.teams.insert(team);
  keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 9e9, log: quiet });
});
afterAll(async () => {
  await keyring.close();
  await storage.close();
  await engine.stop();
});

const request = (members: object) => createKeyRequest.parse({ name: "a key", ...members });

const administrator: Actor = { ...gatewayActor, kind: "key", role: "administrator", team: null };
const operator: Actor = { ...administrator, role: "operator" };
const operatorOfRed: Actor = { ...operator, team: "red" };

const create = (members: object, actor?: Actor) => keyring.create(request(members), actor);

/** Changes of keys take a moment each, until all processes know of them, so they are made together. */
async function teamsAfter(changes: readonly (readonly [actor: Actor, change: UpdateKeyRequest])[]) {
  const keys = await Promise.all(changes.map(() => create({ team: "red" })));
  const changed = await Promise.all(
    changes.map(([actor, change], index) => keyring.update(keys[index]?.id ?? "", change, actor)),
  );
  return changed.map(({ team }) => team);
}

describe("a new key", () => {
  test("belongs to the team that the request names, by its name or id, or to that of its creator", async () => {
    const made = await Promise.all([
      create({}),
      create({ team: null }),
      create({ owner: null }),
      create({ team: "red" }),
      create({ team: red.id }),
      create({ owner: "red" }),
      create({}, operatorOfRed),
      create({ team: "red" }, operatorOfRed),
      create({ owner: "red" }, operator),
    ]);
    expect(made.map(({ team }) => team)).toEqual([
      ...[null, null, null, "red", "red", "red"],
      ...["red", "red", "red"],
    ]);
  });

  test("creates the team that its owner names, for administrators only", async () => {
    expect((await create({ owner: "green" }, administrator)).team).toBe("green");
    expect(await storage.teams.find("green")).not.toBeNull();
    const refused = await rejectionOf(create({ owner: "yellow" }, operator), GatewayError);
    expect(refused.code).toBe("insufficient_role");
    expect(await storage.teams.find("yellow")).toBeNull();
  });

  test.each([
    ["of no team that exists", { team: "unknown" }, "administrator"],
    ["of another team, for an operator of one", { team: "blue" }, "operatorOfRed"],
    ["of another owner, for an operator of one team", { owner: "blue" }, "operatorOfRed"],
    ["of no team, for an operator of one", { team: null }, "operatorOfRed"],
  ] as const)("%s is refused", async (_title, members, actor) => {
    const refused = rejectionOf(create(members, { administrator, operatorOfRed }[actor]), ValidationError);
    expect((await refused).problems[0]?.loc).toEqual(["body", "team"]);
  });
});

test("a changed key keeps its team unless the request names another, and null takes it out of its team", async () => {
  const changed = await teamsAfter([
    [administrator, { name: "other" }],
    [operatorOfRed, { name: "other" }],
    [administrator, { team: "blue" }],
    [administrator, { owner: "blue" }],
    [administrator, { team: null }],
    [administrator, { owner: null }],
    [operatorOfRed, { team: "red" }],
  ]);
  expect(changed).toEqual(["red", "red", "blue", "blue", null, null, "red"]);
});
