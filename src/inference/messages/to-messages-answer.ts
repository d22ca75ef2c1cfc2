// Translates a chat completion into a Messages answer. The stream writer also uses the exported parts: ids, stop reasons, usage, citations.

import type {
  ChatAnnotation,
  ChatChoice,
  ChatCompletion,
  ChatToolCall,
  ChatUsage,
  ReasoningDetail,
} from "../../contract/chat-format.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { type ExtraContent, isEmpty, type ReasoningState, toEncryptedContent } from "../reasoning-state.ts";

interface AnswerOptions {
  /** The caller's stop sequences: only one of these can have ended the answer. */
  readonly stopSequences?: readonly string[] | null;
  /** The provider that the reasoning state belongs to; null for providers of other dialects. */
  readonly origin?: string | null;
}

export type StopReason = "end_turn" | "max_tokens" | "tool_use" | "stop_sequence" | "refusal";

export interface MessagesAnswer {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly AnswerBlock[];
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: string | null;
  readonly stop_details: RefusalDetails | null;
  readonly container: null;
  readonly usage: MessagesUsage;
}

export type AnswerBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "text"; readonly text: string; readonly citations?: readonly Citation[] }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      /** The state that the provider expects with the call in the next turn: clients return the block unchanged. */
      readonly extra_content?: Readonly<Record<string, unknown>>;
    };

export interface Citation {
  readonly type: "web_search_result_location";
  readonly url: string;
  readonly title: string | null;
  readonly cited_text: string;
  readonly encrypted_index: string;
}

export interface RefusalDetails {
  readonly type: "refusal";
  readonly category: null;
  readonly explanation: string | null;
}

export interface MessagesUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number } | null;
  readonly server_tool_use: null;
  readonly service_tier: null;
}

export function toMessagesAnswer(completion: ChatCompletion, options: AnswerOptions = {}): MessagesAnswer {
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
  return {
    id: toMessageId(completion.id),
    type: "message",
    role: "assistant",
    model: completion.model,
    content,
    ...stop,
    container: null,
    usage: toMessagesUsage(completion.usage),
  };
}

function toBlocks(message: ChatChoice["message"], refusal: string | null, origin: string | null): AnswerBlock[] {
  const calls = (message.tool_calls ?? []).map((call) => ({ ...call, id: call.id || toToolUseId() }));
  const blocks = origin === null ? toThinkingBlocks(message) : toBoundBlocks(message, calls, origin);
  const text = readText(message.content) + (refusal ?? "");
  const citations = (message.annotations ?? []).flatMap(toCitation);
  if (text !== "" || citations.length > 0)
    // Omitted when empty: clients reject null.
    blocks.push({ type: "text", text, ...(citations.length > 0 && { citations }) });
  for (const call of calls) blocks.push(toToolUse(call, origin));
  return blocks;
}

/** The signature of the reasoning carries the state that only this provider can use. */
function toBoundBlocks(message: ChatChoice["message"], calls: readonly ChatToolCall[], origin: string): AnswerBlock[] {
  const details = message.reasoning_details ?? [];
  const extras = calls.flatMap(({ id, extra_content: extra }) => (extra ? [[id ?? "", extra] as const] : []));
  const state: ReasoningState = {
    origin,
    details,
    calls: new Map<string, ExtraContent>(extras),
    message: message.extra_content ?? null,
  };
  const text = readReasoningText(message) || details.map(readDetailText).join("");
  if (text !== "") return [{ type: "thinking", thinking: text, signature: toEncryptedContent(state) }];
  return isEmpty(state) ? [] : [{ type: "redacted_thinking", data: toEncryptedContent(state) }];
}

function toThinkingBlocks(message: ChatChoice["message"]): AnswerBlock[] {
  const blocks = (message.reasoning_details ?? []).flatMap(toThinkingBlock);
  // Encrypted details do not contain the plain text of the reasoning.
  const text = blocks.some((block) => block.type === "thinking") ? "" : readReasoningText(message);
  if (text !== "") blocks.unshift({ type: "thinking", thinking: text, signature: "" });
  const extra = message.extra_content;
  if (extra) blocks.push({ type: "redacted_thinking", data: toEncryptedContent(toMessageState(extra)) });
  return blocks;
}

