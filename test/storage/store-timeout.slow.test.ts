// The setting SWITCHYARD_STORE_TIMEOUT_MS, with a database that another program has locked.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { testGateway } from "../support/test-gateway.ts";

test("an operation that exceeds the store timeout is a 503, and the next one succeeds", async () => {
  await using gateway = await testGateway({ env: { SWITCHYARD_STORE_TIMEOUT_MS: "4000" } });
  const createKey = () =>
    fetch(`${gateway.url}/v3/manage/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "locked" }),
    });
  const other = new Database(databaseFile(gateway.dataFolder));
  other.run("begin immediate");
  const refused = await createKey();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { code: "dependency_unavailable" } });
  other.run("rollback");
  other.close();
  expect((await createKey()).status).toBe(201);
});
