// Translates a chat completion into a response. The stream writer also uses the exported parts: items, ids, usage, status.

import type { z } from "zod";
import type {
  ChatAnnotation,
  ChatChoice,
  ChatCompletion,
  ChatUsage,
  ChatWebSearch,
} from "../../contract/chat-format.ts";
import type { responseObject } from "../../contract/responses.ts";
import { asArguments } from "../../providers/lenient.ts";
import {
  readCount,
  readDetailText,
  readImages,
  readReasoningText,
  readSources,
  readText,
  readTokenCounts,
  toReasoningState,
} from "../chat-answer.ts";
import { type ReasoningState, toEncryptedContent } from "../reasoning-state.ts";
import type { ToolName, ToolNames } from "./tool-names.ts";

export type ResponseResource = { readonly output: readonly OutputItem[] } & z.infer<typeof responseObject>;
export type OutputItem = MessageItem | FunctionCallItem | ReasoningItem | ImageItem | WebSearchItem;
type ItemStatus = "in_progress" | "completed" | "incomplete";

export type MessageItem = {
  readonly id: string;
  readonly type: "message";
  status: ItemStatus;
  readonly role: "assistant";
  readonly content: OutputPart[];
};

export type OutputPart = TextPart | { readonly type: "refusal"; refusal: string };

export type TextPart = {
  readonly type: "output_text";
  text: string;
  readonly annotations: Annotation[];
  readonly logprobs: Logprob[];
};

export type FunctionCallItem = ToolName & {
  readonly id: string;
  readonly type: "function_call";
  status: ItemStatus;
  readonly call_id: string;
  arguments: string;
};

export type ReasoningItem = {
  readonly id: string;
  readonly type: "reasoning";
  status: ItemStatus;
  readonly summary: { readonly type: "summary_text"; text: string }[];
  encrypted_content?: string;
};

type WebSearchItem = ReturnType<typeof toSearchItems>[number];
type ImageItem = ReturnType<typeof toImageItems>[number];
export type Annotation = ReturnType<typeof toAnnotations>[number];
export type Logprob = ReturnType<typeof readLogprobs>[number];

export interface OutputContext {
  /** The ids of all calls in the conversation. */
  readonly takenCallIds?: readonly string[];
  readonly toolNames?: ToolNames;
  /** The provider that the reasoning state belongs to; null for providers of other dialects. */
  readonly origin?: string | null;
}

export function toResponse(
  draft: ResponseResource,
  completion: ChatCompletion,
  context: OutputContext = {},
): ResponseResource {
  const choice = completion.choices[0];
  const ending = toEnding(choice?.finish_reason ?? null);
  // Some providers omit the message when a filter has removed it.
  const output = choice?.message ? toOutput(choice, context) : [];
  if (lacksText(output) && ending.status === "completed") output.push(createMessage("completed", [createText("")]));
  const last = output.at(-1);
  if (ending.status === "incomplete" && last !== undefined && mayBeIncomplete(last)) last.status = "incomplete";
  return {
    ...draft,
    ...ending,
    completed_at: ending.status === "completed" ? nowInSeconds() : null,
    model: completion.model || draft.model,
    output: output.map((item, index) => ({ ...item, id: toItemId(item.id, draft.id, index) })),
    usage: toResponseUsage(completion.usage),
    service_tier: toServiceTier(completion.service_tier) ?? "default",
  };
}

/** In the order in which models generate: reasoning, then text, then calls. */
function toOutput(
  { message, logprobs }: ChatChoice,
  { takenCallIds = [], toolNames, origin = null }: OutputContext,
): OutputItem[] {
  const output: OutputItem[] = [];
  const callIds = new CallIds(takenCallIds);
  const calls = (message.tool_calls ?? []).map(({ id, function: called, extra_content: extra }) => {
    const item = createCall("completed", {
      call_id: callIds.take(id),
      ...toToolName(called?.name ?? "", toolNames),
      arguments: asArguments(called?.arguments),
    });
    return { item, id: item.call_id, extra };
  });
  const state = toReasoningState(message, calls, origin);
  const thoughts = toThoughts(message);
  const beginsWithReasoning = thoughts.length > 0 || state.details.length > 0 || state.calls.size > 0;
  if (beginsWithReasoning) output.push(createReasoning("completed", thoughts, state));
  output.push(...toSearchItems(message.web_searches));
  const parts = toOutputParts(message, logprobs);
  if (parts.length > 0) output.push(createMessage("completed", parts));
  output.push(...toImageItems(message.images), ...calls.map(({ item }) => item));
  if (!beginsWithReasoning && state.message !== null) output.push(createReasoning("completed", [], state));
  return output;
}

/** One text for each signed block, or a single text. */
function toThoughts(message: ChatChoice["message"]): string[] {
  const blocks = (message.reasoning_details ?? []).map(readDetailText).filter((text) => text !== "");
  if (blocks.length > 0) return blocks;
  const text = readReasoningText(message);
  return text === "" ? [] : [text];
}

function toOutputParts(message: ChatChoice["message"], logprobs: unknown): OutputPart[] {
  const parts: OutputPart[] = [];
  const text = readText(message.content);
  const annotations = toAnnotations(message.annotations);
  if (text !== "" || annotations.length > 0)
    parts.push({ type: "output_text", text, annotations, logprobs: readLogprobs(logprobs) });
  if (message.refusal) parts.push({ type: "refusal", refusal: message.refusal });
  return parts;
}

/** Clients expect a text in every complete answer without calls. */
export function lacksText(output: readonly OutputItem[]): boolean {
  return output.every(({ type }) => type === "reasoning" || type === "web_search_call");
}

