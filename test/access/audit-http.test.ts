// The audit log over real HTTP: every change has a record, with what changed, by whom and from where.

import { expect, test } from "bun:test";
import { type AuditObject, auditList } from "../../src/contract/audit.ts";
import { createSessionClient } from "../support/session-client.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });

async function readAudit(query = ""): Promise<AuditObject[]> {
  return auditList.parse(await gateway.manage("GET", `/audit?${query}`)).items;
}

async function createKey(members: object = {}) {
  return (await gateway.manage("POST", "/keys", { name: "audited", ...members })) as { id: string; key: string };
}

test("the life of a key is recorded, without its secret", async () => {
  const { id, key } = await createKey({ tags: { a: "b" } });
  await gateway.manage("PATCH", `/keys/${id}`, { name: "renamed", budget: { amount: 5, period: "daily" } });
  const rotated = (await gateway.manage("POST", `/keys/${id}/rotate`, {})) as { key: string };
  await gateway.manage("DELETE", `/keys/${id}`);
  const records = await readAudit(`target=${id}`);
  expect(records.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    "key.revoke done",
    "key.rotate done",
    "key.update done",
    "key.create done",
  ]);
  const [revoke, rotate, update, create] = records as [AuditObject, AuditObject, AuditObject, AuditObject];
  expect(create).toMatchObject({ before: null, after: { name: "audited", tags: { a: "b" }, kind: "inference" } });
  expect(update.before).toEqual({ name: "audited", budget: null });
  expect(update.after).toMatchObject({ name: "renamed", budget: { amount: 5, period: "daily" } });
  expect(rotate.before).toMatchObject({ secret_tail: key.slice(-4) });
  expect(rotate.after).toMatchObject({ secret_tail: rotated.key.slice(-4) });
  expect(revoke).toMatchObject({ before: { enabled: true }, after: { enabled: false } });
  for (const record of records) {
    expect(record.actor).toMatchObject({ kind: "key", name: "SWITCHYARD_ADMIN_KEY", role: "administrator" });
    expect(record.address).toBe("127.0.0.1");
    expect(record.request_id).toBeString();
  }
  const text = JSON.stringify(records);
  for (const secret of [key, rotated.key])
    for (const shown of [secret, Bun.SHA256.hash(secret, "hex")]) expect(text).not.toContain(shown);
});

test("a rotation by an operator is recorded with the operator and the end of the old secret", async () => {
  const { id } = await createKey();
  const operator = await createKey({ name: "on-call", kind: "management", role: "operator" });
  const rotated = await fetch(`${gateway.url}/v3/manage/keys/${id}/rotate`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator.key}`, "content-type": "application/json" },
    body: JSON.stringify({ grace_seconds: 3_600 }),
  });
  expect(rotated.status).toBe(200);
  const [record] = await readAudit(`target=${id}&action=key.rotate&actor=on-call`);
  expect(record?.actor).toEqual({ kind: "key", id: operator.id, name: "on-call", role: "operator" });
  expect(record?.after).toMatchObject({ previous_until: expect.any(String), secret_tail: expect.any(String) });
  expect(String(record?.after?.["previous_until"]) > String(record?.time)).toBe(true);
  expect(record?.before).toMatchObject({ previous_until: null });
});

test("the life of a team is recorded", async () => {
  await gateway.manage("POST", "/teams", { name: "audited-team" });
  await gateway.manage("PATCH", "/teams/audited-team", { enabled: false });
  await gateway.manage("DELETE", "/teams/audited-team");
  const records = await readAudit("team=audited-team");
  expect(records.map(({ action }) => action)).toEqual(["team.delete", "team.update", "team.create"]);
  expect(records[1]).toMatchObject({ before: { enabled: true }, after: { enabled: false } });
  expect(records[0]).toMatchObject({ before: { name: "audited-team" }, after: null });
});

test("a change that is refused leaves no record of a change", async () => {
  const { id } = await createKey();
  await gateway.manage("DELETE", `/keys/${id}`);
  const before = await readAudit(`target=${id}`);
  const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "too late" });
  const refused = await fetch(`${gateway.url}/v3/manage/keys/${id}`, { method: "PATCH", headers, body });
  expect(refused.status).toBe(409);
  expect(await readAudit(`target=${id}`)).toEqual(before);
});

test("sign-ins and sign-outs are recorded, refused ones too", async () => {
  const client = createSessionClient(gateway.url);
  const { id, key } = await createKey({ kind: "management", role: "viewer", name: "Ada" });
  await client.signIn(key);
  await client.change("DELETE", "/v3/manage/session");
  const own = await readAudit(`actor=${id}&action=session`);
  expect(own.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual(["session.end done", "session.start done"]);
  await client.send("POST", "/v3/manage/session", { body: { key: "mgmt-sy-wrong" } });
  const [refused] = await readAudit("action=session.start&outcome=refused");
  expect(refused).toMatchObject({ code: "invalid_api_key", address: "127.0.0.1" });
  expect(JSON.stringify(refused)).not.toContain("mgmt-sy-wrong");
});

test("a change outside of the transaction of the store is recorded with its outcome", async () => {
  const missing = crypto.randomUUID();
  await gateway.manage("DELETE", `/files/${missing}`).catch(() => {});
  expect(await readAudit(`target=${missing}`)).toMatchObject([
    { action: "file.delete", outcome: "failed", code: "file_not_found" },
  ]);
});

test("records come page by page, and all of them as CSV", async () => {
  const name = `=cmd|${crypto.randomUUID()}`;
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await createKey({ name })).id));
  const seen: string[] = [];
  let cursor: string | null = "";
  for (let page = 0; cursor !== null; page++) {
    expect(page).toBeLessThan(4);
    const query = `target=${encodeURIComponent(name)}&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const list = auditList.parse(await gateway.manage("GET", `/audit?${query}`));
    seen.push(...list.items.map(({ target }) => target.id ?? ""));
    cursor = list.next_cursor;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  const response = await fetch(`${gateway.url}/v3/manage/audit?target=${encodeURIComponent(name)}`, {
    headers: { authorization: `Bearer ${gateway.adminKey}`, accept: "text/csv" },
  });
  expect(response.headers.get("content-type")).toStartWith("text/csv");
  const lines = (await response.text()).trimEnd().split("\r\n");
  expect(lines).toHaveLength(6);
  expect(lines[0]).toStartWith("time,actor_kind,actor_id");
  // A spreadsheet must not execute a name.
  expect(lines[1]).toContain(`"'${name}"`);
  expect(lines[1]).not.toContain(`,${name}`);
});

