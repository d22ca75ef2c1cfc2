// The spelling of a model by which its calls are sent and counted, where a vendor knows it under several.

import { features } from "../contract/tasks.ts";
import type { Dialect } from "./dialect.ts";
import { modelNamesOf, type ProviderRow } from "./provider.ts";

const featureNames: ReadonlySet<string> = new Set(features.map(({ name }) => name));

interface NamedProvider {
  readonly row: ProviderRow;
  readonly dialect: Dialect | null;
}

export function spellModel({ dialect }: Pick<NamedProvider, "dialect">, model: string): string {
  return dialect?.toModelName?.(model) ?? model;
}

/** For `<provider>/<model>`, the name of a task with provider and model, and patterns of both. The name of the provider stays. */
export function spellName(providers: Iterable<NamedProvider>, name: string): string {
  const parts = name.split("/");
  // The name of a task begins with its feature and subfeature: `text/summarize/gemini/*`.
  const providerIndex = featureNames.has(parts[0] ?? "") ? 2 : 0;
  const [providerName = "", ...model] = parts.slice(providerIndex);
  if (model.length === 0) return name;
  const provider = [...providers].find(({ row }) => modelNamesOf(row).includes(providerName));
  if (provider === undefined) return name;
  return [...parts.slice(0, providerIndex + 1), spellModel(provider, model.join("/"))].join("/");
}
