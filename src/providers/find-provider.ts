// The provider that a name means: its own, or another name that its row states, such as its company's.

import type { Provider } from "./configure.ts";

export function findProvider(providers: ReadonlyMap<string, Provider>, name: string): Provider | undefined {
  const found = providers.get(name);
  if (found !== undefined) return found;
  let first: Provider | undefined;
  for (const provider of providers.values()) {
    if (!isAlsoNamed(provider, name)) continue;
    if (provider.configured) return provider;
    first ??= provider;
  }
  return first;
}

export function isAlsoNamed({ row }: Pick<Provider, "row">, name: string): boolean {
  return row.alsoNamed?.includes(name) === true;
}

/** Every name that a model may begin with. */
export function listProviderNames(providers: Iterable<Pick<Provider, "row">>): string[] {
  return [...new Set([...providers].flatMap(({ row }) => [row.name, ...(row.alsoNamed ?? [])]))];
}
