import { dayMs } from "./time-units.ts";

export interface Daily<T> {
  get(): T;
  /** Makes a new value on the next use. */
  forget(): void;
}

/** Calls `make` on first use and again on the first use of each further day in UTC. */
export function daily<T>(make: () => T, now: () => number = Date.now): Daily<T> {
  let made: { readonly day: number; readonly value: T } | null = null;
  return {
    get() {
      const day = Math.floor(now() / dayMs);
      if (made?.day !== day) made = { day, value: make() };
      return made.value;
    },
    forget() {
      made = null;
    },
  };
}
