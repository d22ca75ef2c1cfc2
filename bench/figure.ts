// The shape of a figure, and what every figure needs to be taken.

import type { Children } from "./children.ts";
import {
  type AnswerKind,
  type Contestant,
  checkContestant,
  startNginxProxy,
  startSwitchyard,
  type Vendors,
} from "./contestants.ts";
import type { Peer } from "./peers.ts";
import { median } from "./statistics.ts";

export type Course = {
  children: Children;
  vendors: Vendors;
  projectFolder: string;
  /** The other gateways, each with the reason why it cannot be started, if so. */
  peers: readonly { peer: Peer; absence: string | undefined }[];
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

export function defineFigure(id: string, title: string, measure: Figure["measure"]): Figure {
  return { id, title, measure };
}

export type Field = { contestants: Contestant[]; absent: string[]; stop: () => Promise<void> };

/** Switchyard must start; a peer that does not is named in the notes, and the rest goes on. */
export async function startField(course: Course, kind: AnswerKind): Promise<Field> {
  const { children, vendors } = course;
  const gateway = await startSwitchyard(course, { isLimited: true });
  if (kind !== "flood") await checkContestant(gateway, kind);
  const contestants: Contestant[] = [gateway];
  const absent: string[] = [];
  const others = course.peers.map(({ peer: { name, start }, absence }) => ({ name, start, absence }));
  for (const { name, start, absence } of [{ name: "nginx", start: startNginxProxy, absence: undefined }, ...others]) {
    try {
      if (absence !== undefined) throw new Error(absence);
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

/** One load that is not counted. A peer that fails in it is left out and named in `absent`. */
export async function warmUp(field: Field, load: (contestant: Contestant) => Promise<unknown>): Promise<void> {
  for (const contestant of [...field.contestants]) await runOrLeaveOut(field, contestant, () => load(contestant));
}

/**
 * One value of each contestant per round, in turns. A peer that fails is left out and named in `absent`; a failing Switchyard fails the
 * figure.
 */
export async function takeRounds(
  course: Course,
  field: Field,
  take: (contestant: Contestant) => Promise<number>,
): Promise<Record<string, number[]>> {
  const rounds: Record<string, number[]> = {};
  for (let round = 0; round < course.rounds; round++)
    for (const contestant of [...field.contestants])
      await runOrLeaveOut(field, contestant, async () => {
        rounds[contestant.name] = [...(rounds[contestant.name] ?? []), await take(contestant)];
      });
  const remaining = new Set<string>(field.contestants.map(({ name }) => name));
  return Object.fromEntries(Object.entries(rounds).filter(([name]) => remaining.has(name)));
}

async function runOrLeaveOut(field: Field, contestant: Contestant, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (contestant.name === "Switchyard" || contestant.name === "vendor") throw error;
    field.absent.push(`${contestant.name} failed: ${firstLine(error as Error)}`);
    field.contestants = field.contestants.filter((other) => other !== contestant);
    await contestant.stop();
  }
}

export function readMedians(rounds: Record<string, number[]>): Measured["values"] {
  return Object.fromEntries(Object.entries(rounds).map(([name, values]) => [name, median(values)]));
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

export function checkMost(against: string, value: number | null, limit: number, unit: string): Check {
  return { against, value, limit, isBest: "low", ...show("≤", value, limit, unit) };
}

export function checkLeast(against: string, value: number | null, limit: number, unit: string): Check {
  return { against, value, limit, isBest: "high", ...show("≥", value, limit, unit) };
}

function show(sign: string, value: number | null, limit: number, unit: string): Pick<Check, "shown" | "target"> {
  return { shown: value === null ? "-" : `${format(value)}${unit}`, target: `${sign} ${format(limit)}${unit}` };
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
