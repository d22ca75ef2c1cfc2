// Jobs and files of all owners over real HTTP, as operators see them.

import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { managedFileList } from "../../src/contract/files.ts";
import { managedJobDetail, managedJobList, managedJobResult } from "../../src/contract/managed-jobs.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { maxDeliveriesPerJob } from "../../src/storage/deliveries.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startTlsReceiver } from "../support/tls-receiver.ts";
import { waitFor } from "../support/wait.ts";

// The gateway in this process does not trust its certificate, so that deliveries fail.
const receiver = startTlsReceiver({ address: "127.0.0.2", answer: () => new Response(null, { status: 204 }) });
afterAll(() => receiver.stop());
const gateway = await sharedGateway({ jobWorkers: 1, env: { SWITCHYARD_EGRESS_ALLOW: "127.0.0.2/32" } });
const sentiment = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };

async function call(method: string, path: string, key = gateway.adminKey, body?: unknown) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function createKey(members: object = {}) {
  return (await gateway.manage("POST", "/keys", { name: "worker", ...members })) as { id: string; key: string };
}

async function submit(key: string, more: object = {}): Promise<string> {
  const { status, json } = await call("POST", "/v3/universal-ai/async", key, { ...sentiment, ...more });
  expect(status, JSON.stringify(json)).toBe(202);
  return String(json["job_id"]);
}

async function untilFinished(id: string) {
  return await waitFor("the end of the job", async () => {
    const job = managedJobDetail.parse(await gateway.manage("GET", `/jobs/${id}`));
    return job.status === "processing" ? null : job;
  });
}

async function readAudit(target: string) {
  return ((await gateway.manage("GET", `/audit?target=${target}`)) as { items: { action: string; target: object }[] })
    .items;
}

const team = `team-${crypto.randomUUID().slice(0, 8)}`;
await gateway.manage("POST", "/teams", { name: team });
const key = await createKey({ team });

test("a finished job is listed and described without its result, which only administrators read", async () => {
  const id = await submit(key.key);
  const job = await untilFinished(id);
  expect(job).toMatchObject({
    ...{ job_id: id, status: "success", feature: "text", subfeature: "sentiment_analysis", provider: "sandbox" },
    ...{ team, key_id: key.id, key_name: "worker", runs: 1, webhook: null, deliveries: [], progress: null },
  });
  expect(job.result_bytes).toBeGreaterThan(10);
  expect(JSON.stringify(job)).not.toContain("general_sentiment");
  const list = managedJobList.parse(await gateway.manage("GET", `/jobs?team=${team}&limit=1`));
  const { deliveries: _, request_id, result_bytes: __, ...listed } = job;
  expect(list.items).toEqual([listed]);
  const operator = await createKey({ kind: "management", role: "operator" });
  expect((await call("GET", `/v3/manage/jobs/${id}/result`, operator.key)).status).toBe(403);
  const result = managedJobResult.parse(await gateway.manage("GET", `/jobs/${id}/result`));
  expect(result).toMatchObject({ status: "success", error: null, output: { general_sentiment: expect.any(String) } });
  expect(await readAudit(id)).toMatchObject([{ action: "job.read_result", target: { kind: "job", team } }]);
  // The request leads to its attempts.
  await waitFor("the line of the job", async () => {
    const { status, json } = await call("GET", `/v3/manage/requests/${request_id}`);
    return status === 200 && JSON.stringify(json).includes(id) ? true : null;
  });
});

test("redelivering is recorded with the team of the job, and shows no secret of the receiver", async () => {
  const id = await submit(key.key, { webhook_receiver: `https://127.0.0.2:${receiver.port}/hook?token=a-secret` });
  const job = await untilFinished(id);
  expect(job.webhook).toMatchObject({ receiver: `https://127.0.0.2:${receiver.port}/hook` });
  const operator = await createKey({ kind: "management", role: "operator", name: "on-call" });
  const delivery = await call("POST", `/v3/manage/jobs/${id}/redeliver`, operator.key);
  expect([delivery.status, delivery.json["state"]]).toEqual([202, "pending"]);
  const after = managedJobDetail.parse(await gateway.manage("GET", `/jobs/${id}`));
  expect(after.deliveries.map((one) => one.id)).toEqual([expect.any(String), String(delivery.json["id"])]);
  expect(JSON.stringify(after) + JSON.stringify(delivery.json)).not.toContain("a-secret");
  const records = await readAudit(id);
  expect(records).toMatchObject([
    { action: "job.redeliver", actor: { name: "on-call", role: "operator" }, target: { id, team } },
  ]);
  expect(JSON.stringify(records)).not.toContain("a-secret");

  const none = await submit(key.key);
  await untilFinished(none);
  expect(await call("POST", `/v3/manage/jobs/${none}/redeliver`)).toMatchObject({
    status: 400,
    json: { error: { code: "no_webhook_receiver" }, detail: expect.any(String) },
  });
  expect(await call("POST", `/v3/manage/jobs/${none}/cancel`)).toMatchObject({
    status: 409,
    json: { error: { code: "job_finished" } },
  });
  expect(await readAudit(none)).toEqual([]);
});

