// Sliding windows in the shared memory. A window slides in six steps: it is the sum of the current step, the five steps before, and the part of
// the sixth that is not over yet. Each step is counted in a cell of its own.

/** The memory, as words of 64 and of 32 bits. */
interface Cells {
  readonly words: BigUint64Array;
  readonly numbers: Int32Array;
}

/** `perSecond` and `perMinute` count requests, `tokens` counts tokens per minute. */
export type WindowKind = "perSecond" | "perMinute" | "tokens";

export const windowMs: Readonly<Record<WindowKind, number>> = {
  perSecond: 1_000,
  perMinute: 60_000,
  tokens: 60_000,
};
const stepsPerWindow = 6;
/** Step n is counted in cell n mod 8; seven of them belong to the window. */
export const cellsPerWindow = 8;
const cellMask = cellsPerWindow - 1;
/** The numbers of steps have 31 bits: those of seconds begin again every eleven years. */
const stepNumbers = 2 ** 31;
export const maxCount = 0xffff_ffff;

/** What a window holds. */
export interface WindowState {
  /** The number of the current step. */
  readonly step: number;
  /** How much of the current step is over, from 0 to 1. */
  readonly elapsed: number;
  /** Requests or tokens of the current step, and of the six before it. */
  readonly counts: readonly number[];
}

export interface WindowSummary {
  /** What counts towards a limit. */
  readonly sum: number;
  /** How long it takes until the window is empty. */
  readonly resetMs: number;
}

export type Taken =
  /** The step in which the amount was counted, for `giveBack`. */
  | { readonly step: number }
  /** The limit is reached; `waitMs`: until the amount fits, if nothing else is counted. */
  | { readonly waitMs: number }
  /** The limit is not reached, but the store has granted less. */
  | "shareUsedUp";

/** An amount in a step of a window. */
export interface StepAmount {
  readonly step: number;
  readonly amount: number;
}

/** A time as a number of steps. */
export function toSteps(kind: WindowKind, now: number): number {
  return ((now * stepsPerWindow) / windowMs[kind]) % stepNumbers;
}

/** How long a step of a window takes. */
export function stepMs(kind: WindowKind): number {
  return windowMs[kind] / stepsPerWindow;
}

/** The cell of a step of the window that begins at `at`. */
export function cellAt(at: number, step: number): number {
  return at + (step & cellMask);
}

interface StepTime {
  readonly step: number;
  readonly elapsed: number;
}

/** The sum of the six steps before; "open" when one of them is not sealed, "later" when a cell belongs to a later step. */
export function sumSealed({ numbers }: Cells, at: number, { step, elapsed }: StepTime): number | "open" | "later" {
  let sum = 0;
  for (let age = 1; age <= stepsPerWindow; age++) {
    const number = step - age;
    const low = cellAt(at, number) * 2;
    // The halves of a sealed cell: its count can only decrease, and its number changes when the cell is used again.
    const high = Atomics.load(numbers, low + 1) >>> 0;
    if (high !== number * 2 + 1) return high >>> 1 > step ? "later" : "open";
    const count = Atomics.load(numbers, low) >>> 0;
    if (Atomics.load(numbers, low + 1) >>> 0 !== high) return "later";
    sum += age < stepsPerWindow ? count : weigh(count, elapsed);
  }
  return sum;
}

/** Seals the six steps before and returns their sum; null when another process was faster. */
export function sealBefore({ words }: Cells, at: number, { step, elapsed }: StepTime): number | null {
  let sum = 0;
  for (let age = 1; age <= stepsPerWindow; age++) {
    const number = step - age;
    const cell = cellAt(at, number);
    const value = Atomics.load(words, cell);
    const count = stepOf(value) === number ? countOf(value) : 0;
    const sealed = pack(number, true, count);
    if (value !== sealed && Atomics.compareExchange(words, cell, value, sealed) !== value) return null;
    sum += age < stepsPerWindow ? count : weigh(count, elapsed);
  }
  return sum;
}

export function readWindow(table: Cells, at: number, { step, elapsed }: StepTime): WindowState {
  const counts: number[] = [];
  for (let age = 0; age <= stepsPerWindow; age++) counts.push(countIn(table, cellAt(at, step - age), step - age));
  return { step, elapsed, counts };
}

