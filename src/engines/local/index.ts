// The provider `local`: engines that run on this machine without an account, in the processes of a pool.

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { TaskName } from "../../contract/tasks.ts";
import { freeCharge } from "../../lib/charge.ts";
import type { Log } from "../../log.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { Engine } from "../engine.ts";
import type { Confinement } from "./confinement.ts";
import { localEngines } from "./list.ts";
import type { Lane, LocalEngine, TimeLimit, TimeLimitKind } from "./local-engine.ts";
import { createPool, type LaneState, type Pool, type PoolOptions } from "./pool.ts";
import { findPackage } from "./resolve-package.ts";
import { findTool } from "./system-tools.ts";

export interface LocalPoolOptions
  extends Partial<
    Pick<PoolOptions, "maxWaiting" | "maxWaitingPerOwner" | "idleMs" | "maxMemoryBytes" | "niceness" | "deniedPaths">
  > {
  /** The number of heavy jobs that run at the same time; half as many light ones. Default: number of cores - 1. */
  readonly concurrency?: number;
  readonly log: Log;
}

/** The settings of the gateway that concern the pool. */
interface PoolSettings {
  readonly localWorkers: number | null;
  readonly localMaxWaiting: number;
  readonly localMaxWaitingPerOwner: number;
  readonly localIdleMs: number;
  readonly localMemoryMb: number;
  readonly localNiceness: number;
  readonly localUnconfined: boolean;
  readonly dataDir: string;
}

type TimeLimitsMs = Readonly<Record<TimeLimitKind, number>>;

export interface LocalEngines {
  readonly engines: readonly Engine[];
  /** Engines that other engines run, and that are no tasks of the API. */
  readonly internalEngines: readonly Engine[];
  /** For the metrics. */
  state(): Readonly<Record<Lane, LaneState>>;
  confinement(): Confinement | null;
  close(): Promise<void>;
}

const minute = 60_000;
// Ordinary jobs need much less.
const defaultMemoryBytes = 1_536 * 1_048_576;
const defaultLightCharacters = 20_000;
const defaultTimeLimits: Readonly<Record<TimeLimitKind, TimeLimit>> = {
  text: { milliseconds: minute / 2, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" },
  media: { milliseconds: 2 * minute, setting: "SWITCHYARD_LOCAL_MEDIA_TIMEOUT_MS" },
  job: { milliseconds: 30 * minute, setting: "SWITCHYARD_LOCAL_JOB_TIMEOUT_MS" },
};

/** Engines with a pool of their own. */
export function createLocalEngines(options: LocalPoolOptions & { readonly timeLimitsMs?: TimeLimitsMs }): LocalEngines {
  const pool = createLocalPool(options);
  const { state, confinement, close } = pool;
  return { ...toEngines(pool, options.timeLimitsMs), state, confinement, close };
}

export function createLocalPool(options: LocalPoolOptions): Pool {
  const concurrency = options.concurrency ?? Math.max(1, availableParallelism() - 1);
  return createPool({
    listModule: new URL("./list.ts", import.meta.url).href,
    workers: { heavy: concurrency, light: Math.max(1, Math.floor(concurrency / 2)) },
    maxWaiting: options.maxWaiting ?? 64,
    maxWaitingPerOwner: options.maxWaitingPerOwner ?? 16,
    idleMs: options.idleMs ?? 5 * minute,
    maxMemoryBytes: options.maxMemoryBytes ?? defaultMemoryBytes,
    niceness: options.niceness ?? 0,
    deniedPaths: options.deniedPaths === undefined ? [] : options.deniedPaths,
    log: options.log,
  });
}

export function toPoolOptions(settings: PoolSettings, log: Log): LocalPoolOptions {
  return {
    ...(settings.localWorkers !== null && { concurrency: settings.localWorkers }),
    maxWaiting: settings.localMaxWaiting,
    maxWaitingPerOwner: settings.localMaxWaitingPerOwner,
    idleMs: settings.localIdleMs,
    maxMemoryBytes: settings.localMemoryMb * 1_048_576,
    niceness: settings.localNiceness,
    deniedPaths: settings.localUnconfined ? null : [resolve(settings.dataDir)],
    log,
  };
}

export function toEngines(
  pool: Pick<Pool, "run">,
  timeLimitsMs?: TimeLimitsMs,
): Pick<LocalEngines, "engines" | "internalEngines"> {
  const toEngine = (local: LocalEngine): Engine => {
    const { task, models = [] } = local;
    const [defaultModel] = models;
    const timeLimit = timeLimitOf(local, timeLimitsMs);
    return {
      provider: "local",
      // Only tests have engines for tasks that are not in the catalogue.
      task: task as TaskName,
      models,
      ...(defaultModel !== undefined && { defaultModel }),
      acceptsAnyModel: false,
      isFree: true,
      ...(local.unsupported !== undefined && { unsupportedMembers: local.unsupported }),
      unavailableReason: describeMissingPackages(local) ?? describeMissingTools(local),
      isIdempotent: true,
      async run(call) {
        // The gateway chose this engine, so the worker must not choose another one of the same task.
        const model = call.model ?? defaultModel ?? null;
        const answer = await pool.run({ ...call, model, task, lane: laneOf(local, call.input), timeLimit });
        return { ...answer, charge: freeCharge };
      },
    };
  };
  return {
    engines: localEngines.filter(({ isInternal }) => isInternal !== true).map(toEngine),
    internalEngines: localEngines.filter(({ isInternal }) => isInternal === true).map(toEngine),
  };
}

function laneOf({ lane = "heavy", lightCharacters = defaultLightCharacters }: LocalEngine, input: JsonObject): Lane {
  const { text, texts } = input;
  const all: readonly unknown[] = Array.isArray(texts) ? texts : [text];
  const length = all.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 0), 0);
  return length > lightCharacters ? "heavy" : lane;
}

function timeLimitOf({ task, timeLimit }: LocalEngine, limitsMs: TimeLimitsMs | undefined): TimeLimit {
  const kind = timeLimit ?? (/^(?:text|translation)\//.test(task) ? "text" : "media");
  const { milliseconds, setting } = defaultTimeLimits[kind];
  return { milliseconds: limitsMs?.[kind] ?? milliseconds, setting };
}

function describeMissingPackages({ task, packages, group = "core" }: LocalEngine): string | null {
  const missing = packages.filter((name) => findPackage(name) === null);
  if (missing.length === 0) return null;
  const command = group === "core" ? "npm ci" : `npx switchyard-gateway engines add ${group}`;
  return `The local engine for ${task} needs ${missing.join(", ")}. Run \`${command}\` and restart the gateway.`;
}

export function describeMissingTools(
  { task, tools = [] }: Pick<LocalEngine, "task" | "tools">,
  find: (name: string) => string | null = findTool,
): string | null {
  const missing = tools.filter((name) => find(name) === null);
  if (missing.length === 0) return null;
  return `The local engine for ${task} needs ${missing.join(" and ")} in /usr/bin or /usr/local/bin. Install ffmpeg (Debian and Ubuntu: \`apt-get install ffmpeg\`) and restart the gateway.`;
}
