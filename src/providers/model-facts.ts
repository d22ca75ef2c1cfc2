// Facts that the models of many vendors share, for the model lists in their rows.

import type { Modality, ModelFacts } from "./provider.ts";

export type SharedFacts = Omit<ModelFacts, "id">;

export const textAndImage: readonly Modality[] = ["text", "image"];

export const allFeatures = { tools: true, jsonSchema: true, reasoning: true } satisfies SharedFacts;

/** Models that have the same facts. */
export function withFacts<Facts extends object>(
  facts: Facts,
  ids: readonly string[],
): (Facts & { readonly id: string })[] {
  return ids.map((id) => ({ id, ...facts }));
}
