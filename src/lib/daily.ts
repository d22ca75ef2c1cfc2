const dayMs = 86_400_000;

/** Calls `make` on first use and again on the first use of each further day in UTC. */
export function daily<T>(make: () => T, now: () => number = Date.now): () => T {
  let made: { readonly day: number; readonly value: T } | null = null;
  return () => {
    const day = Math.floor(now() / dayMs);
    if (made?.day !== day) made = { day, value: make() };
    return made.value;
  };
}
