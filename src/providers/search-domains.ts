// Translates the domains of a web search: `web_search_options.filters` of a translated request has the lists that the provider's dialect
// accepts.

export type DomainList = "allowed_domains" | "blocked_domains";
export type SearchDomains = ReadonlySet<DomainList>;

const lists: readonly DomainList[] = ["allowed_domains", "blocked_domains"];

/** Calls `refuse` for each list with domains that the dialect does not accept. */
export function toSearchFilters(
  given: Readonly<Record<string, unknown>>,
  taken: SearchDomains,
  refuse: (name: string) => void,
): { filters?: Readonly<Record<string, unknown>> } {
  const filled = lists.filter((name) => Array.isArray(given[name]) && (given[name] as unknown[]).length > 0);
  for (const name of filled) if (!taken.has(name)) refuse(name);
  return filled.length === 0 ? {} : { filters: Object.fromEntries(filled.map((name) => [name, given[name]])) };
}

/** The domains of one list in a translated request; null without such a list. */
export function readSearchDomains(options: unknown, list: DomainList): readonly unknown[] | null {
  const { filters } = (options ?? {}) as { readonly filters?: Readonly<Record<string, unknown>> | null };
  const domains = filters?.[list];
  return Array.isArray(domains) ? domains : null;
}
