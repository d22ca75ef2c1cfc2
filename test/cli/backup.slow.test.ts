// `switchyard storage backup`, beside a gateway that serves, and the restore of what it wrote.

import { afterAll, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectStore } from "../../src/storage/storage.ts";
import { createFolders } from "../contracts/engines.ts";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type Finished, gatewayProgram, runProgram } from "../support/run-program.ts";
import { writeStore } from "../support/store-template.ts";
import { uploadFile } from "../support/uploads.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const folders = createFolders();
afterAll(() => folders.remove());

const environment = { PATH: process.env["PATH"], HOME: folders.create() };

function backUp(dataDir: string, folder: string, ...options: string[]): Promise<Finished> {
  const command = [...gatewayProgram, "storage", "backup", folder, "--data-dir", dataDir, ...options];
  return runProgram(command, { cwd: folders.create(), env: environment });
}

async function createStore(): Promise<string> {
  const dataDir = join(folders.create(), "data");
  await writeStore(dataDir);
  return dataDir;
}

async function call(gateway: GatewayProcess, key: string, provider = "mock"): Promise<string> {
  const response = await waitFor("an answer", async () => {
    const answered = await ask(gateway.url, key, { ...hello, model: `${provider}/echo` });
    await answered.arrayBuffer();
    return answered.status === 200 ? answered : null;
  });
  return response.headers.get("x-request-id") ?? "";
}

test("a backup beside a gateway that serves has everything that was written before, and can be restored", async () => {
  const vendor = await startVendor();
  const gateway = await startGatewayProcess({ vendor });
  const folder = join(folders.create(), "backups", "first");
  const key = await gateway.createKey();
  const bytes = crypto.getRandomValues(new Uint8Array(100_000));
  const file = await uploadFile(gateway.url, key, bytes);
  const calls: string[] = [];
  let isBackedUp = false;
  const lane = (async () => {
    while (!isBackedUp) await call(gateway, key);
  })();
  for (let count = 0; count < 40; count++) calls.push(await call(gateway, key, "mock2"));
  const ran = await backUp(gateway.dataFolder, folder, "--json");
  isBackedUp = true;
  await lane;
  expect(ran).toMatchObject({ code: 0, errors: "" });
  expect(JSON.parse(ran.out)).toMatchObject({ folder, files: 1, file_bytes: bytes.length, files_s3_bucket: null });
  await gateway.stop();

  expect(await inspectStore(folder, null)).toMatchObject({ problem: null, pending: 0 });
  const restored = join(folders.create(), "data");
  cpSync(folder, restored, { recursive: true });
  const after = await startGatewayProcess({ vendor, env: { SWITCHYARD_DATA_DIR: restored } });
  expect(await call(after, key)).not.toBe("");
  const headers = { authorization: `Bearer ${key}` };
  const listed = (await (await fetch(`${after.url}/v3/upload`, { headers })).json()) as {
    items: { file_id: string }[];
  };
  expect(listed.items.map((item) => item.file_id)).toEqual([file]);
  const content = join("files", file.slice(0, 2), file);
  expect(readFileSync(join(restored, content))).toEqual(Buffer.from(bytes));
  const recorded = await waitFor("the lines of all calls", async () => {
    const { items } = (await after.manage("GET", "/requests?provider=mock2&limit=1000")) as {
      items: { request_id: string }[];
    };
    return items.length >= calls.length ? items.map((item) => item.request_id) : null;
  });
  expect(recorded.toReversed()).toEqual(calls);
  await after.stop();
  await vendor.stop();
}, 600_000);

test("the backup is for this user alone, and has neither incomplete files nor the keys of the first start", async () => {
  const dataDir = await createStore();
  mkdirSync(join(dataDir, "ledger"));
  mkdirSync(join(dataDir, "files", "incoming"), { recursive: true });
  mkdirSync(join(dataDir, "files", "0a"));
  const id = "0a000000-0000-4000-8000-000000000000";
  const written: Record<string, string> = {
    "ledger/p.1.spool": `,{"n":1}\n${"\0".repeat(100)}`,
    "ledger/p.lock": "",
    "ledger/ended.1.spool": "\0".repeat(100),
    "ledger/refused-lines.jsonl": "{}\n",
    "files/store-id": "x",
    [`files/0a/${id}`]: "content",
    "files/incoming/part": "half",
    "first-keys": "secret",
  };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(dataDir, name), text, { mode: 0o644 });
  chmodSync(join(dataDir, "switchyard.sqlite"), 0o644);
  const folder = join(folders.create(), "backup");
  const ran = await backUp(dataDir, folder);
  expect(ran).toMatchObject({ code: 0, errors: "" });
  expect(ran.out).toContain("1 waiting lines of the ledger and 1 files");
  const modes = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const { mode } = statSync(join(folder, name));
    return `${name} ${(mode & 0o777).toString(8)}`;
  });
  expect(modes.toSorted()).toEqual(
    [
      "switchyard.sqlite 600",
      "ledger 700",
      "ledger/p.1.spool 600",
      "ledger/refused-lines.jsonl 600",
      "files 700",
      "files/store-id 600",
      "files/0a 700",
      `files/0a/${id} 600`,
    ].toSorted(),
  );
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(folder, "ledger/p.1.spool"), "utf8")).toBe(',{"n":1}\n');
}, 300_000);

test("a folder that exists is refused and stays as it was, and a backup that fails leaves nothing", async () => {
  const dataDir = await createStore();
  const parent = folders.create();
  const folder = join(parent, "backup");
  mkdirSync(folder);
  writeFileSync(join(folder, "switchyard.sqlite"), "yesterday");
  const again = await backUp(dataDir, folder);
  expect(again).toMatchObject({ code: 1, out: "" });
  expect(again.errors).toContain("exists, and a backup replaces nothing");
  expect(readFileSync(join(folder, "switchyard.sqlite"), "utf8")).toBe("yesterday");

  writeFileSync(join(dataDir, "switchyard.sqlite"), "not a database, and longer than the header of one".repeat(100));
  expect(await backUp(dataDir, join(parent, "second"))).toMatchObject({ code: 1, out: "" });
  expect(readdirSync(parent)).toEqual(["backup"]);
}, 300_000);

test("with PostgreSQL the command says what to use instead", async () => {
  const command = [...gatewayProgram, "storage", "backup", "backup"];
  const env = { ...environment, DATABASE_URL: "postgres://127.0.0.1:1/x" };
  const ran = await runProgram(command, { cwd: folders.create(), env });
  expect(ran).toMatchObject({ code: 2, out: "" });
  expect(ran.errors).toContain("pg_dump");
}, 60_000);