/** Items of the provider's own tools are always complete. */
export function mayBeIncomplete(item: OutputItem): item is Exclude<OutputItem, ImageItem | WebSearchItem> {
  return item.type !== "image_generation_call" && item.type !== "web_search_call";
}

export function toSearchItems(searches: readonly ChatWebSearch[] | undefined) {
  return (searches ?? []).map(({ query }) => ({
    id: createId("ws"),
    type: "web_search_call" as const,
    status: "completed" as const,
    action: { type: "search", query, queries: [query] },
  }));
}

export function createMessage(status: ItemStatus, content: OutputPart[]): MessageItem {
  return { id: createId("msg"), type: "message", status, role: "assistant", content };
}

export function createText(text: string): OutputPart & { readonly type: "output_text" } {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function createCall(
  status: ItemStatus,
  call: ToolName & Pick<FunctionCallItem, "call_id" | "arguments">,
): FunctionCallItem {
  return { id: createId("fc"), type: "function_call", status, ...call };
}

/** The caller's name for a function of the provider. */
export function toToolName(name: string, names: ToolNames | undefined): ToolName {
  return names?.get(name) ?? { name };
}

/**
 * The text of the reasoning becomes its summary, because both published descriptions of the format have events for a summary. The reasoning
 * state is always included, as the types of npm's openai 7.53.0 describe: without storage, nothing else carries it to the next turn.
 */
export function createReasoning(
  status: ItemStatus,
  texts: readonly string[] = [],
  state: ReasoningState | null = null,
): ReasoningItem {
  return {
    id: createId("rs"),
    type: "reasoning",
    status,
    summary: texts.map((text) => ({ type: "summary_text", text })),
    ...(state !== null && { encrypted_content: toEncryptedContent(state) }),
  };
}

const dataOfImage = /^data:(?:image\/([a-z0-9.+-]+))?[^,]*,/;

/**
 * Generated images that the answer contains; images behind an address are left out. Clients send the items back unchanged, and the
 * format and the provider's state return with them.
 */
export function toImageItems(images: unknown) {
  return readImages(images).flatMap(({ image_url: { url }, extra_content }) => {
    const [head, output_format] = dataOfImage.exec(url) ?? [];
    if (head === undefined) return [];
    const item = { id: createId("ig"), type: "image_generation_call", status: "completed" } as const;
    const result = url.slice(head.length);
    return [{ ...item, result, ...(output_format && { output_format }), ...(extra_content && { extra_content }) }];
  });
}

export function toAnnotations(annotations: readonly ChatAnnotation[] | null | undefined) {
  return readSources(annotations).map(({ url, title, start_index, end_index }) => ({
    type: "url_citation" as const,
    url,
    title,
    start_index: readCount(start_index),
    end_index: readCount(end_index),
  }));
}

const encoder = new TextEncoder();

export function readLogprobs(logprobs: unknown) {
  const content = (logprobs as { readonly content?: unknown } | null | undefined)?.content;
  if (!Array.isArray(content)) return [];
  return content.flatMap((entry) =>
    toTokens([entry]).map((token) => ({ ...token, top_logprobs: toTokens(entry.top_logprobs) })),
  );
}

function toTokens(entries: unknown): { token: string; logprob: number; bytes: number[] }[] {
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) => {
    if (typeof entry?.token !== "string" || typeof entry.logprob !== "number") return [];
    const bytes: number[] = Array.isArray(entry.bytes) ? entry.bytes : [...encoder.encode(entry.token)];
    return [{ token: entry.token as string, logprob: entry.logprob as number, bytes }];
  });
}

const serviceTiers: ReadonlySet<unknown> = new Set(["auto", "default", "flex", "scale", "priority"]);

/** Clients of this format do not know the tiers of other vendors. */
export function toServiceTier(tier: unknown): string | null {
  return serviceTiers.has(tier) ? (tier as string) : null;
}

export function toEnding(finishReason: string | null): Pick<ResponseResource, "status" | "incomplete_details"> {
  const reason = finishReason === "length" ? "max_output_tokens" : finishReason;
  if (reason !== "max_output_tokens" && reason !== "content_filter")
    return { status: "completed", incomplete_details: null };
  return { status: "incomplete", incomplete_details: { reason } };
}

/** Null when the provider reported no usage. */
export function toResponseUsage(usage: ChatUsage | null | undefined) {
  if (!usage) return null;
  const { input, cached, written, output, reasoning } = readTokenCounts(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: input + output,
  };
}

/** Clients identify calls by their ids in the whole conversation, so a missing or repeated id is replaced. */
export class CallIds {
  readonly #taken: Set<string>;

  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken);
  }

  take(id: string | null | undefined): string {
    const own = id && !this.#taken.has(id) ? id : createId("call");
    this.#taken.add(own);
    return own;
  }
}

export function takenCallIds(items: readonly Readonly<Record<string, unknown>>[]): string[] {
  return items.flatMap(({ call_id: id }) => (typeof id === "string" ? [id] : []));
}

/** The id of an item contains the id of its response, so that a reference to the item can be resolved. */
export function toItemId(id: string, responseId: string, index: number): string {
  const kind = id.slice(0, id.indexOf("_"));
  return `${kind}_${responseId.slice(responseId.indexOf("_") + 1)}${index.toString(16).padStart(2, "0")}`;
}

/** Null when the gateway did not create the id. */
export function responseIdOf(itemId: unknown): string | null {
  const [, hex] = typeof itemId === "string" ? (/^[a-z]+_([0-9a-f]{48})[0-9a-f]{2,}$/.exec(itemId) ?? []) : [];
  return hex === undefined ? null : `resp_${hex}`;
}

export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}

export function createId(kind: string): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "")}`;
}
