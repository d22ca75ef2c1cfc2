// Reads an answer of generateContent as a completion.

import type { ChatChoice, ChatCompletion } from "../../../contract/chat-format.ts";
import type { JsonObject, Reading } from "../../dialect.ts";
import { asString, asText, finiteNumber, objectsIn } from "../../lenient.ts";
import { filled, present, toCompletion } from "../completion.ts";
import { gatherParts, readBlock, readFinish, readGrounding, toExtraContent, toLogprobs } from "./candidate.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { toCallDetails } from "./signature.ts";
import { countWebSearches, fromGeminiUsage } from "./usage.ts";

export function fromGeminiAnswer(value: JsonObject, reading: Reading): ChatCompletion {
  const answer = unwrap(value);
  throwErrorIn(answer);
  const candidates = objectsIn(answer["candidates"]);
  const webSearches = countWebSearches(candidates.map((candidate) => candidate["groundingMetadata"]));
  return toCompletion({
    id: asString(answer["responseId"]),
    model: asText(answer["modelVersion"]) ?? reading.model,
    choices:
      candidates.length === 0
        ? [toBlockedChoice(answer)]
        : candidates.map((candidate, index) => toChoice(candidate, index, reading)),
    usage: fromGeminiUsage(answer["usageMetadata"], { webSearches, requestedTier: reading.serviceTier ?? null }),
  });
}

function toBlockedChoice(answer: JsonObject): ChatChoice {
  const block = readBlock(answer);
  if (block === null) throw new TypeError("the answer has no candidates");
  const message = { role: "assistant", content: null, refusal: block.refusal } as const;
  return { index: 0, message, finish_reason: "content_filter" };
}

function toChoice(candidate: JsonObject, position: number, reading: Reading): ChatChoice {
  const gathered = gatherParts(candidate, reading.answerTool);
  const { content, reasoning, calls, images } = gathered;
  const isEmpty = content === "" && calls.length === 0 && images.length === 0;
  return {
    index: finiteNumber(candidate["index"]) ?? position,
    message: {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      refusal: null,
      ...filled({
        reasoning_content: reasoning,
        reasoning_details: toCallDetails(calls),
        tool_calls: calls,
        images,
        ...readGrounding(candidate["groundingMetadata"], content),
        extra_content: toExtraContent(gathered),
      }),
    },
    finish_reason: readFinish(candidate, { isEmpty, hasCalls: calls.length > 0 }) ?? "stop",
    ...present({
      logprobs: toLogprobs(candidate["logprobsResult"]),
      continuation_token: asText(candidate["continuationToken"]),
    }),
  };
}
