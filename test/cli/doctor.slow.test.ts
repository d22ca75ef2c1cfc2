// `switchyard doctor` as an operator runs it: each fault is found and explained, and nothing is changed.

import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { connectPostgres } from "../../src/storage/connect.ts";
import { findFreePort } from "../support/free-port.ts";
import { startPostgres, whyNoPostgres } from "../support/postgres.ts";
import { gatewayProgram, runProgram } from "../support/run-program.ts";
import { writeStore } from "../support/store-template.ts";

const parent = mkdtempSync(join(tmpdir(), "switchyard-doctor-"));
afterAll(() => rmSync(parent, { recursive: true }));
const cleaners: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleaners.splice(0).reverse()) await clean();
});

interface Report {
  readonly code: number;
  readonly ok: boolean;
  readonly errors: string;
  find(check: string): Finding | undefined;
}

async function run(folder: string, env: Record<string, string> = {}, ...args: string[]) {
  const settings = { PATH: process.env["PATH"], SWITCHYARD_PORT: String(await findFreePort()), ...env };
  return await runProgram([...gatewayProgram, "doctor", ...args], { cwd: folder, env: settings });
}

async function diagnose(folder: string, env: Record<string, string> = {}, ...args: string[]): Promise<Report> {
  const { out, errors, code } = await run(folder, env, "--json", ...args);
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  const worst = ["problem", "warning", "note", "ok"];
  const sorted = findings.toSorted((one, other) => worst.indexOf(one.severity) - worst.indexOf(other.severity));
  return { code, ok, errors, find: (check) => sorted.find((finding) => finding.check === check) };
}

function createFolder(): string {
  return mkdtempSync(join(parent, "gateway-"));
}

async function createStore(): Promise<string> {
  const folder = createFolder();
  await writeStore(join(folder, "data"));
  chmodSync(join(folder, "data"), 0o700);
  return folder;
}

test("an empty folder has no problem, and stays empty", async () => {
  const folder = createFolder();
  const { code, ok, errors, find } = await diagnose(folder);
  expect({ code, ok, errors }).toEqual({ code: 0, ok: true, errors: "" });
  expect(find("database")).toMatchObject({ severity: "note", message: "There is no store yet." });
  expect(find("providers")).toMatchObject({ severity: "note", remedy: expect.stringContaining("OPENAI_API_KEY") });
  expect(readdirSync(folder)).toEqual([]);
});

test("a store of this version is up to date, and people get a table", async () => {
  const folder = await createStore();
  const { code, out } = await run(folder, { OPENAI_API_KEY: "sk-0123456789" });
  expect(code).toBe(0);
  expect(out).toMatch(/^result +check +finding\n/);
  expect(out).toMatch(/^ok +database +SQLite [\d.]+, \d+ migrations, up to date\.$/m);
  expect(out).toMatch(/^ok +providers +1 configured: openai\.$/m);
  expect(out).toMatch(/\n0 problems, \d+ warnings\.\n$/);
});

test("each fault is a problem with its remedy and exit code 1", async () => {
  const folder = await createStore();
  writeFileSync(join(folder, "switchyard.yaml"), "prot: 8080\n");
  const misspelt = await diagnose(folder);
  expect(misspelt.code).toBe(1);
  expect(misspelt.find("configuration")).toMatchObject({
    severity: "problem",
    message: expect.stringMatching(/switchyard\.yaml.*prot.*port/s),
  });
  rmSync(join(folder, "switchyard.yaml"));

  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("not a gateway") });
  cleaners.push(() => server.stop(true));
  const taken = await diagnose(folder, { SWITCHYARD_PORT: String(server.port), OPENAI_API_KEY: '"sk-0123456789"' });
  expect([taken.code, taken.ok]).toEqual([1, false]);
  expect(taken.find("ports")).toMatchObject({
    severity: "problem",
    message: `SWITCHYARD_PORT: port ${server.port} on 127.0.0.1 is in use by another program.`,
    remedy: "Stop it or set another SWITCHYARD_PORT.",
  });
  expect(taken.find("provider keys")).toMatchObject({
    severity: "problem",
    message: expect.stringContaining("quotation"),
  });
});

test("a store of a newer version, and one that is damaged, are told apart", async () => {
  const folder = await createStore();
  const path = join(folder, "data", "switchyard.sqlite");
  const store = new Database(path);
  store.run("insert into migrations values (9999, 'of the future', 'x', ?)", [Date.now() + 3_600_000]);
  store.close();
  const newer = await diagnose(folder);
  expect(newer.code).toBe(1);
  expect(newer.find("database")).toMatchObject({
    severity: "problem",
    message: expect.stringContaining("A newer version of Switchyard"),
    remedy: expect.stringContaining("newer one"),
  });
  // The store was written in the future.
  expect(newer.find("clock")).toMatchObject({ severity: "problem", message: expect.stringContaining("behind") });

  const broken = createFolder();
  mkdirSync(join(broken, "data"), { mode: 0o700 });
  writeFileSync(
    join(broken, "data", "switchyard.sqlite"),
    "not a database, and longer than the header of one".repeat(100),
  );
  expect((await diagnose(broken)).find("database")).toMatchObject({ severity: "problem" });
});

