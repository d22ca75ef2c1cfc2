// The vendor's count of tokens as ours. Thoughts are a part of the answer, results of the vendor's tools of the prompt.

import type { ChatUsage } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asCount, asList, asText, objectOrNull } from "../../lenient.ts";

const countNames = [
  ...["promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"],
  ...["totalTokenCount", "cachedContentTokenCount"],
];

interface Circumstances {
  /** Searches on the web that the vendor made for the answer. */
  readonly webSearches: number;
  /** The tier of service that was asked for, which a vendor with no room answers at the usual one. */
  readonly askedTier: string | null;
}

/**
 * Null while the counts are not there yet: the first events of a stream may hold only what kind of traffic it is. A count
 * that is left out is 0 (the format leaves out zeros), unless the total shows that it is not.
 */
export function fromGeminiUsage(value: unknown, { webSearches, askedTier }: Circumstances): ChatUsage | null {
  const usage = objectOrNull(value);
  if (usage === null || countNames.every((name) => usage[name] === undefined)) return null;
  const thoughts = asCount(usage["thoughtsTokenCount"]);
  const total = asCount(usage["totalTokenCount"]);
  const fromTools = asCount(usage["toolUsePromptTokenCount"]);
  const answered = asCount(usage["candidatesTokenCount"]);
  const given =
    usage["promptTokenCount"] === undefined && usage["candidatesTokenCount"] !== undefined
      ? Math.max(total - fromTools - thoughts - answered, 0)
      : asCount(usage["promptTokenCount"]);
  const prompt = given + fromTools;
  const candidates = usage["candidatesTokenCount"] === undefined ? Math.max(0, total - prompt - thoughts) : answered;
  const completion = candidates + thoughts;
  const tier = readTier(usage, askedTier);
  const cached = Math.min(asCount(usage["cachedContentTokenCount"]), prompt);
  const cachedParts = modalityCounts(usage["cacheTokensDetails"], cached, ["audio", "image"]);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      ...(Object.keys(cachedParts).length === 0 ? {} : { cached_tokens_details: cachedParts }),
      ...modalityCounts(
        [...asList(usage["promptTokensDetails"]), ...asList(usage["toolUsePromptTokensDetails"])],
        prompt,
        ["audio", "image", "video"],
      ),
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      ...modalityCounts(usage["candidatesTokensDetails"], candidates, ["audio", "image"]),
    },
    ...(webSearches > 0 ? { server_tool_use: { web_search_requests: webSearches } } : {}),
    ...(tier === null ? {} : { service_tier: tier }),
  };
}

/** How many searches a candidate's sources come from. */
export function countWebSearches(grounding: unknown): number {
  return asList(objectOrNull(grounding)?.["webSearchQueries"]).length;
}

const trafficTypes: Readonly<Record<string, string | null>> = {
  ON_DEMAND: null,
  TRAFFIC_TYPE_UNSPECIFIED: null,
  ON_DEMAND_PRIORITY: "priority",
  ON_DEMAND_FLEX: "flex",
};

/** Null at the usual tier. One that was asked for and is not confirmed is told as such: its price is not known. */
function readTier(usage: JsonObject, askedTier: string | null): string | null {
  const traffic = asText(usage["trafficType"]);
  if (traffic !== null) return Object.hasOwn(trafficTypes, traffic) ? (trafficTypes[traffic] ?? null) : traffic;
  const served = asText(usage["serviceTier"])?.toLowerCase() ?? null;
  if (served !== null) return served === "standard" || served === "unspecified" ? null : served;
  return askedTier === null ? null : `${askedTier}_unconfirmed`;
}

function modalityCounts(details: unknown, whole: number, modalities: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of asList(details)) {
    const modality = String(objectOrNull(entry)?.["modality"] ?? "").toLowerCase();
    const tokens = asCount(objectOrNull(entry)?.["tokenCount"]);
    if (!modalities.includes(modality) || tokens === 0) continue;
    const name = `${modality}_tokens`;
    counts[name] = Math.min((counts[name] ?? 0) + tokens, whole);
  }
  return counts;
}
