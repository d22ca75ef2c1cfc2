// Vendors whose own format is the one that a route speaks: which of its members a task has no place for and they take all the same.

import { openaiMembers } from "./vendors/openai/members.ts";

export interface PassedMembers {
  readonly provider: string;
  /** Task → names. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

const lists: readonly PassedMembers[] = [openaiMembers];

export function listPassedMembers(provider: string, task: string): readonly string[] {
  return lists.find((list) => list.provider === provider)?.members[task] ?? [];
}
