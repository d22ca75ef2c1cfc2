// The engines that work in this house, without any account: provider `local`. Each answer comes from a worker of the pool.

import { availableParallelism } from "node:os";
import type { Log } from "../../log.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { Engine } from "../engine.ts";
import { localEngines } from "./list.ts";
import type { Lane, LocalEngine } from "./local-engine.ts";
import { createPool, type LaneState } from "./pool.ts";
import { findPackage } from "./resolve-package.ts";

export interface LocalEngineOptions {
  /** The most heavy jobs at once; half as many light ones. Cores - 1 when absent. */
  readonly concurrency?: number;
  /** Jobs that wait per lane before the next is refused. */
  readonly maxWaiting?: number;
  readonly idleMs?: number;
  readonly maxMemoryBytes?: number;
  readonly log: Log;
}

export interface LocalEngines {
  readonly engines: readonly Engine[];
  /** For the metrics. */
  state(): Readonly<Record<Lane, LaneState>>;
  close(): Promise<void>;
}

const free = { cost: 0, reason: null };
const minute = 60_000;
// Ordinary jobs stay far below; what is above it is an input that no engine of ours should see.
const defaultMemoryBytes = 1_536 * 1_048_576;
const usualLightCharacters = 20_000;

export function createLocalEngines(options: LocalEngineOptions): LocalEngines {
  const concurrency = options.concurrency ?? Math.max(1, availableParallelism() - 1);
  const pool = createPool({
    listModule: new URL("./list.ts", import.meta.url).href,
    workers: { heavy: concurrency, light: Math.max(1, Math.floor(concurrency / 2)) },
    maxWaiting: options.maxWaiting ?? 64,
    idleMs: options.idleMs ?? 5 * minute,
    maxMemoryBytes: options.maxMemoryBytes ?? defaultMemoryBytes,
    log: options.log,
  });

  function toEngine(local: LocalEngine): Engine {
    return {
      provider: "local",
      task: local.task,
      models: local.models ?? [],
      takesOtherModels: false,
      missing: whatIsMissing(local),
      isRepeatable: true,
      async run({ model, input, files, signal, deadline, tellProgress }) {
        const lane = laneOf(local, input);
        const { task } = local;
        const answer = await pool.run({ task, lane, model, input, files, signal, deadline, tellProgress });
        return { ...answer, charge: free };
      },
    };
  }

  return { engines: localEngines.map(toEngine), state: pool.state, close: pool.close };
}

function laneOf({ lane = "heavy", lightCharacters = usualLightCharacters }: LocalEngine, input: JsonObject): Lane {
  const { text, texts } = input;
  const all: readonly unknown[] = Array.isArray(texts) ? texts : [text];
  const length = all.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 0), 0);
  return length > lightCharacters ? "heavy" : lane;
}

function whatIsMissing({ task, packages, group = "core" }: LocalEngine): string | null {
  const missing = packages.filter((name) => findPackage(name) === null);
  if (missing.length === 0) return null;
  const command = group === "core" ? "npm ci" : `npx switchyard engines add ${group}`;
  return `The local engine for ${task} needs ${missing.join(", ")}. Run \`${command}\` and restart the gateway.`;
}
