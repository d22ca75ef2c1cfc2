// The parameters that a model accepts, by its generation. Newer models answer with a 400 to members that older ones accept. From the
// vendor's pages "Thinking", "Effort", "Troubleshooting thinking" and the migration guides.

import { lookUp } from "../../../lib/look-up.ts";

export interface Generation {
  /** `budget`: thinking takes a number of tokens. `adaptive`: the model decides, guided by an effort. */
  readonly thinking: "none" | "budget" | "adaptive";
  /** The type that switches thinking off. `omit`: the member is left out. `never`: it cannot be switched off. */
  readonly thinkingOff: "omit" | "disabled" | "between_tools" | "never";
  /** Levels of `output_config.effort`, lowest first. */
  readonly efforts: readonly Effort[];
  /** Whether all of `temperature`, `top_p` and `top_k` may be sent, only one of the first two, or none. */
  readonly sampling: "all" | "one" | "none";
  /** Whether the conversation may end with the start of the answer. */
  readonly takesPrefill: boolean;
  /** Whether `tool_choice` may require a call. */
  readonly takesForcedTools: boolean;
  readonly hasJsonSchema: boolean;
  /** Whether the conversation may have messages of the role `system`. */
  readonly takesSystemTurns: boolean;
  /** Whether the model refuses a thinking block when any content before it has changed. */
  readonly bindsThinking: boolean;
  readonly maxOutputTokens: number;
}

export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

const threeEfforts: readonly Effort[] = ["low", "medium", "high"];
const fourEfforts: readonly Effort[] = ["low", "medium", "high", "max"];
const fiveEfforts: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** Also for models of other makers whose servers use this format. All models allow 4096 tokens. */
const oldest: Generation = {
  thinking: "none",
  thinkingOff: "omit",
  efforts: [],
  sampling: "all",
  takesPrefill: true,
  takesForcedTools: true,
  hasJsonSchema: false,
  takesSystemTurns: false,
  bindsThinking: false,
  maxOutputTokens: 4_096,
};
const claude35: Generation = { ...oldest, maxOutputTokens: 8_192 };
const claude37: Generation = { ...oldest, thinking: "budget", maxOutputTokens: 64_000 };
const claude4: Generation = { ...claude37, sampling: "one", maxOutputTokens: 32_000 };
const claude45: Generation = { ...claude4, hasJsonSchema: true, maxOutputTokens: 64_000 };
const claude46: Generation = {
  ...claude45,
  thinking: "adaptive",
  efforts: fourEfforts,
  takesPrefill: false,
  maxOutputTokens: 128_000,
};
const claude47: Generation = { ...claude46, efforts: fiveEfforts, sampling: "none" };
const claude48: Generation = { ...claude47, takesSystemTurns: true };
const claude5: Generation = { ...claude48, thinkingOff: "disabled" };
const claude55: Generation = { ...claude5, bindsThinking: true };
const alwaysThinking: Generation = { ...claude48, thinkingOff: "never" };
const boundAlwaysThinking: Generation = { ...alwaysThinking, takesForcedTools: false, bindsThinking: true };

const exceptions: Readonly<Record<string, Generation>> = {
  "opus 4.5": { ...claude45, efforts: threeEfforts },
  "sonnet 4.0": { ...claude4, maxOutputTokens: 64_000 },
  // The vendor does not list it among the models with system turns.
  "sonnet 5.0": { ...claude5, takesSystemTurns: false },
  "sonnet 5.5": { ...claude55, thinkingOff: "between_tools", takesForcedTools: false },
  "opus 5.5": boundAlwaysThinking,
  "fable 5.0": alwaysThinking,
  "mythos 5.0": alwaysThinking,
};

/** Newest first: the first version that is not above the model's applies. */
const byVersion: readonly (readonly [version: number, generation: Generation])[] = [
  [5.5, claude55],
  [5, claude5],
  [4.8, claude48],
  [4.7, claude47],
  [4.6, claude46],
  [4.5, claude45],
  [4, claude4],
  [3.7, claude37],
  [3.5, claude35],
];

export function findGeneration(model: string): Generation {
  const name = model.toLowerCase();
  if (name.includes("claude-mythos-preview"))
    return { ...alwaysThinking, efforts: fourEfforts, takesSystemTurns: false };
  const found = /claude-([a-z]+)-(\d)(?:[-.](\d)(?!\d))?/.exec(name);
  const family = found?.[1];
  const version = found ? Number(`${found[2]}.${found[3] ?? 0}`) : readOldVersion(name);
  const exception = lookUp(exceptions, `${family} ${version.toFixed(1)}`);
  if (exception !== undefined) return exception;
  if (family === "fable" || family === "mythos") return boundAlwaysThinking;
  return byVersion.find(([from]) => version >= from)?.[1] ?? oldest;
}

/** In `claude-3-7-sonnet-20250219` the version precedes the family. 0 for any other name. */
function readOldVersion(name: string): number {
  const found = /claude-(\d)(?:[-.](\d)(?!\d))?/.exec(name);
  return found ? Number(`${found[1]}.${found[2] ?? 0}`) : 0;
}
