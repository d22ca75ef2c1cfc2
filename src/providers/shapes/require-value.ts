/** A response without a value that the output needs makes no sense. */
export function requireValue<Value>(value: Value | null | undefined, name: string): Value {
  if (value === null || value === undefined) throw new TypeError(`there is no ${name} in the answer`);
  return value;
}
