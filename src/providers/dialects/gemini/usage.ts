// The vendor's count of tokens as ours. Thoughts are a part of the answer, results of the vendor's tools of the prompt.

import type { ChatUsage } from "../../../contract/chat-format.ts";
import { asCount, asList, asObject } from "./lenient.ts";

/** Null while the counts are not there yet: the first events of a stream may hold only what kind of traffic it is. */
export function fromGeminiUsage(value: unknown): ChatUsage | null {
  const usage = asObject(value);
  if (usage === null || (usage["promptTokenCount"] === undefined && usage["totalTokenCount"] === undefined))
    return null;
  const prompt = asCount(usage["promptTokenCount"]) + asCount(usage["toolUsePromptTokenCount"]);
  const thoughts = asCount(usage["thoughtsTokenCount"]);
  const total = asCount(usage["totalTokenCount"]);
  const candidates =
    usage["candidatesTokenCount"] === undefined
      ? Math.max(0, total - prompt - thoughts)
      : asCount(usage["candidatesTokenCount"]);
  const completion = candidates + thoughts;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: Math.min(asCount(usage["cachedContentTokenCount"]), prompt),
      ...modalityCounts(usage["promptTokensDetails"], prompt, ["audio", "image", "video"]),
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      ...modalityCounts(usage["candidatesTokensDetails"], candidates, ["audio", "image"]),
    },
  };
}

function modalityCounts(details: unknown, whole: number, modalities: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const entry of asList(details)) {
    const modality = String(asObject(entry)?.["modality"] ?? "").toLowerCase();
    const tokens = asCount(asObject(entry)?.["tokenCount"]);
    if (!modalities.includes(modality) || tokens === 0) continue;
    const name = `${modality}_tokens`;
    counts[name] = Math.min((counts[name] ?? 0) + tokens, whole);
  }
  return counts;
}