test("the webhook of a job that was sent again too often is not sent again, for owner and operator", async () => {
  const id = await submit(key.key, { webhook_receiver: `https://127.0.0.2:${receiver.port}/hook` });
  await untilFinished(id);
  const database = new Database(databaseFile(gateway.dataFolder));
  database.run("pragma busy_timeout = 60000");
  const add = database.prepare(
    "insert into deliveries (id, job_id, owner, receiver, state, created_at, attempts) values (?, ?, '', '', 'failed', 1, 0)",
  );
  database.transaction(() => {
    for (let count = 1; count < maxDeliveriesPerJob; count += 1) add.run(crypto.randomUUID(), id);
  })();
  database.close();
  const refused = { status: 429, json: { error: { code: "too_many_deliveries", param: "job_id" } } };
  expect(await call("POST", `/v3/universal-ai/async/${id}/deliveries/redeliver`, key.key)).toMatchObject(refused);
  expect(await call("POST", `/v3/manage/jobs/${id}/redeliver`)).toMatchObject(refused);
  expect(await readAudit(id)).toEqual([]);
});

test("wrong input is refused in both forms", async () => {
  const wrong = ["status=done", "from=yesterday", "from=1h&to=2h", "key=x", "limit=0", "cursor=x", "team=", "task="];
  for (const query of wrong) {
    const { status, json } = await call("GET", `/v3/manage/jobs?${query}`);
    expect([query, status]).toEqual([query, 422]);
    expect(json).toMatchObject({
      error: { code: expect.any(String) },
      detail: [{ loc: ["query", expect.any(String)] }],
    });
  }
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "/result"],
    ["POST", "/cancel"],
    ["POST", "/redeliver"],
  ] as const) {
    expect((await call(method, `/v3/manage/jobs/not-an-id${path}`)).status).toBe(422);
    expect(await call(method, `/v3/manage/jobs/${crypto.randomUUID()}${path}`)).toMatchObject({
      status: 404,
      json: { error: { code: "job_not_found" }, detail: "There is no such job." },
    });
  }
});

const hostileNames = [`"><img src=x onerror=alert(1)>.txt`, "名前 ünï.txt", "a\u202egnp.exe", "note.txt"];

test("a file is downloaded as an attachment under its own name, by administrators alone, and that is recorded", async () => {
  const viewer = await createKey({ kind: "management", role: "operator", team });
  for (const name of hostileNames) {
    const form = new FormData();
    form.append("file", new Blob(["<script>alert(1)</script>"]), name);
    const headers = { authorization: `Bearer ${key.key}` };
    const uploaded = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
    const { file_id, file_name } = (await uploaded.json()) as { file_id: string; file_name: string };
    const path = `/v3/manage/files/${file_id}/content`;
    const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.adminKey}` } });
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const disposition = response.headers.get("content-disposition") ?? "";
    expect(disposition).toStartWith("attachment; filename=");
    const [, encoded = ""] = /filename\*=UTF-8''(\S+)$/.exec(disposition) ?? [];
    expect(decodeURIComponent(encoded)).toBe(file_name);
    expect((await call("GET", path, viewer.key)).status).toBe(403);
    expect(await readAudit(file_id)).toMatchObject([{ action: "file.read", target: { name: file_name, team } }]);
  }
  expect(await call("GET", `/v3/manage/files/${crypto.randomUUID()}/content`)).toMatchObject({
    status: 404,
    json: { error: { code: "file_not_found" } },
  });
});

test("the list of files has the sum of their sizes", async () => {
  const list = managedFileList.parse(await gateway.manage("GET", `/files?team=${team}&limit=1`));
  expect(list).toMatchObject({ total: hostileNames.length, total_bytes: hostileNames.length * 25 });
});

test("a file of a key without a team has the name of that key, and a file of a team has none", async () => {
  const alone = await createKey({ name: "alone" });
  for (const { key: secret } of [alone, key]) {
    const form = new FormData();
    form.append("file", new Blob(["x"]), "named.txt");
    form.append("purpose", "names");
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form })).status).toBe(200);
  }
  const { items } = managedFileList.parse(await gateway.manage("GET", "/files?purpose=names"));
  expect(items).toMatchObject([
    { team, key_id: null, key_name: null },
    { team: null, key_id: alone.id, key_name: "alone" },
  ]);
  expect(await gateway.manage("GET", `/files/${items[1]?.file_id}`)).toEqual(items[1]);
});
