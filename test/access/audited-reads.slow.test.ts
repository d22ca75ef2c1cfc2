// Administrators read content of callers only with a record of the audit log, also while the store can be read and not written.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway({
  env: { SWITCHYARD_CAPTURE_CONTENT: "true", SWITCHYARD_STORE_TIMEOUT_MS: "4000" },
});
const key = await gateway.createKey();
const secret = "a text that only its owner has";

async function read(path: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  const response = await fetch(`${gateway.url}/v3/manage${path}`, { headers });
  return { status: response.status, text: await response.text() };
}

async function countRecords(target: string): Promise<number> {
  const { items } = (await gateway.manage("GET", `/audit?target=${target}`)) as { items: unknown[] };
  return items.length;
}

/** Another program writes to the database for as long as `body` runs: reads are answered, and writes are not. */
async function withoutWrites(body: () => Promise<void>): Promise<void> {
  const other = new Database(databaseFile(gateway.dataFolder));
  other.run("pragma busy_timeout = 60000");
  other.run("begin immediate");
  try {
    await body();
  } finally {
    other.run("rollback");
    other.close();
  }
}

async function expectNoReadWithoutRecord(path: string, target: string): Promise<void> {
  const recorded = await countRecords(target);
  await withoutWrites(async () => {
    const { status, text } = await read(path);
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({ error: { code: "dependency_unavailable" } });
    expect(status).toBe(503);
  });
  const { status, text } = await read(path);
  expect(text).toContain(secret);
  expect(status).toBe(200);
  expect(await countRecords(target)).toBeGreaterThan(recorded);
}

test("a file of a caller is not shown while the read cannot be recorded", async () => {
  const form = new FormData();
  form.append("file", new Blob([secret]), "notes.txt");
  const headers = { authorization: `Bearer ${key}` };
  const uploaded = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  const { file_id } = (await uploaded.json()) as { file_id: string };
  await expectNoReadWithoutRecord(`/files/${file_id}/content`, file_id);
});

test("a captured request is not shown while the read cannot be recorded", async () => {
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: secret }] }),
  });
  await response.arrayBuffer();
  const id = response.headers.get("x-request-id") ?? "";
  const path = `/requests/${id}/content`;
  await waitFor("the captured request", async () => (await read(path)).text.includes(secret));
  await expectNoReadWithoutRecord(path, id);
});
