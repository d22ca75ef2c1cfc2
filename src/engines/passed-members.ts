// Members of a route in another format than ours that a task has no member for, and that the vendor of that format accepts all the same.

import { rows } from "../providers/index.ts";

export function listPassedMembers(provider: string, task: string): readonly string[] {
  const row = rows.find(({ name }) => name === provider);
  return row?.tasks?.find((one) => one.task === task)?.passthroughMembers ?? [];
}