/** The state that a provider of another dialect expects with the whole message. */
function toMessageState(message: ExtraContent): ReasoningState {
  return { origin: null, details: [], calls: new Map(), message };
}

/** Details of other types, such as summaries, are left out: the plain text of the reasoning is used instead. */
function toThinkingBlock(detail: ReasoningDetail): AnswerBlock[] {
  if (detail.type === "reasoning.encrypted") return [{ type: "redacted_thinking", data: detail.data }];
  if (detail.type !== "reasoning.text") return [];
  return [{ type: "thinking", thinking: detail.text ?? "", signature: detail.signature ?? "" }];
}

/** The readable text of a detail. An encrypted detail has none. */
export function readDetailText(detail: ReasoningDetail): string {
  if (detail.type === "reasoning.text") return detail.text ?? "";
  return detail.type === "reasoning.summary" ? (detail.summary ?? "") : "";
}

/** Providers of the chat format use two names for this member. */
export function readReasoningText(holder: Readonly<Record<string, unknown>>): string {
  const text = holder["reasoning_content"] ?? holder["reasoning"];
  return typeof text === "string" ? text : "";
}

/** The format requires a string; some providers send parts. */
export function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}

export function toCitation(annotation: ChatAnnotation): Citation[] {
  const source = annotation?.url_citation;
  if (typeof source?.url !== "string") return [];
  return [
    {
      type: "web_search_result_location",
      url: source.url,
      title: source.title ?? null,
      cited_text: source.content ?? "",
      encrypted_index: "",
    },
  ];
}

function toToolUse(call: ChatToolCall, origin: string | null): AnswerBlock {
  return {
    type: "tool_use",
    id: call.id || toToolUseId(),
    name: call.function?.name ?? "",
    input: readInput(call.function?.arguments ?? ""),
    ...(origin === null && call.extra_content && { extra_content: call.extra_content }),
  };
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

interface Stop {
  readonly stop_reason: StopReason;
  readonly stop_sequence: string | null;
  readonly stop_details: RefusalDetails | null;
}

interface Ending {
  readonly finishReason: string | null;
  readonly hasToolCalls: boolean;
  readonly refusal: string | null;
  readonly matched: string | null;
}

export function toStop({ finishReason, hasToolCalls, refusal, matched }: Ending): Stop {
  if (finishReason === "content_filter" || refusal !== null)
    return {
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: null, explanation: refusal },
    };
  if (finishReason === "length") return { stop_reason: "max_tokens", stop_sequence: null, stop_details: null };
  // Some providers send "stop" after calls.
  if (hasToolCalls) return { stop_reason: "tool_use", stop_sequence: null, stop_details: null };
  if (matched !== null) return { stop_reason: "stop_sequence", stop_sequence: matched, stop_details: null };
  return { stop_reason: "end_turn", stop_sequence: null, stop_details: null };
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

export function toMessagesUsage(usage: ChatUsage | null | undefined): MessagesUsage {
  const prompt = count(usage?.prompt_tokens);
  const read = Math.min(count(usage?.prompt_tokens_details?.cached_tokens), prompt);
  const written = Math.min(count(usage?.prompt_tokens_details?.cache_write_tokens), prompt - read);
  const writtenForAnHour = Math.min(count(usage?.prompt_tokens_details?.cache_write_1h_tokens), written);
  const output = count(usage?.completion_tokens);
  const thought = usage?.completion_tokens_details?.reasoning_tokens;
  return {
    input_tokens: prompt - read - written,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    cache_creation: {
      ephemeral_5m_input_tokens: written - writtenForAnHour,
      ephemeral_1h_input_tokens: writtenForAnHour,
    },
    output_tokens: output,
    output_tokens_details: thought === undefined ? null : { thinking_tokens: Math.min(count(thought), output) },
    server_tool_use: null,
    service_tier: null,
  };
}

function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.floor(value) : 0;
}

export function toMessageId(id: string): string {
  return id?.startsWith("msg_") ? id : `msg_${randomText()}`;
}

export function toToolUseId(): string {
  return `toolu_${randomText()}`;
}

function randomText(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}
