/** Puts a value into the place that the path names; everything on the way there is there already. */
export function setAt(target: object, path: readonly (string | number)[], value: unknown): void {
  let place = target as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
  const last = path.at(-1);
  if (last !== undefined) place[last] = value;
}
