// A whole answer of generateContent as a chat completion.

import type { ChatChoice, ChatCompletion } from "../../../contract/chat-format.ts";
import type { JsonObject, Reading } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import {
  gatherParts,
  googleExtra,
  randomId,
  readBlock,
  readFinish,
  toAnnotations,
  toLogprobs,
  toWebSearches,
} from "./candidate.ts";
import { throwErrorIn, unwrap } from "./failure.ts";
import { toCallDetails } from "./signature.ts";
import { countWebSearches, fromGeminiUsage } from "./usage.ts";

export function fromGeminiAnswer(value: JsonObject, reading: Reading): ChatCompletion {
  const answer = unwrap(value);
  throwErrorIn(answer);
  const candidates = objectsIn(answer["candidates"]);
  const usage = fromGeminiUsage(answer["usageMetadata"], {
    webSearches: candidates.reduce((sum, candidate) => sum + countWebSearches(candidate["groundingMetadata"]), 0),
    askedTier: reading.serviceTier ?? null,
  });
  return {
    id: asText(answer["responseId"]) ?? `chatcmpl-${randomId()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1_000),
    model: asText(answer["modelVersion"]) ?? reading.model,
    choices: toChoices(answer, reading),
    ...(usage === null ? {} : { usage }),
  };
}

function toChoices(answer: JsonObject, reading: Reading): ChatChoice[] {
  const candidates = objectsIn(answer["candidates"]);
  if (candidates.length > 0) return candidates.map((candidate, index) => toChoice(candidate, index, reading));
  const block = readBlock(answer);
  if (block === null) throw new TypeError("the answer holds no candidates");
  const message = { role: "assistant", content: null, refusal: block.refusal } as const;
  return [{ index: 0, message, finish_reason: "content_filter" }];
}

function toChoice(candidate: JsonObject, position: number, reading: Reading): ChatChoice {
  const gathered = gatherParts(objectOrNull(candidate["content"])?.["parts"], reading.answerTool);
  const { content, reasoning, calls, images } = gathered;
  const isEmpty = content === "" && calls.length === 0 && images.length === 0;
  const finish = readFinish(candidate, { isEmpty, hasCalls: calls.length > 0 });
  const annotations = toAnnotations(candidate["groundingMetadata"], content);
  const searches = toWebSearches(candidate["groundingMetadata"]);
  const extra = googleExtra(gathered);
  const details = toCallDetails(calls);
  const token = asText(candidate["continuationToken"]);
  const logprobs = toLogprobs(candidate["logprobsResult"]);
  return {
    index: finiteNumber(candidate["index"]) ?? position,
    message: {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      refusal: null,
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(images.length === 0 ? {} : { images }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(searches.length === 0 ? {} : { web_searches: searches }),
      ...(extra === null ? {} : { extra_content: extra }),
    },
    finish_reason: finish ?? "stop",
    ...(logprobs === null ? {} : { logprobs }),
    ...(token === null ? {} : { continuation_token: token }),
  };
}
