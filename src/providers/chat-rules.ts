// The rules of one model at a vendor that speaks the chat format, gathered from the vendor's row.

import { type ChatRules, findModelFacts, type ProviderRow } from "./provider.ts";

export function findChatRules(row: ProviderRow, model: string): ChatRules {
  const facts = findModelFacts(row, model);
  let found: ChatRules = facts?.reasoning === false ? { efforts: [] } : {};
  for (const { models: pattern, ...rules } of row.chat?.rules ?? [])
    if (pattern === undefined || pattern.test(model)) found = { ...found, ...rules };
  return found;
}

/** How the efforts of all vendors compare. `default` is one vendor's name for reasoning as the model does by itself. */
const order = ["none", "minimal", "low", "medium", "default", "high", "xhigh", "max"];

/**
 * The highest level that does not exceed the requested one. A request for reasoning never becomes `none`, and `none` becomes
 * the lowest level of a model that always reasons. Null: the model takes no effort.
 */
export function findEffort(asked: string, levels: readonly string[]): string | null {
  if (levels.includes(asked)) return asked;
  const reasoning = levels.filter((level) => level !== "none");
  const rank = order.indexOf(asked);
  return reasoning.findLast((level) => order.indexOf(level) <= rank) ?? reasoning[0] ?? null;
}
