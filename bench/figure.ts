// The shape of a figure, and what every figure needs to be taken.

import type { Children } from "./children.ts";
import {
  type AnswerKind,
  type Contestant,
  checkContestant,
  startNginxProxy,
  startPortkey,
  startSwitchyard,
  type Vendors,
} from "./contestants.ts";
import { readTreeCpuMs } from "./process-tree.ts";
import { median } from "./statistics.ts";

export type Course = {
  children: Children;
  vendors: Vendors;
  projectFolder: string;
  /** Why Portkey cannot be started, if so. */
  portkeyAbsence: string | undefined;
  /** Rounds of A B C …; the median of the rounds is the figure. */
  rounds: number;
  /** Length of one load in one round. */
  loadMs: number;
  warmUpMs: number;
};

/** One target: a number, its limit, and which side of the limit is good. `null` = could not be taken here. */
export type Check = {
  against: string;
  value: number | null;
  limit: number;
  isBest: "low" | "high";
  shown: string;
  target: string;
};

export type Measured = {
  /** What each contestant took, in the unit of the figure. */
  values: Partial<Record<Contestant["name"], number>>;
  unit: string;
  checks: Check[];
  notes: string[];
  /** The raw rounds, for --json. */
  rounds: Record<string, number[]>;
};

export type Figure = { id: string; title: string; measure: (course: Course) => Promise<Measured> };

export type Field = { contestants: Contestant[]; absent: string[]; stop: () => Promise<void> };

/** Switchyard must start; a peer that does not is named in the notes, and the rest goes on. */
export async function startField(course: Course, kind: AnswerKind): Promise<Field> {
  const { children, vendors, projectFolder, portkeyAbsence } = course;
  const gateway = await startSwitchyard(children, { projectFolder, vendors, workers: 1, isLimited: true });
  if (kind !== "flood") await checkContestant(gateway, kind);
  const contestants: Contestant[] = [gateway];
  const absent: string[] = [];
  const startPeer = portkeyAbsence === undefined ? startPortkey : () => Promise.reject(new Error(portkeyAbsence));
  for (const [name, start] of [["nginx", startNginxProxy] as const, ["Portkey", startPeer] as const]) {
    try {
      const peer = await start(children, vendors);
      if (kind !== "flood") await checkContestant(peer, kind);
      contestants.push(peer);
    } catch (error) {
      absent.push(`${name} not available: ${firstLine(error as Error)}`);
    }
  }
  const stop = async () => {
    await Promise.all(contestants.map((contestant) => contestant.stop()));
  };
  return { contestants, absent, stop };
}

/**
 * One value of each contestant per round, in turns. A peer that fails on the way is out, and named in `absent`;
 * a failing Switchyard fails the figure.
 */
export async function takeRounds(
  course: Course,
  field: Field,
  take: (contestant: Contestant) => Promise<number>,
): Promise<Record<string, number[]>> {
  const rounds: Record<string, number[]> = {};
  let remaining = field.contestants;
  for (let round = 0; round < course.rounds; round++) {
    for (const contestant of remaining) {
      try {
        rounds[contestant.name] = [...(rounds[contestant.name] ?? []), await take(contestant)];
      } catch (error) {
        if (contestant.name === "Switchyard" || contestant.name === "vendor") throw error;
        field.absent.push(`${contestant.name} gave up: ${firstLine(error as Error)}`);
        delete rounds[contestant.name];
        remaining = remaining.filter((other) => other !== contestant);
      }
    }
  }
  return rounds;
}

export function readMedians(rounds: Record<string, number[]>): Measured["values"] {
  return Object.fromEntries(Object.entries(rounds).map(([name, values]) => [name, median(values)]));
}

/** CPU time of a contestant over some work, with the time after it in which batched work (ledger, logs) is done. */
export async function meterCpuMs<Result>(
  contestant: Contestant,
  work: () => Promise<Result>,
): Promise<{ cpuMs: number; result: Result }> {
  const before = readTreeCpuMs(contestant.pid);
  const result = await work();
  await Bun.sleep(500);
  return { cpuMs: readTreeCpuMs(contestant.pid) - before, result };
}

/** At most `limit` times what another contestant took. */
export function checkRatio(of: number | undefined, to: number | undefined, against: string, limit: number): Check {
  const value = of === undefined || to === undefined ? null : of / to;
  const form = (ratio: number) => (limit < 1 ? `1/${format(1 / ratio)}` : `${format(ratio)} ×`);
  return {
    against,
    value,
    limit,
    isBest: "low",
    shown: value === null ? "-" : form(value),
    target: `≤ ${form(limit)}`,
  };
}

export function isMet(check: Check): boolean | null {
  if (check.value === null || Number.isNaN(check.value)) return null;
  return check.isBest === "low" ? check.value <= check.limit : check.value >= check.limit;
}

export function format(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function firstLine(error: Error): string {
  return (error.message.split("\n")[0] ?? "").slice(0, 200);
}
