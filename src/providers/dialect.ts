// The contract of a dialect: pure functions and data that translate between the chat format and another wire format. Other code sends, fetches,
// times, retries and counts.

import type { ChatChunk, ChatCompletion, ChatRequest, ChatUsage } from "../contract/chat-format.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { ModelFacts } from "./provider.ts";
import type { SearchDomains } from "./search-domains.ts";

export type { JsonObject };

export interface Dialect {
  readonly name: string;
  /**
   * The one spelling of a model that the vendor accepts in several: the gateway sends it, and limits, prices, the ledger and all else see
   * no other. Also for patterns, in which `*` stands for any text. Absent: the vendor has one.
   */
  readonly toModelName?: (model: string) => string;
  readonly chat?: ChatDialect;
  readonly embeddings?: EmbeddingsDialect;
  /** Set for vendors of Anthropic's Messages format: requests in that format are forwarded unchanged. */
  readonly messages?: MessagesPassthrough;
}

export interface MessagesPassthrough {
  readonly path: string;
  readonly countPath: string;
  /** Usage in the chat format. `blocks`: the content, or its blocks of tools. `isEmptyRefusal`: the vendor refused before any output. */
  readUsage(usage: JsonObject, blocks: readonly JsonObject[], isEmptyRefusal: boolean): ChatUsage;
}

export interface ChatDialect {
  /** The rule for each parameter of the chat format. Parameters without a rule are dropped. */
  readonly parameters: ParameterTable;
  /**
   * Whether the gateway fetches images and sends them as data URLs, because the vendor requires bytes. Files are always fetched, except for
   * addresses that a function leaves to the vendor.
   */
  readonly fetchesMedia: boolean | ((url: string) => boolean);
  readonly framing: "event-stream" | "json-lines" | "aws-event-stream";
  /** Whether the id may belong to a file at the vendor. Absent: the vendor has no files. */
  readonly knowsFile?: (id: string) => boolean;
  /** The lists of domains that its web search accepts, in `web_search_options.filters`; absent: none. */
  readonly searchDomains?: SearchDomains;
  /** Models get images that they generated back in the `images` of the assistant's message, so that they can change them. */
  readonly acceptsGeneratedImages?: true;
  /** It sends the `detail` of images, or names it as dropped. The `detail` is reported as dropped for any other dialect. */
  readonly readsImageDetail?: true;
  /** Its answers look like the chat format and still need a translation. */
  readonly readsChatFormat?: true;
  toRequest(request: ChatRequest, target: Target): DialectRequest;
  /** Throws an ErrorInAnswer when the answer reports a failure, a TypeError when it is not an answer. */
  fromAnswer(answer: JsonObject, reading: Reading): ChatCompletion;
  createStreamReader(reading: Reading): ChatStreamReader;
  /** Set for vendors that count the tokens of a request. */
  readonly counting?: TokenCounting;
  /** The meaning of an error whose status is misleading. */
  readonly readRefusal?: (status: number, body: JsonObject) => Refusal;
}

export interface TokenCounting {
  toRequest(request: ChatRequest, target: Target): Pick<DialectRequest, "path" | "body">;
  /** Throws a TypeError when the answer has no count. */
  fromAnswer(answer: JsonObject): number;
}

/**
 * `mapped`: the vendor supports it. `dropped`: the vendor does not, and the caller is told. `refused`: the vendor does not, and an answer
 * without it would be useless. `parallel`: the gateway makes several calls (only `n`).
 */
export type ParameterRule = "mapped" | "dropped" | "refused" | "parallel";
export type ParameterTable = Readonly<Record<string, ParameterRule>>;

export interface Target {
  /** The vendor's name of the model. */
  readonly model: string;
  readonly facts: ModelFacts | null;
  readonly isStream: boolean;
}

export interface DialectRequest {
  /** Appended to the provider's address. */
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further parameters that could not be expressed, as dotted paths. */
  readonly dropped?: readonly string[];
  /** For the reader of the answer. */
  readonly reading: Reading;
}

/** Facts about a request that the reader of its answer needs. */
export interface Reading {
  readonly model: string;
  /** The tool whose arguments are the structured answer. Null: the answer is not structured through a tool. */
  readonly answerTool: string | null;
  /** The requested service tier, if it has its own price and answers do not contain it. */
  readonly serviceTier?: string | null;
}

export interface ChatStreamReader {
  /**
   * The chunks of one event, usually one. Usage is sent once, as a chunk without choices. Unknown events are skipped. Throws an
   * ErrorInAnswer when the event reports a failure.
   */
  read(event: ProviderEvent): readonly ChatChunk[];
  /** Whether the vendor has marked the end. A stream that closes before was cut off. */
  readonly isComplete: boolean;
  /** For a stream that is abandoned before its end. */
  readonly usageSoFar?: ChatUsage | null;
}

export interface ProviderEvent {
  /** Empty when the framing has no names. */
  readonly name: string;
  readonly value: JsonObject;
}

export interface Refusal {
  /** The status that the error should have. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

/** A failure that the provider reports within an answer of status 200. */
export class ErrorInAnswer extends Error {
  /** The status that the error should have, if it is known. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.name = "ErrorInAnswer";
    this.status = status;
  }
}

export interface EmbeddingsDialect {
  readonly parameters: ParameterTable;
  /** Per call; more inputs are sent in several calls. */
  readonly maxInputs: number | ((model: string) => number);
  toRequest(request: EmbeddingsRequest, target: Target): Omit<DialectRequest, "reading">;
  fromAnswer(answer: JsonObject): EmbeddingsAnswer;
}

export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number | null;
  readonly user?: string | null;
  /** `search_query`, `search_document` …: the purpose of the text. */
  readonly input_type?: string | null;
  readonly [member: string]: unknown;
}

export interface EmbeddingsAnswer {
  readonly vectors: readonly (readonly number[])[];
  readonly model: string | null;
  readonly inputTokens: number | null;
}
