/** Looks up a name that a caller or vendor chose: only own entries count, not `constructor` or `__proto__`. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
