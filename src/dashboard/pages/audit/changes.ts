// What a record of the audit log says about a change, member by member.

export interface ChangedMember {
  /** Members of nested objects are named with dots. */
  readonly member: string;
  /** Undefined: it did not exist. */
  readonly before: unknown;
  readonly after: unknown;
}

type State = Readonly<Record<string, unknown>> | null;

export function listChanges(before: State, after: State): ChangedMember[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.flatMap((name) => compare(name, readOwn(before, name), readOwn(after, name)));
}

function compare(member: string, before: unknown, after: unknown): ChangedMember[] {
  if (isPlainObject(before) && isPlainObject(after))
    return listChanges(before, after).map((change) => ({ ...change, member: `${member}.${change.member}` }));
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ member, before, after }];
}

function readOwn(state: State, name: string): unknown {
  return state !== null && Object.hasOwn(state, name) ? state[name] : undefined;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as people read it. */
export function showValue(value: unknown): string {
  if (value === undefined) return "";
  if (value === null) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}
