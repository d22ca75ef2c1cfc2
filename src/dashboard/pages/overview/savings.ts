// What reading from caches of providers saved, at the prices of today.

import type { ModelList, UsageRow } from "../../api/types.ts";

/** The providers whose prices the sum needs. The ledger may name others: one that was removed has no prices. */
export function listCachingProviders(rows: readonly UsageRow[], known: readonly string[]): readonly string[] {
  const named = rows.flatMap(({ provider, cached_tokens }) => (provider && cached_tokens > 0 ? [provider] : []));
  return known.filter((name) => named.includes(name));
}

/** USD. Null while no model that read from a cache has both prices. */
export function sumSavings(rows: readonly UsageRow[], models: ModelList["data"]): number | null {
  const pricing = new Map(models.map((model) => [model.id, model.pricing]));
  let saved: number | null = null;
  for (const { provider, model, cached_tokens } of rows) {
    const price = pricing.get(`${provider}/${model}`);
    const full = price?.input_cost_per_token ?? null;
    const reduced = price?.cache_read_input_token_cost ?? null;
    if (cached_tokens === 0 || full === null || reduced === null) continue;
    saved = (saved ?? 0) + cached_tokens * (full - reduced);
  }
  return saved;
}
