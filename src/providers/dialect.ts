// The contract of a dialect: how a wire format that is not our callers' is spoken. Pure functions and data, both ways;
// what is sent, fetched, timed, retried and counted is decided elsewhere.

import type { ChatChunk, ChatCompletion, ChatRequest, ChatUsage } from "../contract/chat-format.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { ModelFacts } from "./provider.ts";
import type { SearchDomains } from "./search-domains.ts";

export type { JsonObject };

export interface Dialect {
  readonly name: string;
  readonly chat?: ChatDialect;
  readonly embeddings?: EmbeddingsDialect;
  /** Set when the vendor speaks Anthropic's Messages format itself, so that such a caller's bytes can pass as they are. */
  readonly messages?: MessagesPassing;
}

export interface MessagesPassing {
  readonly path: string;
  readonly countPath: string;
  /** Usage in the words of the chat format. `isEmptyRefusal`: the request was refused before any output. */
  readUsage(usage: JsonObject, isEmptyRefusal: boolean): ChatUsage;
}

export interface ChatDialect {
  /** What becomes of each parameter of the chat format. What is not named here is dropped. */
  readonly parameters: ParameterTable;
  /**
   * Whether addresses of images are fetched by us and handed on as data URLs, because the vendor wants bytes. Those of files
   * are, unless a function says of an address that only the vendor can read it.
   */
  readonly fetchesMedia: boolean | ((url: string) => boolean);
  /** How the events of a stream are framed. */
  readonly framing: "event-stream" | "json-lines" | "aws-event-stream";
  /** Whether an id may name a file that the vendor has; absent: no request can name one. */
  readonly knowsFile?: (id: string) => boolean;
  /** Lists of domains that its web search takes, in `web_search_options.filters`; absent: none. */
  readonly searchDomains?: SearchDomains;
  /** Its answers look like those of the chat format and have to be read all the same. */
  readonly readsChatFormat?: true;
  toRequest(request: ChatRequest, target: Target): DialectRequest;
  /** The whole answer. Throws an ErrorInAnswer when it says that it failed, a TypeError when it is no answer at all. */
  fromAnswer(answer: JsonObject, reading: Reading): ChatCompletion;
  createStreamReader(reading: Reading): ChatStreamReader;
  /** How the vendor itself counts the tokens of a request; absent where it does not. */
  readonly counting?: TokenCounting;
  /** What a refusal means where the status alone would mislead. */
  readonly readRefusal?: (status: number, body: JsonObject) => Refusal;
}

export interface TokenCounting {
  toRequest(request: ChatRequest, target: Target): Pick<DialectRequest, "path" | "body">;
  /** Throws a TypeError when it is no count. */
  fromAnswer(answer: JsonObject): number;
}

/**
 * `mapped`: has a place in the vendor's format. `dropped`: has none, and is named to the caller. `refused`: has none, and an
 * answer without it would not be what was asked for. `parallel`: the gateway makes several calls (only `n`).
 */
export type ParameterRule = "mapped" | "dropped" | "refused" | "parallel";
export type ParameterTable = Readonly<Record<string, ParameterRule>>;

/** Whom a request is for. */
export interface Target {
  /** As the vendor spells it. */
  readonly model: string;
  readonly facts: ModelFacts | null;
  readonly isStream: boolean;
}

export interface DialectRequest {
  /** Appended to the provider's address. */
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters of this request that found no place, beside those that the table drops. Dotted paths. */
  readonly dropped?: readonly string[];
  /** Given back to what reads the answer. */
  readonly reading: Reading;
}

/** What the reader of an answer has to know of its request. */
export interface Reading {
  readonly model: string;
  /** The tool through which a structured answer was forced, whose arguments are the answer; null when none was. */
  readonly answerTool: string | null;
  /** A tier of service with a price of its own that was asked for; absent when none was, or when every answer names its tier. */
  readonly serviceTier?: string | null;
}

export interface ChatStreamReader {
  /**
   * The chunks that come of one event, usually one. Usage comes once, as a chunk with empty choices. Unknown events are
   * passed by. Throws an ErrorInAnswer when the event says that the provider failed.
   */
  read(event: ProviderEvent): readonly ChatChunk[];
  /** Whether the vendor's own mark of the end has come: a stream that closes before it was cut. */
  readonly isComplete: boolean;
  /** What has been counted so far, for a stream that is given up before its end. */
  readonly usageSoFar?: ChatUsage | null;
}

export interface ProviderEvent {
  /** The event's name where the framing has one, else "". */
  readonly name: string;
  readonly value: JsonObject;
}

export interface Refusal {
  /** The status that it should have had. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

/** A provider that fails inside an answer which began as a good one. */
export class ErrorInAnswer extends Error {
  /** The status that it would have had, if that is known. */
  readonly status: number | null;

  constructor(message: string, status: number | null) {
    super(message);
    this.name = "ErrorInAnswer";
    this.status = status;
  }
}

/** Embeddings: the caller's format is OpenAI's. */
export interface EmbeddingsDialect {
  readonly parameters: ParameterTable;
  /** How many inputs one call of the vendor takes; more are sent as several calls. */
  readonly maxInputs: number | ((model: string) => number);
  toRequest(request: EmbeddingsRequest, target: Target): Omit<DialectRequest, "reading">;
  fromAnswer(answer: JsonObject): EmbeddingsAnswer;
}

export interface EmbeddingsRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number | null;
  readonly user?: string | null;
  /** `search_query`, `search_document` …: what some vendors want to know. */
  readonly input_type?: string | null;
  readonly [member: string]: unknown;
}

export interface EmbeddingsAnswer {
  readonly vectors: readonly (readonly number[])[];
  readonly model: string | null;
  /** Null when the vendor does not say. */
  readonly inputTokens: number | null;
}