test("filters select by actor, action, time and outcome, and refuse what they do not know", async () => {
  const { id } = await createKey();
  const count = async (query: string) => (await readAudit(`target=${id}&${query}`)).length;
  expect(await count("actor=SWITCHYARD_ADMIN_KEY")).toBe(1);
  expect(await count("actor=nobody")).toBe(0);
  expect(await count("action=key.create")).toBe(1);
  expect(await count("action=key")).toBe(1);
  expect(await count("action=team")).toBe(0);
  expect(await count("from=1h")).toBe(1);
  expect(await count("to=2020-01-01")).toBe(0);
  expect(await count("outcome=failed")).toBe(0);
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  for (const query of ["from=yesterday", "outcome=good", "cursor=x", "limit=0", "from=2026-01-02&to=2026-01-01"])
    expect((await fetch(`${gateway.url}/v3/manage/audit?${query}`, { headers })).status, query).toBe(422);
});

test("CSV is refused with the same answer as JSON, before anything is sent", async () => {
  const [own, other] = [`own-${crypto.randomUUID()}`, `other-${crypto.randomUUID()}`];
  for (const name of [own, other]) await gateway.manage("POST", "/teams", { name });
  const viewer = await createKey({ kind: "management", role: "viewer", team: own });
  const read = async (query: string, key: string) => {
    const headers = { authorization: `Bearer ${key}`, "x-request-id": "same-for-both" };
    const response = await fetch(`${gateway.url}/v3/manage/audit?${query}`, { headers });
    return { status: response.status, type: response.headers.get("content-type"), json: await response.json() };
  };
  for (const [query, key, status] of [
    [`team=${other}`, viewer.key, 404],
    ["from=2026-01-02&to=2026-01-01", gateway.adminKey, 422],
  ] as const) {
    const asJson = await read(query, key);
    expect(asJson.status, query).toBe(status);
    expect(await read(`${query}&format=csv`, key), query).toEqual(asJson);
  }
});

test("a file that an operator deletes is recorded with its name", async () => {
  const form = new FormData();
  form.append("file", new Blob(["some text"]), "note.txt");
  const headers = { authorization: `Bearer ${await gateway.createKey()}` };
  const uploaded = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  const { file_id } = (await uploaded.json()) as { file_id: string };
  const listed = (await gateway.manage("GET", "/files?limit=1")) as { items: object[]; total: number };
  expect(listed).toMatchObject({ items: [{ file_id, file_name: "note.txt", team: null }], total: 1 });
  expect(await gateway.manage("DELETE", `/files/${file_id}`)).toEqual({ deleted_count: 1 });
  expect(await readAudit(`target=${file_id}`)).toMatchObject([
    {
      action: "file.delete",
      outcome: "done",
      target: { name: "note.txt" },
      before: { file_name: "note.txt" },
      after: null,
    },
  ]);
  expect((await fetch(`${gateway.url}/v3/upload/${file_id}`, { headers })).status).toBe(404);
});
