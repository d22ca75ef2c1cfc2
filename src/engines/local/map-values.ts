/** An object with the same members and converted values. */
export function mapValues<Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  convert: (value: From, name: Name) => To,
): Record<Name, To> {
  // Object.entries loses the type of the names.
  const entries = Object.entries(record) as [Name, From][];
  return Object.fromEntries(entries.map(([name, value]) => [name, convert(value, name)])) as Record<Name, To>;
}
