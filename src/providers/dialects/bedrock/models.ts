// The features of the models behind Converse, by their maker. The format is the same for all, but the service answers with a 400 to a
// feature that the model lacks. From the vendor's pages on structured output, prompt caching, tool use and reasoning, and its model cards.

import { lookUp } from "../../../lib/look-up.ts";
import { findGeneration, type Generation } from "../anthropic/generation.ts";

export interface ModelTraits {
  /** False when the id does not contain the maker. */
  readonly isKnown: boolean;
  /** For Claude, whose generations have different rules. */
  readonly generation: Generation | null;
  /** The member of `additionalModelRequestFields` for an effort, and its levels. Null: the model has no effort. */
  readonly effort: EffortMember | null;
  /** Whether `temperature`, `topP` and `topK` may be sent. */
  readonly takesSampling: boolean;
  /** The position of `top_k` in `additionalModelRequestFields`. */
  readonly topK: "flat" | "nested" | "none";
  /** `any`: the request can require a call, but not of a certain tool. */
  readonly toolChoice: "tool" | "any" | "none";
  readonly hasJsonSchema: boolean;
  /** How long a marked prompt can be cached; `none`: the model refuses cache marks. */
  readonly cache: "none" | "5m" | "1h";
  readonly cachesTools: boolean;
  /** The content that a message with tool results may have. */
  readonly besideToolResults: "everything" | "no documents" | "nothing";
  readonly toolResultForm: "text" | "json";
  readonly mayBeginWithAssistant: boolean;
  /** The thoughts of earlier turns that the model accepts. `unsigned`: the model refuses signatures. */
  readonly takesThoughts: "signed" | "unsigned" | "all" | "none";
  /** Whether `inputTokens` includes cached tokens in streams, unlike in other answers. */
  readonly countsCacheInStreams: boolean;
  /** The form of a tool call's id. */
  readonly toolCallId: RegExp;
}

export interface EffortMember {
  readonly form: "reasoning_effort" | "reasoning.effort" | "reasoning_config" | "reasoningConfig";
  /** Lowest first; begins with `none` if thinking can be switched off. */
  readonly levels: readonly string[];
}

const plain: ModelTraits = {
  isKnown: false,
  generation: null,
  effort: null,
  takesSampling: true,
  topK: "none",
  toolChoice: "any",
  hasJsonSchema: false,
  cache: "none",
  cachesTools: false,
  besideToolResults: "everything",
  toolResultForm: "text",
  mayBeginWithAssistant: false,
  takesThoughts: "none",
  countsCacheInStreams: false,
  toolCallId: /^[a-zA-Z0-9_-]{1,64}$/,
};

/** Models with open weights use the ids of their training, such as `functions.get_weather:0`. */
const openWeights: Pick<ModelTraits, "takesThoughts" | "toolCallId"> = {
  takesThoughts: "unsigned",
  toolCallId: /^[a-zA-Z0-9_.:-]{1,64}$/,
};

const threeLevels = ["low", "medium", "high"];
const fourLevels = [...threeLevels, "xhigh"];

type ReadTraits = (name: string) => Partial<ModelTraits>;

const makers: Readonly<Record<string, ReadTraits>> = {
  anthropic: (name) => {
    const generation = findGeneration(name);
    return {
      generation,
      takesSampling: generation.sampling !== "none",
      topK: "flat",
      toolChoice: generation.takesForcedTools ? "tool" : "none",
      // Bedrock does not offer it for this family, unlike the maker.
      hasJsonSchema: generation.hasJsonSchema && !name.startsWith("claude-fable"),
      cache: generation.hasJsonSchema ? "1h" : "5m",
      cachesTools: true,
      besideToolResults: "no documents",
      mayBeginWithAssistant: true,
      takesThoughts: "signed",
    };
  },
  amazon: (name) => {
    if (!name.startsWith("nova-")) return { toolChoice: "none" };
    const effort: EffortMember = { form: "reasoningConfig", levels: ["none", ...threeLevels] };
    return { effort: name.startsWith("nova-2") ? effort : null, topK: "nested", toolChoice: "tool", cache: "5m" };
  },
  openai: (name) => {
    if (name.startsWith("gpt-oss"))
      return { ...openWeights, effort: { form: "reasoning_effort", levels: threeLevels } };
    const levels = /^gpt-6-astra|^gpt-6\.1/.test(name) ? fourLevels : ["none", ...fourLevels];
    return { effort: { form: "reasoning.effort", levels }, takesSampling: false, countsCacheInStreams: true };
  },
  xai: () => ({
    effort: { form: "reasoning.effort", levels: fourLevels },
    takesSampling: false,
    toolChoice: "tool",
  }),
  qwen: (name) => ({
    ...openWeights,
    effort: name.startsWith("qwen3-coder") ? null : { form: "reasoning_config", levels: ["none", ...threeLevels] },
    hasJsonSchema: name.startsWith("qwen3"),
    mayBeginWithAssistant: true,
  }),
  mistral: (name) => ({
    hasJsonSchema: /^(?:magistral-small|ministral-3|mistral-large-3|voxtral)/.test(name),
    besideToolResults: "nothing",
    toolResultForm: "json",
    toolCallId: /^[a-zA-Z0-9]{9}$/,
  }),
  meta: () => ({ toolChoice: "none", besideToolResults: "nothing" }),
  writer: () => ({ toolChoice: "none", besideToolResults: "nothing" }),
  cohere: () => ({ toolChoice: "none" }),
  ai21: () => ({ toolChoice: "none" }),
  deepseek: (name) => ({ takesThoughts: name.startsWith("r1") ? "all" : "none" }),
  google: (name) => ({ hasJsonSchema: /^gemma-3-(?:12|27)b/.test(name) }),
  minimax: (name) => ({ hasJsonSchema: name.startsWith("minimax-m2") }),
  nvidia: (name) => ({ hasJsonSchema: name.startsWith("nemotron-nano") }),
  zai: () => ({ toolChoice: "tool", hasJsonSchema: true, mayBeginWithAssistant: true }),
  moonshot: () => ({ ...openWeights, toolChoice: "tool", hasJsonSchema: true, mayBeginWithAssistant: true }),
  moonshotai: () => ({ ...openWeights, toolChoice: "tool", hasJsonSchema: true, mayBeginWithAssistant: true }),
};

/**
 * An id without a maker (an inference profile of the operator) gets the plain traits, and its own signed thoughts, because the model may
 * refuse tool results without them.
 */
const ofUnknownMaker: ModelTraits = { ...plain, takesThoughts: "signed" };

export function findTraits(model: string): ModelTraits {
  const { maker, name } = splitModelId(model);
  const read = maker === null ? undefined : lookUp(makers, maker);
  return read === undefined ? ofUnknownMaker : { ...plain, isKnown: true, ...read(name) };
}

/** `amazon.nova-lite-v1:0`, `us.anthropic.claude-sonnet-4-6` with an area (`us`, `eu`, `global` …), or the ARN of either. */
export function splitModelId(model: string): { readonly maker: string | null; readonly name: string } {
  const id = model.startsWith("arn:") ? model.slice(model.lastIndexOf("/") + 1) : model;
  const parts = id.split(".");
  const at = parts.findIndex((part) => Object.hasOwn(makers, part));
  if (at < 0 || at > 1) return { maker: null, name: id };
  return { maker: parts[at] ?? null, name: parts.slice(at + 1).join(".") };
}
