/** Puts a value at a path of a JSON document. Every step but the last has to be there already, as a member of the document itself. */
export function setAt(target: object, path: readonly (string | number)[], value: unknown): void {
  let place = target as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    const inner = Object.hasOwn(place, step) ? place[step] : null;
    if (typeof inner !== "object" || inner === null) throw new TypeError(`the document has nothing at '${step}'`);
    place = inner as Record<string | number, unknown>;
  }
  const last = path.at(-1);
  if (last !== undefined) setOwn(place, last, value);
}

/** Makes a member, also where assignment would do something else: `__proto__` would change the object's prototype. */
export function setOwn(target: object, name: string | number, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  else (target as Record<string | number, unknown>)[name] = value;
}
