// The features of a model, by the generation in its name, and the differences between the vendor's two services.

import type { SearchDomains } from "../../search-domains.ts";

export interface ModelTraits {
  /** Generation 3 and later: calls need signatures and have ids, and tools, search and schemas can be combined. */
  readonly isGeneration3: boolean;
  /** Null: thinking cannot be configured. */
  readonly thinking: Thinking | null;
  /** False: the model ignores temperature and the like, and refuses a conversation that ends with its own message. */
  readonly canSample: boolean;
  /** False: the model may refuse penalties. */
  readonly takesPenalties: boolean;
  readonly hasSystemInstruction: boolean;
}

export type Thinking =
  | { readonly kind: "level"; readonly lowest: "MINIMAL" | "LOW" }
  /** Tokens. `canStop`: a budget of 0 switches thinking off. */
  | { readonly kind: "budget"; readonly min: number; readonly max: number; readonly canStop: boolean };

// The models whose pages name MINIMAL as a level. The others refuse it, and LOW is their lowest level.
const thinksMinimally = /^gemini-3(?:-flash|\.1-flash-lite|\.5-flash|\.6-flash)/;
// An alias without a number (gemini-flash-latest) means a model of generation 3 or later, not always the newest.
const generationOfAliases = 300;

export function readTraits(modelName: string): ModelTraits {
  const model = modelName.slice(modelName.lastIndexOf("/") + 1);
  const generation = generationOf(model);
  const canSample = generation < 306 && !model.startsWith("gemini-3.5-flash-lite");
  return {
    isGeneration3: generation >= 300,
    thinking: thinkingOf(model, generation),
    canSample,
    takesPenalties: canSample && !isAlias(model),
    hasSystemInstruction: !/^gemma-[123]/.test(model),
  };
}

/** 205 for 2.5; 0 for models other than Gemini. */
function generationOf(model: string): number {
  const found = /^gemini-(\d+)(?:\.(\d+))?/.exec(model);
  if (found === null) return isAlias(model) ? generationOfAliases : 0;
  return Number(found[1]) * 100 + Number(found[2] ?? 0);
}

function isAlias(model: string): boolean {
  return /^gemini-(?!\d)/.test(model);
}

function thinkingOf(model: string, generation: number): Thinking | null {
  if (generation >= 300) return { kind: "level", lowest: thinksMinimally.test(model) ? "MINIMAL" : "LOW" };
  if (generation < 205 || /image|tts/.test(model)) return null;
  if (model.startsWith("gemini-2.5-pro")) return { kind: "budget", min: 128, max: 32_768, canStop: false };
  const min = model.startsWith("gemini-2.5-flash-lite") ? 512 : 1;
  return { kind: "budget", min, max: 24_576, canStop: true };
}

/** Differences between the developer API (gemini) and the cloud platform (vertexai). */
export interface Platform {
  /** Whether calls and their results have ids; otherwise results are matched by name and order. */
  hasCallIds(traits: ModelTraits): boolean;
  /** Whether a request with functions and tools of the vendor must ask for the calls of the latter. */
  readonly asksForServerTools: boolean;
  readonly hasServiceTier: boolean;
  readonly hasLabels: boolean;
  /** Whether a request to count tokens wraps the request to be counted. */
  readonly wrapsCountRequest: boolean;
  readonly searchDomains: SearchDomains;
}

export const developerApi: Platform = {
  hasCallIds: () => true,
  asksForServerTools: true,
  hasServiceTier: true,
  hasLabels: false,
  wrapsCountRequest: true,
  // "This field is not supported in Gemini API": googleapis.github.io, GoogleSearch.excludeDomains.
  searchDomains: new Set(),
};

export const cloudPlatform: Platform = {
  hasCallIds: (traits) => traits.isGeneration3,
  asksForServerTools: false,
  hasServiceTier: false,
  hasLabels: true,
  wrapsCountRequest: false,
  searchDomains: new Set(["blocked_domains"]),
};
