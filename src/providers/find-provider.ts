// Finds a provider by its name or one of its aliases.

import type { Provider } from "./configure.ts";
import { modelNamesOf } from "./provider.ts";

/** Of several providers with the same name, the first configured one, or the first. */
export function findProvider(providers: ReadonlyMap<string, Provider>, name: string): Provider | undefined {
  const found = providers.get(name);
  if (found?.configured) return found;
  let first = found;
  for (const provider of providers.values()) {
    if (!isNamed(provider, name)) continue;
    if (provider.configured) return provider;
    first ??= provider;
  }
  return first;
}

export function isNamed({ row }: Pick<Provider, "row">, name: string): boolean {
  return modelNamesOf(row).includes(name);
}

/** Every name that a model may begin with. */
export function listProviderNames(providers: Iterable<Pick<Provider, "row">>): string[] {
  return [...new Set([...providers].flatMap(({ row }) => modelNamesOf(row)))];
}
