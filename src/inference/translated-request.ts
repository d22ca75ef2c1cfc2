// Shared by the translations of Messages and Responses requests into the chat format: parts, tools, the web search, returned reasoning.

import type {
  CacheMark,
  ChatAssistantMessage,
  ChatContent,
  ChatImage,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  ChatToolCall,
  ReasoningDetail,
} from "../contract/chat-format.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";
import { type SearchDomains, toSearchFilters } from "../providers/search-domains.ts";
import { type Path, TranslationReport } from "../providers/translation-report.ts";
import type { CallerNames } from "./caller-names.ts";
import { type ExtraContent, mergeExtraContent, readEncryptedContent } from "./reasoning-state.ts";

export interface TranslatedRequest {
  readonly request: ChatRequest;
  /** Members that the chat format cannot express, by dotted names. */
  readonly dropped: readonly string[];
  readonly names: CallerNames;
}

export interface TranslationOptions {
  /** The provider that receives its own reasoning state again; null for providers of other dialects. */
  readonly origin?: string | null;
  /** The lists of domains that the provider's web search supports. */
  readonly searchDomains?: SearchDomains | undefined;
  /** Whether the provider accepts images that a model generated in the assistant's message. */
  readonly acceptsImages?: boolean;
}

export function toTranslationOptions({ name, dialect }: Provider): TranslationOptions {
  return {
    origin: dialect === null ? name : null,
    searchDomains: dialect?.chat?.searchDomains,
    acceptsImages: dialect?.chat?.acceptsGeneratedImages === true,
  };
}

/** One translation that is running. */
export class Translation {
  readonly report = new TranslationReport();
  readonly origin: string | null;
  readonly searchDomains: SearchDomains;
  readonly acceptsImages: boolean;

  constructor({ origin = null, searchDomains = new Set(), acceptsImages = false }: TranslationOptions) {
    this.origin = origin;
    this.searchDomains = searchDomains;
    this.acceptsImages = acceptsImages;
  }

  /** Members without a value are left out. Throws when the report contains problems. */
  finish(model: string, messages: readonly ChatMessage[], members: JsonObject, names: CallerNames): TranslatedRequest {
    this.report.throwProblems();
    const present = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
    return { request: { model, messages, ...Object.fromEntries(present) }, dropped: this.report.dropped, names };
  }

  /** In the chat format, options enable the web search. `path` is the location of the lists of domains. */
  toSearchOptions(lists: JsonObject, path: Path, userLocation: unknown): JsonObject {
    const { type: _, ...approximate } = (userLocation ?? {}) as JsonObject;
    return {
      ...(userLocation ? { user_location: { type: "approximate", approximate } } : {}),
      ...toSearchFilters(lists, this.searchDomains, (name) =>
        this.report.unsupported([...path, name], "This provider's web search does not support such a list of domains"),
      ),
    };
  }
}

interface Marked {
  readonly cache_control?: unknown;
}

interface DeclaredFunction extends Marked {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: JsonObject | null | undefined;
  readonly strict?: boolean | null | undefined;
}

/** `strict` is forwarded as it was sent, because the effect of adding it is unknown for most providers. */
export function toChatTool({ name, description, parameters, strict, cache_control }: DeclaredFunction): ChatTool {
  return {
    type: "function",
    function: {
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
      ...(typeof strict === "boolean" && { strict }),
    },
    ...toMarkMember({ cache_control }),
  };
}

export function toTextPart(text: string, marked: Marked = {}): ChatPart {
  return { type: "text", text, ...toMarkMember(marked) };
}

export function toMarkMember({ cache_control: value }: Marked): { cache_control?: CacheMark } {
  const mark = value as { type: string; ttl?: string | null } | null | undefined;
  if (mark === null || mark === undefined) return {};
  const { type, ttl } = mark;
  return { cache_control: typeof ttl === "string" ? { type, ttl } : { type } };
}

/** The texts of a tool result. A tool message cannot carry other content, which is added to `lifted`: it follows the results. */
export function toResultTexts(parts: readonly ChatPart[], callId: string, lifted: ChatPart[]): string[] {
  return parts.map((part) => {
    if (part.type === "text") return part.text;
    const kind = part.type === "image_url" ? "image" : "file";
    lifted.push({ type: "text", text: `The ${kind} of the result of tool call ${callId}:` }, part);
    return `(The ${kind} of this result follows after the tool results.)`;
  });
}

/** The reasoning of an assistant message: its text, and the state that its provider expects to receive again. */
export class ReturnedReasoning {
  readonly #origin: string | null;
  readonly #texts: string[] = [];
  readonly #details: ReasoningDetail[] = [];
  readonly #calls = new Map<string, ExtraContent>();
  #message: ExtraContent | null = null;

  constructor(origin: string | null) {
    this.#origin = origin;
  }

  get hasMessageState(): boolean {
    return this.#message !== null;
  }

  addText(text: string): void {
    if (text !== "") this.#texts.push(text);
  }

  addDetail(detail: ReasoningDetail): void {
    this.#details.push(detail);
  }

  /** `added`: the state belongs to this provider. `foreign`: it does not. `unknown`: the gateway did not create the text. */
  addState(encrypted: string): "added" | "foreign" | "unknown" {
    const state = readEncryptedContent(encrypted);
    if (state === null) return "unknown";
    if (state.origin !== this.#origin) return "foreign";
    this.#details.push(...state.details);
    for (const [id, extra] of state.calls) this.#calls.set(id, extra);
    if (state.message !== null) this.#message = mergeExtraContent(this.#message, state.message);
    return "added";
  }

  /** The message with its calls and images. State inside a call itself came from a provider of another dialect. */
  toMessage(
    content: ChatContent,
    calls: readonly ChatToolCall[],
    images: readonly ChatImage[] = [],
  ): ChatAssistantMessage {
    const complete = calls.map(({ extra_content: own, ...call }): ChatToolCall => {
      const extra = this.#calls.get(call.id ?? "") ?? (this.#origin === null ? own : undefined);
      return extra ? { ...call, extra_content: extra } : call;
    });
    return {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: complete }),
      ...(this.#texts.length > 0 && { reasoning_content: this.#texts.join("\n\n") }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#message !== null && { extra_content: this.#message }),
    };
  }
}
