/** Sets the value at a path of a JSON document. All steps but the last must exist as own members. */
export function setAt(target: object, path: readonly (string | number)[], value: unknown): void {
  let parent = target as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) {
    const inner = Object.hasOwn(parent, step) ? parent[step] : null;
    if (typeof inner !== "object" || inner === null) throw new TypeError(`the document has nothing at '${step}'`);
    parent = inner as Record<string | number, unknown>;
  }
  const last = path.at(-1);
  if (last !== undefined) setOwn(parent, last, value);
}

/** Sets an own member, also one called `__proto__`, whose assignment would change the object's prototype. */
export function setOwn(target: object, name: string | number, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  else (target as Record<string | number, unknown>)[name] = value;
}
