// Finds the rules of a model in the row of a vendor that uses the chat format.

import { type ChatRules, findModelFacts, type ProviderRow } from "./provider.ts";

export function findChatRules(row: ProviderRow, model: string): ChatRules {
  const facts = findModelFacts(row, model);
  let found: ChatRules = facts?.reasoning === false ? { efforts: [] } : {};
  for (const { models: pattern, ...rules } of row.chat?.rules ?? [])
    if (pattern === undefined || pattern.test(model)) found = { ...found, ...rules };
  return found;
}

/** The efforts of all vendors, lowest first. `default` is one vendor's name for the model's own choice. */
const order = ["none", "minimal", "low", "medium", "default", "high", "xhigh", "max"];

/**
 * The highest level that does not exceed the requested one. A request for reasoning never becomes `none`, and `none` becomes
 * the lowest level of a model that always reasons. Null: the model takes no effort.
 */
export function findEffort(requested: string, levels: readonly string[]): string | null {
  if (levels.includes(requested)) return requested;
  const reasoning = levels.filter((level) => level !== "none");
  const rank = order.indexOf(requested);
  return reasoning.findLast((level) => order.indexOf(level) <= rank) ?? reasoning[0] ?? null;
}
