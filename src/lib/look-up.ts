/** Reads a table by a name from outside. Every object answers to `constructor` and `__proto__`; a table has only its own entries. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
