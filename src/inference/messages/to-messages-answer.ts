// Translates a chat completion into a Messages answer. The stream writer also uses the exported parts: ids, stop reasons, usage, citations.

import type {
  ChatChoice,
  ChatCompletion,
  ChatImage,
  ChatToolCall,
  ChatUsage,
  ReasoningDetail,
} from "../../contract/chat-format.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { asArguments } from "../../providers/lenient.ts";
import {
  readDetailText,
  readImages,
  readReasoningText,
  readSources,
  readText,
  readTokenCounts,
  toReasoningState,
} from "../chat-answer.ts";
import { isEmpty, toEncryptedContent } from "../reasoning-state.ts";
import { toImageText } from "./image-text.ts";

export interface AnswerOptions {
  /** The caller's stop sequences: only one of these can have ended the answer. */
  readonly stopSequences?: readonly string[] | null;
  /** The provider that the reasoning state belongs to; null for providers of other dialects. */
  readonly origin?: string | null;
}

export type AnswerBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "text";
      readonly text: string;
      readonly citations?: ReturnType<typeof toCitations>;
      /** The state that the provider expects with an image in the next turn: clients return the block unchanged. */
      readonly extra_content?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /** The state that the provider expects with the call in the next turn: clients return the block unchanged. */
      readonly extra_content?: Readonly<Record<string, unknown>>;
    };

export function toMessagesAnswer(completion: ChatCompletion, options: AnswerOptions = {}) {
  const choice = completion.choices[0];
  const message = choice?.message;
  const refusal = message?.refusal || null;
  const content = message === undefined ? [] : toBlocks(message, refusal, options.origin ?? null);
  const stop = toStop({
    finishReason: choice?.finish_reason ?? null,
    hasToolCalls: content.some((block) => block.type === "tool_use"),
    refusal,
    matched: readMatchedStop(choice, options.stopSequences),
  });
  return { ...createMessage(completion.id, completion.model, completion.usage), content, ...stop };
}

/** A message without content, as a stream begins with it. */
export function createMessage(id: string, model: string, usage: ChatUsage | null | undefined) {
  return {
    id: id?.startsWith("msg_") ? id : createId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: toMessagesUsage(usage),
  };
}

function toBlocks(message: ChatChoice["message"], refusal: string | null, origin: string | null): AnswerBlock[] {
  const calls = (message.tool_calls ?? []).map((call) => ({ ...call, id: call.id || createId("toolu") }));
  const blocks = origin === null ? toThinkingBlocks(message) : toBoundBlocks(message, calls, origin);
  const text = readText(message.content) + (refusal ?? "");
  const citations = toCitations(message.annotations);
  if (text !== "" || citations.length > 0)
    // Omitted when empty: clients reject null.
    blocks.push({ type: "text", text, ...(citations.length > 0 && { citations }) });
  for (const image of readImages(message.images)) blocks.push(toImageBlock(image, toImageText(image), origin));
  for (const { id, function: called, extra_content: extra } of calls)
    blocks.push({
      type: "tool_use",
      id,
      name: called?.name ?? "",
      input: readInput(asArguments(called?.arguments)),
      ...(origin === null && extra && { extra_content: extra }),
    });
  return blocks;
}

/** `text`: empty where a stream writes it later. */
export function toImageBlock({ extra_content }: ChatImage, text: string, origin: string | null): AnswerBlock {
  return { type: "text", text, ...(origin === null && extra_content && { extra_content }) };
}

/** The signature of the reasoning carries the state that only this provider can use. */
function toBoundBlocks(
  message: ChatChoice["message"],
  calls: readonly (ChatToolCall & { readonly id: string })[],
  origin: string,
): AnswerBlock[] {
  const extras = calls.map(({ id, extra_content: extra }) => ({ id, extra }));
  const state = toReasoningState(message, extras, origin);
  const text = readReasoningText(message) || state.details.map(readDetailText).join("");
  if (text !== "") return [{ type: "thinking", thinking: text, signature: toEncryptedContent(state) }];
  return isEmpty(state) ? [] : [{ type: "redacted_thinking", data: toEncryptedContent(state) }];
}

function toThinkingBlocks(message: ChatChoice["message"]): AnswerBlock[] {
  const blocks = (message.reasoning_details ?? []).flatMap(toThinkingBlock);
  // Encrypted details do not contain the plain text of the reasoning.
  const text = blocks.some((block) => block.type === "thinking") ? "" : readReasoningText(message);
  if (text !== "") blocks.unshift({ type: "thinking", thinking: text, signature: "" });
  if (message.extra_content) {
    // Only the state of the whole message is left: the blocks above carry the details.
    const state = toReasoningState({ ...message, reasoning_details: [] }, [], null);
    blocks.push({ type: "redacted_thinking", data: toEncryptedContent(state) });
  }
  return blocks;
}

/** Details of other types, such as summaries, are left out: the plain text of the reasoning is used instead. */
function toThinkingBlock(detail: ReasoningDetail): AnswerBlock[] {
  if (detail.type === "reasoning.encrypted") return [{ type: "redacted_thinking", data: detail.data }];
  if (detail.type !== "reasoning.text") return [];
  return [{ type: "thinking", thinking: detail.text ?? "", signature: detail.signature ?? "" }];
}

export function toCitations(annotations: ChatChoice["message"]["annotations"]) {
  return readSources(annotations).map(({ url, title, content }) => ({
    type: "web_search_result_location",
    url,
    title: title || null,
    cited_text: content,
    encrypted_index: "",
  }));
}

/** Arguments that are not a JSON object, which models sometimes write, are passed on under a name that no schema uses. */
function readInput(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value as Record<string, unknown>;
  } catch {
    // The last line covers this case.
  }
  return { unparsed_arguments: text };
}

interface Ending {
  readonly finishReason: string | null;
  readonly hasToolCalls: boolean;
  readonly refusal: string | null;
  readonly matched: string | null;
}

export function toStop({ finishReason, hasToolCalls, refusal, matched }: Ending) {
  const stop = (reason: string, sequence: string | null = null, details: object | null = null) => {
    return { stop_reason: reason, stop_sequence: sequence, stop_details: details };
  };
  if (finishReason === "content_filter" || refusal !== null)
    return stop("refusal", null, { type: "refusal", category: null, explanation: refusal });
  if (finishReason === "length") return stop("max_tokens");
  // Some providers send "stop" after calls.
  if (hasToolCalls) return stop("tool_use");
  return matched === null ? stop("end_turn") : stop("stop_sequence", matched);
}

/** The chat format does not name the stop sequence that ended an answer; some servers add it to the choice. */
export function readMatchedStop(
  choice: object | undefined,
  stops: readonly string[] | null | undefined,
): string | null {
  if (choice === undefined || !stops) return null;
  const { stop_reason: reason, stop_sequence: sequence } = choice as Readonly<Record<string, unknown>>;
  return stops.find((stop) => stop === sequence || stop === reason) ?? null;
}

export function toMessagesUsage(usage: ChatUsage | null | undefined) {
  const { input, cached, written, writtenFor1h, output, reasoning } = readTokenCounts(usage);
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    cache_creation: {
      ephemeral_5m_input_tokens: written - writtenFor1h,
      ephemeral_1h_input_tokens: writtenFor1h,
    },
    output_tokens: output,
    output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: null,
  };
}

export function createId(kind: "msg" | "toolu"): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
