// The usage of several calls that make up one answer.

import type { ChatUsage } from "../contract/chat-format.ts";

/** Adds numbers member by member, also inside the details. */
export function addUsage(sum: unknown, usage: unknown): ChatUsage | null {
  if (typeof usage !== "object" || usage === null) return sum as ChatUsage | null;
  if (typeof sum !== "object" || sum === null) return usage as ChatUsage;
  const added = new Map<string, unknown>(Object.entries(sum));
  for (const [name, value] of Object.entries(usage)) {
    const before = added.get(name);
    if (typeof value === "number") added.set(name, (typeof before === "number" ? before : 0) + value);
    else if (Array.isArray(value)) added.set(name, [...(Array.isArray(before) ? before : []), ...value]);
    else if (typeof value === "object" && value !== null) added.set(name, addUsage(before ?? null, value));
  }
  return Object.fromEntries(added) as unknown as ChatUsage;
}
