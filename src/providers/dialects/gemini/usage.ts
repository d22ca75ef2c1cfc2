// Reads the vendor's token counts. Thoughts are part of the completion, results of the vendor's tools part of the prompt.

import type { ChatUsage } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asCount, asList, asText, objectOrNull } from "../../lenient.ts";
import { filled, present } from "../completion.ts";

const countNames = [
  ...["promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"],
  ...["totalTokenCount", "cachedContentTokenCount"],
];

interface Circumstances {
  /** Web searches that the vendor made for the answer. */
  readonly webSearches: number;
  /** The requested service tier. A vendor without capacity answers at the usual tier. */
  readonly requestedTier: string | null;
}

/**
 * Null without counts: the first events of a stream may have only the kind of traffic. A missing count is 0, because the format omits
 * zeros, unless the total shows otherwise.
 */
export function fromGeminiUsage(value: unknown, { webSearches, requestedTier }: Circumstances): ChatUsage | null {
  const usage = objectOrNull(value);
  if (usage === null || countNames.every((name) => usage[name] === undefined)) return null;
  const thoughts = asCount(usage["thoughtsTokenCount"]);
  const total = asCount(usage["totalTokenCount"]);
  const fromTools = asCount(usage["toolUsePromptTokenCount"]);
  const answered = asCount(usage["candidatesTokenCount"]);
  const promptOnly =
    usage["promptTokenCount"] === undefined && usage["candidatesTokenCount"] !== undefined
      ? Math.max(total - fromTools - thoughts - answered, 0)
      : asCount(usage["promptTokenCount"]);
  const prompt = promptOnly + fromTools;
  const candidates = usage["candidatesTokenCount"] === undefined ? Math.max(0, total - prompt - thoughts) : answered;
  const completion = candidates + thoughts;
  const tier = readTier(usage, requestedTier);
  const cached = Math.min(asCount(usage["cachedContentTokenCount"]), prompt);
  const promptDetails = [...asList(usage["promptTokensDetails"]), ...asList(usage["toolUsePromptTokensDetails"])];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...filled({ cached_tokens_details: countModalities(usage["cacheTokensDetails"], cached, ["audio", "image"]) }),
      ...countModalities(promptDetails, prompt, ["audio", "image", "video"]),
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      ...countModalities(usage["candidatesTokensDetails"], candidates, ["audio", "image"]),
    },
    ...(webSearches > 0 ? { server_tool_use: { web_search_requests: webSearches } } : {}),
    ...present({ service_tier: tier }),
  };
}

export function countWebSearches(groundings: readonly unknown[]): number {
  return groundings.flatMap((grounding) => asList(objectOrNull(grounding)?.["webSearchQueries"])).length;
}

const trafficTypes: Readonly<Record<string, string | null>> = {
  ON_DEMAND: null,
  TRAFFIC_TYPE_UNSPECIFIED: null,
  ON_DEMAND_PRIORITY: "priority",
  ON_DEMAND_FLEX: "flex",
};

/** Null at the usual tier. A requested tier that the vendor does not confirm is marked, because its price is not known. */
function readTier(usage: JsonObject, requestedTier: string | null): string | null {
  const traffic = asText(usage["trafficType"]);
  if (traffic !== null) return Object.hasOwn(trafficTypes, traffic) ? (trafficTypes[traffic] ?? null) : traffic;
  const served = asText(usage["serviceTier"])?.toLowerCase() ?? null;
  if (served !== null) return served === "standard" || served === "unspecified" ? null : served;
  return requestedTier === null ? null : `${requestedTier}_unconfirmed`;
}

function countModalities(details: unknown, max: number, modalities: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of asList(details)) {
    const modality = String(objectOrNull(entry)?.["modality"] ?? "").toLowerCase();
    const tokens = asCount(objectOrNull(entry)?.["tokenCount"]);
    if (!modalities.includes(modality) || tokens === 0) continue;
    const name = `${modality}_tokens`;
    counts[name] = Math.min((counts[name] ?? 0) + tokens, max);
  }
  return counts;
}