test("files that others may read, and keys that were left, are reported", async () => {
  const folder = await createStore();
  const database = join(folder, "data", "switchyard.sqlite");
  chmodSync(join(folder, "data"), 0o755);
  chmodSync(database, 0o640);
  mkdirSync(join(folder, "data", "first-keys"));
  const { out, code } = await run(folder);
  expect(code).toBe(0);
  expect(out).toContain(`chmod 700 ${join(folder, "data")}`);
  expect(out).toContain(`chmod 600 ${database}`);
  expect(out).toContain("still holds the keys of the first start");
});

describe("--call", () => {
  test("finds a key that is refused, a provider that is away, and a clock that is wrong", async () => {
    const date = (ms: number) => ({ date: new Date(ms).toUTCString() });
    const requests: string[] = [];
    // Answers as the documented formats of the two vendors do, with invented contents.
    const vendor = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url);
        requests.push(`${request.method} ${pathname} ${request.headers.get("authorization")}`);
        if (pathname.startsWith("/refuses"))
          return Response.json({ error: { message: "Incorrect API key" } }, { status: 401, headers: date(Date.now()) });
        return Response.json({ object: "list", data: [] }, { headers: date(Date.now() + 600_000) });
      },
    });
    cleaners.push(() => vendor.stop(true));
    const folder = await createStore();
    const env = {
      OPENAI_API_KEY: "key-of-openai",
      OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1`,
      GROQ_API_KEY: "key-of-groq",
      GROQ_BASE_URL: `http://127.0.0.1:${vendor.port}/refuses`,
      MISTRAL_API_KEY: "key-of-mistral",
      MISTRAL_BASE_URL: `http://127.0.0.1:${await findFreePort()}`,
    };
    const without = await diagnose(folder, env);
    expect([without.code, requests]).toEqual([0, []]);

    const { out, code } = await run(folder, env, "--call", "--json");
    const { findings } = JSON.parse(out) as { findings: Finding[] };
    const calls = findings.filter(({ check }) => check === "provider calls");
    expect(code).toBe(1);
    expect(calls).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ severity: "ok", message: expect.stringContaining("openai answered") }),
        expect.objectContaining({ severity: "problem", message: expect.stringMatching(/^groq .*credentials/) }),
        expect.objectContaining({ severity: "problem", message: expect.stringMatching(/^mistral /) }),
      ]),
    );
    expect(findings.find(({ check }) => check === "clock")).toMatchObject({
      severity: "problem",
      message: expect.stringMatching(/^The clock is (599|600) s behind that of openai\.$/),
    });
    expect(requests).toContain("GET /v1/models Bearer key-of-openai");
    for (const secret of ["key-of-openai", "key-of-groq", "key-of-mistral"]) expect(out).not.toContain(secret);
  });
});

describe.if(whyNoPostgres() === null)("PostgreSQL", () => {
  test("its version, migrations and clock are read, and an empty database stays empty", async () => {
    const server = await startPostgres();
    cleaners.push(() => server.stop());
    const folder = createFolder();
    const empty = await server.createDatabase();
    expect((await diagnose(folder, { DATABASE_URL: empty })).find("database")).toMatchObject({ severity: "note" });
    const database = connectPostgres(empty, { maxConnections: 1 });
    const [row] = await database.sql<{ found: boolean }>`select to_regclass('migrations') is not null as found`;
    await database.client.close();
    expect(row?.found).toBe(false);

    const { find } = await diagnose(folder, { DATABASE_URL: await server.createStore() });
    expect(find("database")).toMatchObject({ severity: "ok", message: expect.stringMatching(/^PostgreSQL \d+/) });
    expect(find("clock")).toMatchObject({ severity: "ok", message: "The clock agrees with the database." });

    const away = `postgres://user:a-password@127.0.0.1:${await findFreePort()}/none`;
    const report = await diagnose(folder, { DATABASE_URL: away });
    expect([report.code, report.find("database")]).toEqual([
      1,
      expect.objectContaining({ severity: "problem", remedy: expect.stringContaining("DATABASE_URL") }),
    ]);
    expect(JSON.stringify(report.find("database"))).not.toContain("a-password");
    expect(existsSync(join(folder, "data"))).toBe(false);
  });
});
