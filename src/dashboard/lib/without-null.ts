/** The members that have a value. Defaults of the gateway apply to members that a request leaves out, and not to those that are null. */
export function withoutNull<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}
