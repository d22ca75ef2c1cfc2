// What becomes of each parameter. The vendor's schema refuses members that it does not know, so what is OpenAI's alone is
// taken out; everything else is passed on, for the vendor's own members and those to come: https://docs.mistral.ai/api/

import { lookUp } from "../../../lib/look-up.ts";
import type { ParameterTable } from "../../dialect.ts";

export const parameters: ParameterTable = {
  "*": "mapped",
  max_completion_tokens: "mapped",
  seed: "mapped",
  stream_options: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  logprobs: "dropped",
  top_logprobs: "dropped",
  logit_bias: "dropped",
  user: "dropped",
  store: "dropped",
  safety_identifier: "dropped",
  prompt_cache_retention: "dropped",
  verbosity: "dropped",
  modalities: "dropped",
  // Of other formats.
  top_k: "dropped",
  min_p: "dropped",
  cache_control: "dropped",
  audio: "refused",
  functions: "refused",
  function_call: "refused",
  web_search_options: "refused",
};

/** Said in other words, or read by us: not passed on under these names. */
const reworded = new Set(["max_completion_tokens", "seed", "stream_options", "reasoning", "thinking", "service_tier"]);

export function isPassedOn(name: string): boolean {
  return (lookUp(parameters, name) ?? "mapped") === "mapped" && !reworded.has(name);
}
