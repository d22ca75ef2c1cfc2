// Which columns of the table of counters are free.

import { createCounterFile, openCounterFile, sharedEntries } from "../access/counter-table.ts";

// Lets a reload raise the number of processes of a small gateway.
const minSlots = 64;

/** The table lives as long as the gateway, so reloads and restarts lose no count. It cannot grow. */
export function openSlots(path: string, needed: number) {
  const size = Math.max(minSlots, needed);
  createCounterFile(path, { entries: sharedEntries, slots: size });
  const table = openCounterFile(path);
  const taken = new Set<number>();
  return {
    path,
    size,
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
