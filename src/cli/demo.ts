// `switchyard demo`: fills a data folder of its own with thirty days of an invented company, and serves it.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { generateSecret, toRecord } from "../access/key-records.ts";
import { toTeamRecord } from "../access/team-records.ts";
import { type Config, overrideSettings } from "../config.ts";
import type { Budget } from "../contract/limits.ts";
import { dayMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import { toShownState } from "../storage/audit.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import { openStorage, type Storage } from "../storage/storage.ts";
import { CommandFailed, createCommand, type Output } from "./command-line.ts";
import { createCommandLog } from "./command-log.ts";
import { fillCaptures } from "./demo-captures.ts";
import { ada, fillChanges } from "./demo-changes.ts";
import type { ComputeCost, LineOptions, StoredKey } from "./demo-data.ts";
import { createRandom, demoDays, demoKeys, demoTeams, makeLines, toUuid } from "./demo-data.ts";
import { fillOperations } from "./demo-operations.ts";
import { startDemoVendor, writeDemoConfig } from "./demo-vendor.ts";
import { storeKeys } from "./first-keys.ts";

export interface DemoContext extends Output {
  /** The configuration of a gateway whose data is in this folder, and whose configuration file is another than usual. */
  readConfig(paths: DemoPaths): Config;
  openLog(config: Config): Log;
  loadComputeCost(config: Config, log: Log): Promise<ComputeCost>;
  /** Serves until the process is stopped. */
  serve(paths: DemoPaths): Promise<number>;
}

export interface DemoPaths {
  readonly dataDir: string;
  readonly configFile: string;
}

interface DemoOptions {
  readonly folder: string;
  readonly seed: string;
  readonly serve: boolean;
  readonly json?: true;
}

const linesPerBatch = 500;
const capturedMs = dayMs;
const maxCaptured = 500;
const filledMark = "demo-filled";

export function createDemoCommand(context: DemoContext): Command {
  return createCommand(
    "demo",
    "Serve a gateway with thirty days of invented data, in a data folder of its own.",
    context,
  )
    .option("--folder <path>", "the data folder; one that is filled already is served as it is", "demo-data")
    .option("--seed <n>", "the same seed gives the same data", "1")
    .option("--no-serve", "fill the folder, and end")
    .option("--json", "print JSON, and write the log as JSON lines")
    .action(async ({ folder, seed, serve, json }: DemoOptions) => {
      if (json) overrideSettings({ SWITCHYARD_LOG_FORMAT: "json" });
      const dataDir = resolve(folder);
      using vendor = serve ? startDemoVendor() : null;
      const paths = { dataDir, configFile: writeDemoConfig(dataDir, vendor) };
      const config = context.readConfig(paths);
      const output = json ? { ...context, print() {} } : context;
      if (!existsSync(join(dataDir, filledMark)))
        await fill({ context: output, config, dataDir, seed: Number(seed) || 1 });
      const keyFile = join(dataDir, "first-keys/management.key");
      if (json) context.print(JSON.stringify({ data_dir: dataDir, management_key_file: keyFile }));
      else context.print(`management key   in the file ${keyFile}`);
      if (!serve) return;
      const exitCode = await context.serve(paths);
      if (exitCode !== 0) throw new CommandFailed(exitCode);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway demo --seed 7");
}

interface FillOptions {
  readonly context: DemoContext;
  readonly config: Config;
  readonly dataDir: string;
  readonly seed: number;
}

async function fill({ context, config, dataDir, seed }: FillOptions): Promise<void> {
  context.print(`filling ${dataDir}`);
  const log = context.openLog(config);
  const computeCost = await context.loadComputeCost(config, log);
  const storage = await openStorage({ databaseUrl: null, dataDir, log });
  try {
    const lines = await fillStorage(storage, { dataDir, seed, end: Date.now(), computeCost });
    await Bun.write(join(dataDir, filledMark), `seed ${seed}, ${lines} lines\n`);
    context.print(
      `${demoTeams.length} teams, ${demoKeys.length} keys, ${lines} lines of the ledger in ${demoDays} days`,
    );
  } finally {
    await storage.close();
  }
}

export interface DemoFill extends LineOptions {
  readonly dataDir: string;
}

/** Returns the number of lines. */
export async function fillStorage(storage: Storage, { dataDir, ...options }: DemoFill): Promise<number> {
  const { seed, end } = options;
  const log = createCommandLog(null, "error");
  const keys = await storeAccess(storage, { dataDir, seed, end });
  let count = 0;
  let batch: unknown[] = [];
  const flush = async () => {
    if (batch.length > 0) await storage.ledger.append({ lines: JSON.stringify(batch), processId: "demo" });
    count += batch.length;
    batch = [];
  };
  const lastUse = new Map<string, number>();
  const recent: LedgerLine[] = [];
  for (const line of makeLines(keys, options)) {
    if (line.time > end - capturedMs) recent.push(line);
    if (line.key_id !== undefined) lastUse.set(line.key_id, line.time);
    batch.push(line);
    if (batch.length >= linesPerBatch) await flush();
  }
  await flush();
  await fillCaptures(storage, { lines: recent.slice(-maxCaptured), keys, log });
  batch = await fillOperations(storage, { dataDir, seed, end, keys, log });
  await flush();
  await fillChanges(storage, { end, keys });
  await storage.keys.touch([...lastUse].map(([id, at]) => ({ id, at })));
  for (const { id, isRevoked } of keys) if (isRevoked === true) await storage.keys.revoke(id, end - 12 * dayMs);
  return count;
}

async function storeAccess(
  storage: Storage,
  { dataDir, seed, end }: Pick<DemoFill, "dataDir" | "seed" | "end">,
): Promise<StoredKey[]> {
  const random = createRandom(seed + 1);
  const createdAt = end - (demoDays + 3) * dayMs;
  const teamIds = new Map<string, { id: string; budget: Budget | null }>();
  for (const { name, displayName, budgetUsd, allowedModels, tags } of demoTeams) {
    const budget = toBudget(budgetUsd);
    const request = {
      name,
      display_name: displayName,
      budget,
      allowed_models: allowedModels === null ? null : [...allowedModels],
      tags,
    };
    const team = { ...toTeamRecord(request, {}, createdAt), id: toUuid(createdAt, random) };
    await storage.teams.insert(team);
    const event = { action: "team.create", target: { kind: "team", id: team.id, name, team: name } };
    await storage.audit.insert(ada, { ...event, after: toShownState(team), at: createdAt });
    teamIds.set(name, { id: team.id, budget });
  }
  const keys: StoredKey[] = [];
  for (const key of demoKeys) {
    const budget = toBudget(key.budgetUsd);
    const rates = { requests_per_second: null, tokens_per_minute: null, concurrent_requests: null };
    const request = {
      ...{ name: key.name, kind: "inference" as const, expires_at: null, enabled: true, budget, tags: key.tags },
      rate_limit: key.requestsPerMinute === null ? null : { ...rates, requests_per_minute: key.requestsPerMinute },
    };
    const secret = generateSecret("inference");
    const stored = {
      ...toRecord({ request, team: key.team, secret, defaults: {}, now: createdAt }),
      id: toUuid(createdAt, random),
    };
    await storage.keys.insert(stored, null);
    const target = { kind: "key", id: stored.id, name: key.name, team: key.team };
    await storage.audit.insert(ada, {
      ...{ action: "key.create", target, after: toShownState(stored), at: createdAt },
    });
    const team = teamIds.get(key.team);
    keys.push({ ...key, id: stored.id, budget, teamId: team?.id ?? "", teamBudget: team?.budget ?? null });
  }
  await storeOwnKeys(storage, dataDir, createdAt);
  return keys;
}

/** Keys with which one can try the demo. Their secrets are not invented, because the gateway may be reachable. */
async function storeOwnKeys(storage: Storage, dataDir: string, now: number): Promise<void> {
  const secrets = { inference: generateSecret("inference"), management: generateSecret("management") };
  for (const kind of ["inference", "management"] as const) {
    const request = { name: `Demo ${kind} key`, kind, expires_at: null, enabled: true };
    await storage.keys.insert(toRecord({ request, team: null, secret: secrets[kind], defaults: {}, now }), null);
  }
  storeKeys(secrets, dataDir);
}

function toBudget(amount: number | null): Budget | null {
  return amount === null ? null : { amount, period: "monthly", time_zone: "UTC", raise: null };
}
