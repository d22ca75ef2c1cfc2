// The types of the chat-completion format, which translations read and write. The schemas in chat-completions.ts check requests; the index
// signatures stand for the members that they accept without a check.

import type { z } from "zod";
import type { ChatCompletionRequest, ContentPart, createGatewayMembers, toolCall } from "./chat-completions.ts";

type Typed = "messages" | "tools" | "tool_choice" | "response_format" | keyof ReturnType<typeof createGatewayMembers>;

export interface ChatRequest extends Readonly<Omit<ChatCompletionRequest, Typed>> {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[] | null;
  readonly tool_choice?: ChatToolChoice | null;
  readonly response_format?: ChatResponseFormat | null;
  readonly reasoning_effort?: string | null;
  readonly [member: string]: unknown;
}

export type ChatMessage =
  | { readonly role: "system" | "developer" | "user"; readonly content: ChatContent; readonly name?: string }
  | ChatAssistantMessage
  | { readonly role: "tool"; readonly content: ChatContent; readonly tool_call_id: string }
  /** Deprecated by OpenAI: the result of the preceding `function_call`. */
  | { readonly role: "function"; readonly content?: ChatContent | null; readonly name: string };

export interface ChatAssistantMessage {
  readonly role: "assistant";
  readonly content?: ChatContent | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  readonly function_call?: { readonly name: string; readonly arguments: string } | null;
  readonly reasoning_content?: string | null;
  readonly reasoning_details?: readonly ReasoningDetail[] | null;
  readonly annotations?: readonly ChatAnnotation[] | null;
  /** Images that the model generated. */
  readonly images?: readonly ChatImage[] | null;
  /** Data that a vendor needs back with the message, under the vendor's name. */
  readonly extra_content?: Readonly<Record<string, unknown>> | null;
}

export interface ChatImage {
  readonly type: "image_url";
  /** Mostly a data URL. */
  readonly image_url: { readonly url: string };
  /** Data that a vendor needs back with the image, under the vendor's name. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

export type ChatContent = string | readonly ChatPart[];

/** Asks some vendors to cache the prompt up to this part, tool or message. */
export interface CacheMark {
  readonly type: string;
  readonly ttl?: string;
}

export type ChatPart = Readonly<ContentPart> & { readonly cache_control?: CacheMark };

export interface ChatToolCall extends Readonly<z.infer<typeof toolCall>> {
  /** Data that a vendor needs back with the call, under the vendor's name. */
  readonly extra_content?: Readonly<Record<string, unknown>> | null;
}

export interface ChatTool {
  readonly type: string;
  readonly function?: {
    readonly name: string;
    readonly description?: string | null;
    readonly parameters?: Readonly<Record<string, unknown>> | null;
    readonly strict?: boolean | null;
  };
  readonly cache_control?: CacheMark;
}

export type ChatToolChoice =
  | string
  | { readonly type: "function"; readonly function: { readonly name: string } }
  | {
      readonly type: "allowed_tools";
      readonly allowed_tools: {
        readonly mode: "auto" | "required";
        readonly tools: readonly { readonly type: string; readonly function?: { readonly name: string } }[];
      };
    };

export type ChatResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly json_schema: {
        readonly name?: string;
        readonly description?: string | null;
        readonly schema?: Readonly<Record<string, unknown>>;
        readonly strict?: boolean | null;
      };
    };

/** Reasoning as the next turn needs it: callers send it back unchanged in the assistant's message. */
export type ReasoningDetail = (
  | { readonly type: "reasoning.text"; readonly text: string; readonly signature?: string }
  | { readonly type: "reasoning.summary"; readonly summary: string }
  | { readonly type: "reasoning.encrypted"; readonly data: string }
) & {
  readonly index?: number;
  /** The vendor of the signature: other vendors cannot use it. */
  readonly format?: string;
};

export interface ChatAnnotation {
  readonly type: "url_citation";
  /** Clients such as the AI SDK refuse an answer in which one of the required members is missing. */
  readonly url_citation: {
    readonly url: string;
    /** "" if the vendor sends none. */
    readonly title: string;
    /** A source that belongs to no range of the text has both at the end of the text. */
    readonly start_index: number;
    readonly end_index: number;
    /** The quoted text of the source, if the vendor sends it. */
    readonly content?: string;
  };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

interface Answer {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly service_tier?: unknown;
  readonly [member: string]: unknown;
}

export interface ChatCompletion extends Answer {
  readonly object: "chat.completion";
  readonly choices: readonly ChatChoice[];
  readonly usage?: ChatUsage;
}

export interface ChatChoice {
  readonly index: number;
  readonly message: AnswerMembers & {
    readonly role: "assistant";
    readonly content: string | null;
    readonly refusal?: string | null;
    readonly tool_calls?: readonly ChatToolCall[];
    readonly [member: string]: unknown;
  };
  readonly finish_reason: FinishReason | null;
  readonly logprobs?: unknown;
  readonly [member: string]: unknown;
}

export interface ChatChunk extends Answer {
  readonly object: "chat.completion.chunk";
  readonly choices: readonly ChatChunkChoice[];
  readonly usage?: ChatUsage | null;
}

export interface ChatChunkChoice {
  readonly index: number;
  readonly delta: ChatDelta;
  readonly finish_reason: FinishReason | null;
  readonly logprobs?: unknown;
  /** Continues an answer of a vendor that has such tokens. */
  readonly continuation_token?: string;
}

export interface ChatDelta extends AnswerMembers {
  readonly role?: "assistant";
  readonly content?: string | null;
  readonly refusal?: string;
  readonly tool_calls?: readonly ChatToolCallDelta[];
}

/** Members that messages and deltas have in common. */
interface AnswerMembers {
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly ReasoningDetail[];
  readonly annotations?: readonly ChatAnnotation[];
  readonly web_searches?: readonly ChatWebSearch[];
  /** Generated images, in the forms of several vendors. */
  readonly images?: unknown;
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** A web search that the vendor made for the answer. */
export interface ChatWebSearch {
  readonly id: string;
  readonly query: string;
}

export interface ChatToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** The details are parts of `prompt_tokens` and `completion_tokens`. Tokens written to a cache and read from it are parts of the prompt. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
    /** The part of `cache_write_tokens` that is cached for an hour; the other part is cached for minutes. */
    readonly cache_write_1h_tokens?: number;
    readonly audio_tokens?: number;
    readonly image_tokens?: number;
    readonly video_tokens?: number;
  };
  readonly completion_tokens_details?: {
    readonly reasoning_tokens?: number;
    readonly audio_tokens?: number;
    readonly image_tokens?: number;
  };
  /** The vendor refused the request before any output. */
  readonly is_empty_refusal?: true;
  /** The vendor ran code and does not bill it, because it belonged to a search. */
  readonly has_free_code?: true;
  readonly [member: string]: unknown;
}