/** `sumOf` and `resetMs` of a window that is not read otherwise. */
export function summarizeWindow(
  table: Cells,
  at: number,
  kind: WindowKind,
  { step, elapsed }: StepTime,
): WindowSummary {
  let sum = 0;
  let newest = -1;
  for (let age = 0; age <= stepsPerWindow; age++) {
    const count = countIn(table, cellAt(at, step - age), step - age);
    if (count === 0) continue;
    if (newest < 0) newest = age;
    sum += age < stepsPerWindow ? count : weigh(count, elapsed);
  }
  return { sum, resetMs: toResetMs(newest, elapsed, kind) };
}

/** What counts towards a limit. */
export function sumOf({ counts, elapsed }: WindowState): number {
  let sum = weigh(counts[stepsPerWindow] ?? 0, elapsed);
  for (let age = 0; age < stepsPerWindow; age++) sum += counts[age] ?? 0;
  return sum;
}

/** How much of the oldest step still counts. Rounded up, so that nothing passes too early. */
function weigh(count: number, elapsed: number): number {
  return count === 0 ? 0 : Math.ceil(count * (1 - elapsed));
}

/** How long it takes until the amount fits, if nothing else is counted. Infinite for an amount above the limit. */
export function waitFor(
  { counts, elapsed }: WindowState,
  { kind, limit, amount }: { readonly kind: WindowKind; readonly limit: number; readonly amount: number },
): number {
  const room = limit - amount;
  if (room < 0) return Number.POSITIVE_INFINITY;
  let sum = counts.reduce((total, count) => total + count, 0);
  // In each step, the oldest one fades away.
  for (let steps = 0; steps <= stepsPerWindow; steps++) {
    const oldest = counts[stepsPerWindow - steps] ?? 0;
    sum -= oldest;
    if (sum > room) continue;
    const faded = oldest <= room - sum ? 0 : 1 - (room - sum) / oldest;
    return Math.max(0, Math.ceil(((steps + faded - elapsed) * windowMs[kind]) / stepsPerWindow));
  }
  return windowMs[kind];
}

/** How long it takes until the window is empty. */
export function resetMs({ counts, elapsed }: WindowState, kind: WindowKind): number {
  const newest = counts.findIndex((count) => count > 0);
  return toResetMs(newest, elapsed, kind);
}

/** `newest`: the age of the newest step with a count; -1: no step has one. */
function toResetMs(newest: number, elapsed: number, kind: WindowKind): number {
  return newest < 0 ? 0 : ((stepsPerWindow + 1 - newest - elapsed) * windowMs[kind]) / stepsPerWindow;
}

/** Removes an amount from a step, unless its cell counts another one. */
export function subtract(
  { words, numbers }: Cells,
  cell: number,
  { step, amount }: StepAmount,
  packer: CellPacker,
): void {
  for (;;) {
    // The halves may be those of two moments; then the exchange fails.
    const high = Atomics.load(numbers, cell * 2 + 1) >>> 0;
    const count = Atomics.load(numbers, cell * 2) >>> 0;
    if (high >>> 1 !== step) return;
    const value = packer.pack(high, count);
    const next = packer.pack(high, Math.max(0, count - amount));
    if (Atomics.compareExchange(words, cell, value, next) === value) return;
  }
}

/** The count of a cell that belongs to this step, else 0. */
export function countIn({ numbers }: Cells, cell: number, step: number): number {
  const low = cell * 2;
  const high = Atomics.load(numbers, low + 1) >>> 0;
  if (high >>> 1 !== step) return 0;
  const count = Atomics.load(numbers, low) >>> 0;
  // The cell may have been used again in between.
  return Atomics.load(numbers, low + 1) >>> 1 === step ? count : 0;
}

/** A cell: 31 bits for the number of the step, one for the seal, 32 for the count. */
export function pack(step: number, sealed: boolean, count: number): bigint {
  return (BigInt(sealed ? step * 2 + 1 : step * 2) << 32n) | BigInt(count);
}

/** As `pack`, without the intermediate values. */
export class CellPacker {
  readonly #halves = new Uint32Array(2);
  readonly #whole = new BigUint64Array(this.#halves.buffer);

  /** `high`: the number of the step and the seal, as in the cell. */
  pack(high: number, count: number): bigint {
    this.#halves[0] = count;
    this.#halves[1] = high;
    return this.#whole[0] as bigint;
  }
}

export function stepOf(value: bigint): number {
  return Number(value >> 33n);
}

export function countOf(value: bigint): number {
  return Number(value & 0xffff_ffffn);
}
