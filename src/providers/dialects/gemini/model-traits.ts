// What follows from a model's name: the vendor changes what a request may hold with the generation of the model.

export interface ModelTraits {
  /** From generation 3 on: signatures of thoughts are demanded, calls have ids, and tools, search and schemas combine. */
  readonly isGeneration3: boolean;
  /** How thinking is steered; null: it cannot be. */
  readonly thinking: Thinking | null;
  /** False: temperature and the like are ignored, and a conversation that ends with the model is refused. */
  readonly canSample: boolean;
  /** False: penalties are refused, or may be. */
  readonly takesPenalties: boolean;
  readonly hasSystemInstruction: boolean;
}

export type Thinking =
  | { readonly kind: "level"; readonly least: "MINIMAL" | "LOW" }
  /** Tokens. `canStop`: a budget of 0 switches thinking off. */
  | { readonly kind: "budget"; readonly least: number; readonly most: number; readonly canStop: boolean };

// The models whose pages name MINIMAL as a level; LOW is the least of all others, which refuse it.
const thinksMinimally = /^gemini-3(?:-flash|\.1-flash-lite|\.5-flash|\.6-flash)/;
// An alias without a number (gemini-flash-latest) stands for some model of generation 3 or later, and not always for the newest.
const ofAliases = 300;

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

/** 205 for 2.5; 0 for models that are no Gemini. */
function generationOf(model: string): number {
  const found = /^gemini-(\d+)(?:\.(\d+))?/.exec(model);
  if (found === null) return isAlias(model) ? ofAliases : 0;
  return Number(found[1]) * 100 + Number(found[2] ?? 0);
}

function isAlias(model: string): boolean {
  return /^gemini-(?!\d)/.test(model);
}

function thinkingOf(model: string, generation: number): Thinking | null {
  if (generation >= 300) return { kind: "level", least: thinksMinimally.test(model) ? "MINIMAL" : "LOW" };
  if (generation < 205 || /image|tts/.test(model)) return null;
  if (model.startsWith("gemini-2.5-pro")) return { kind: "budget", least: 128, most: 32_768, canStop: false };
  const least = model.startsWith("gemini-2.5-flash-lite") ? 512 : 1;
  return { kind: "budget", least, most: 24_576, canStop: true };
}
