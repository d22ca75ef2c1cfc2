// Which columns of the table of counters are free.

import { createCounterFile, openCounterFile, sharedEntries } from "../access/counter-table.ts";

// Processes of several configurations run at the same time, as long as older ones drain.
const minSlots = 32;
const slotsPerProcess = 4;

/** The table lives as long as the gateway, so reloads and restarts lose no count. */
export function openSlots(path: string, processes: number) {
  const size = Math.max(minSlots, slotsPerProcess * processes);
  createCounterFile(path, { entries: sharedEntries, slots: size });
  const table = openCounterFile(path);
  const taken = new Set<number>();
  return {
    path,
    take(): number | null {
      const slot = Array.from({ length: size }, (_, index) => index).find((index) => !taken.has(index));
      if (slot === undefined) return null;
      taken.add(slot);
      table.useSlot(slot);
      return slot;
    },
    /** Call it after the process has ended: clears its counts of running requests. */
    release(slot: number): void {
      table.clearSlot(slot);
      taken.delete(slot);
    },
  };
}
