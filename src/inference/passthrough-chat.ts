// Passthrough for providers of the chat format: the provider receives the caller's bytes with the model replaced and the gateway's members
// removed, and the caller receives the provider's bytes with the gateway's members added.

import { type ChatCompletionRequest, gatewayMemberNames } from "../contract/chat-completions.ts";
import type { GatewayError } from "../errors.ts";
import { editMembers, type Replacement } from "../lib/json-scan.ts";
import type { Provider } from "../providers/configure.ts";
import { readErrorRules } from "../providers/error-rules.ts";
import { toRefusal } from "../providers/refusal.ts";
import { toSummedUsage } from "../usage/tokens.ts";
import type { Accounting } from "./attempt.ts";
import type { ChatAdapter, WholeAnswer } from "./chat-adapter.ts";
import { PlainSource } from "./chunk-source.ts";
import { appendMembers, badAnswer, fillModel, readAnswer } from "./provider-answer.ts";
import type { JsonRequest } from "./request-context.ts";
import type { Candidate } from "./route-planner.ts";

type PlainInput = Pick<JsonRequest<ChatCompletionRequest>, "request" | "text" | "scan">;

const gatewayMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
// A provider that always or never sends usage may reject `stream_options`.
const withStreamOptions: ReadonlySet<string> = new Set([...gatewayMemberNames, "stream_options"]);
const nothing: readonly string[] = [];

export function passThroughChat(input: PlainInput, { provider, deployment, model }: Candidate): ChatAdapter {
  return {
    path: fillModel(deployment.chatPath, model),
    body: toProviderBody(input, provider, model),
    headerLines: "",
    dropped: nothing,
    calls: 1,
    readWhole: (text, accounting) => readWhole(text, provider, accounting),
    createSource: () => new PlainSource(provider),
  };
}

/** The caller's bytes with the provider's model name and without the gateway's members. For a stream, it requests usage. */
function toProviderBody({ request, text, scan }: PlainInput, { row }: Provider, model: string): string {
  const { streamUsage = "ask" } = row.chat ?? {};
  const replace: Replacement[] = [["model", JSON.stringify(model)]];
  const append: string[] = [];
  if (request.stream === true && streamUsage === "ask" && request.stream_options?.include_usage !== true) {
    const options = JSON.stringify({ ...request.stream_options, include_usage: true });
    if (request.stream_options === undefined) append.push(`"stream_options":${options}`);
    else replace.push(["stream_options", options]);
  }
  const remove = streamUsage === "ask" ? gatewayMembers : withStreamOptions;
  return editMembers(text, scan, { replace, remove, append });
}

function readWhole(text: string, provider: Provider, accounting: Accounting): WholeAnswer {
  const value = readCompletion(text, provider);
  const received = value["usage"];
  const usage = toSummedUsage(received);
  const charge = accounting.quote.chargeFor(usage ?? null, value);
  const added = accounting.toMembers(charge);
  if (usage === received) return { text: appendMembers(text, value, added), value, charge, added };
  const changed = appendMembers(text, value, added, [["usage", JSON.stringify(usage)]]);
  return { text: changed, value: { ...value, usage }, charge, added };
}

function readCompletion(text: string, provider: Provider): Record<string, unknown> {
  const answer = readAnswer(text, provider);
  if (!Array.isArray(answer["choices"])) throw toMissingCompletion(text, provider);
  return answer;
}

/** Some providers report a failure with status 200 and an error code. Their rows declare these codes. */
function toMissingCompletion(text: string, provider: Provider): GatewayError {
  const declared = readErrorRules(provider.row.errors, 200, text);
  if (declared !== undefined) return toRefusal(provider, declared, null, text);
  return badAnswer(provider, "did not answer with a completion");
}
