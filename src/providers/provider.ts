// The contract of a provider. A vendor is data: one row states its address, its credentials, its models and its tasks. Shared code
// reads these properties and never branches on a vendor's name.
import type { JsonObject } from "../lib/lenient-json.ts";
import type { ErrorRule } from "./error-rules.ts";
import type { ProviderTask } from "./task.ts";

export type Modality = "text" | "image" | "audio" | "file" | "video";

/** What a vendor's documentation says of one model. A fact that it does not state is left out, never guessed. */
export interface ModelFacts {
  /** As the vendor spells it: what follows the first slash of `<provider>/<model>`. */
  readonly id: string;
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  /** Text alone when absent. */
  readonly input?: readonly Modality[];
  readonly tools?: boolean;
  readonly jsonSchema?: boolean;
  readonly reasoning?: boolean;
}

/** What a vendor's documentation says of one model that turns text into vectors. */
export interface EmbeddingModelFacts {
  readonly id: string;
  readonly dimensions?: number;
  readonly maxInputTokens?: number;
}

/**
 * What the vendor's chat endpoint takes and refuses, where that differs from the common format. It applies to requests that the
 * gateway writes itself (a translation of a Messages or Responses request); the bytes of chat callers pass as they are.
 */
export interface ChatRules {
  /** The member that limits the output; `max_tokens` when absent. */
  readonly outputLimit?: "max_tokens" | "max_completion_tokens";
  /** The levels of `reasoning_effort`, lowest first. Empty: the member is refused. Absent: passed as given. */
  readonly efforts?: readonly string[];
  /** The values of the vendor's own member `thinking`. Null or absent: it has no such member. */
  readonly thinking?: { readonly on: ChatMembers; readonly off: ChatMembers } | null;
  /** Members that the vendor refuses. They are left out and named to the caller. */
  readonly refused?: readonly string[];
  /** Members that every request carries. */
  readonly added?: ChatMembers;
  /** The member of an assistant message in which the vendor wants its reasoning back. Absent: it wants none. */
  readonly reasoningReturn?: "reasoning_content" | "reasoning_details";
  /** Sent as `reasoning_content` of a tool call that has none, because the vendor refuses the call without it. */
  readonly missingReasoning?: string;
  /** What only the vendor's Responses API does: calls of tools while reasoning, searches on the web, or everything. */
  readonly responsesOnly?: readonly ("tools" | "search" | "everything")[];
}

export type ChatMembers = Readonly<Record<string, unknown>>;

/** Rules of the models whose name fits the pattern; of all models when there is no pattern. */
export interface ModelChatRules extends ChatRules {
  readonly models?: RegExp;
}

export type Authorization =
  | { readonly kind: "bearer" }
  /**
   * `prefix` goes before the key: `Token `, `ApiKey {user}:` … `orToken`: a key that is a token of the vendor's identity service (a JWT)
   * goes as a bearer token instead.
   */
  | { readonly kind: "header"; readonly name: string; readonly prefix?: string; readonly orToken?: true }
  /** As a parameter of the address. */
  | { readonly kind: "query"; readonly name: string }
  /** As a member of the JSON body, or a field of the form. */
  | { readonly kind: "member"; readonly name: string }
  /** The key is `user:password`, or only one of them where the row states the other, which may be a `{placeholder}`. */
  | { readonly kind: "basic"; readonly user?: string; readonly password?: string }
  /** Requests are signed for `service`, or for the service of the row that they go to. `orBearer`: a key is sent as it is instead. */
  | { readonly kind: "aws-sigv4"; readonly service?: string; readonly orBearer?: true }
  /** An API key, an access token, or anything that Google's own libraries accept as credentials. */
  | { readonly kind: "google-service-account" }
  /** Servers that an operator runs: a key is sent when one is set, and none is needed. */
  | { readonly kind: "optional-bearer" }
  | { readonly kind: "none" };

/** Computes credentials for each request, or renews those that expire. */
export interface Authorizer {
  /** The headers to add. A promise only when the credentials are not ready yet. */
  authorize(request: OutgoingRequest): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** The parts of a request that a signature covers, as they are sent. */
export interface OutgoingRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export const dialectNames = [
  "openai",
  "anthropic",
  "gemini",
  "vertexai",
  "bedrock",
  "cohere",
  "ollama",
  "mistral",
  "voyage",
  "jina",
] as const;
export type DialectName = (typeof dialectNames)[number];

/** How a provider, or one of its APIs, is reached: its address and its credentials. */
export interface Access {
  readonly auth: Authorization;
  /**
   * `{placeholders}` are filled from `placeholders`. Null: there is no public address; the operator sets one, or each task names a service.
   * An address that the operator sets (`<PROVIDER>_BASE_URL`) replaces this one and those of all services.
   */
  readonly baseUrl: string | null;
  /** Addresses of a vendor that has one for each of its services. For `aws-sigv4` the name is the one that requests are signed for. */
  readonly services?: Readonly<Record<string, string>>;
  /** Placeholder → the setting that fills it, in addresses, `headers`, `query`, `members` and parts of `auth`. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Placeholders that follow from those that settings fill. */
  readonly derivedPlaceholders?: Readonly<Record<string, (filled: Readonly<Record<string, string>>) => string>>;
  /** Other names under which a setting may be found, e.g. `{ AWS_REGION: ["AWS_DEFAULT_REGION"] }`. */
  readonly settingFallbacks?: Readonly<Record<string, readonly string[]>>;
  /** Names that the vendor's own documentation uses for the key, read after `<PROVIDER>_API_KEY`. */
  readonly keyNames?: readonly string[];
  /** Settings that hold the whole address, read after `<PROVIDER>_BASE_URL`. */
  readonly addressNames?: readonly string[];
  /** Ends of an address that operators often write although our paths already have them: they are removed. */
  readonly strippedSuffix?: string | readonly string[];
  /** Another form of address and paths, used when its setting has a value; `{value}` is that value. */
  readonly otherAddressing?: {
    readonly setting: string;
    readonly baseUrl: string;
    readonly chatPath: string;
    readonly embeddingsPath: string;
    readonly responsesPath?: string;
  };
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent with every task request, as members of its JSON body or fields of its form. */
  readonly members?: Readonly<Record<string, string>>;
}

/**
 * A model API that has an address and credentials of its own beside those of the provider's tasks. Its settings are read first under
 * `name` (`GEMINI_API_KEY`, `providers.gemini`), then under the provider's name. Models can be called by either name.
 */
export interface ModelAccess extends Access {
  readonly name: string;
  /** Appended to an address that is set for the whole provider, which has no path of this API. */
  readonly basePath?: string;
  /** A key that is set for the whole provider and does not match is for tasks only. */
  readonly keyPattern?: RegExp;
}

export interface ProviderRow extends Access {
  /** The first part of a model's name, and the third part of a task model's name: lower case, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  /** Other names, for requests and settings alike. Of several providers with one name the first configured one is meant. */
  readonly aliases?: readonly string[];
  /** The page that the facts of this row come from. */
  readonly docs: string;
  /** What its errors mean where their status alone would mislead. */
  readonly errors?: readonly ErrorRule[];
  /** The same for tasks, where it takes more than a rule: another status, or undefined. */
  readonly readRefusal?: (status: number, body: JsonObject) => number | undefined;
  /** The wire format of its models; `openai`, which is our callers' own, when absent. */
  readonly dialect?: DialectName;
  /** Absent: models are called at the same address and with the same credentials as tasks. */
  readonly modelAccess?: ModelAccess;
  /** Absent: it has no chat. */
  readonly chat?: ChatApi;
  /** Absent: no embedding model is known. Whether a provider of models has the API follows from its dialect. */
  readonly embeddings?: EmbeddingsApi;
  /** Absent: the gateway translates responses to chat completions. */
  readonly responses?: ResponsesApi;
  readonly tasks?: readonly ProviderTask[];
  /**
   * Members, at any depth, that `provider_params` of a task may not hold: with the gateway's credentials they would reach data that is
   * not the caller's, such as files in the operator's own buckets.
   */
  readonly sealedParams?: readonly string[];
  /** The gateway stores its responses whatever the settings say, because it runs in this process and has no store of its own. */
  readonly keepsResponses?: true;
  /** The vendor says in its usage what an answer cost, and that is what it bills. */
  readonly billsAsStated?: true;
  /** The vendor does not bill a request that it refused before any output. */
  readonly billsNoEmptyRefusal?: true;
  /** Costs nothing, so that its cost is known to be 0. */
  readonly isFree?: true;
  /** A simulated vendor: left out of listings unless a caller asks for it. */
  readonly isSandbox?: true;
  /** Answers in this process, without a socket. Only for the sandbox. */
  readonly transport?: Transport;
}

export interface ChatApi {
  /** Appended to the address; `/chat/completions` when absent. `{model}` is the model's name. */
  readonly path?: string;
  /**
   * How usage arrives in a stream. `ask` (when absent): `stream_options.include_usage` is understood, so we always ask.
   * `always`: it comes unasked, and asking is refused or ignored. `never`: there is none.
   */
  readonly streamUsage?: "ask" | "always" | "never";
  /**
   * What ends a complete stream. `done` (when absent): the `[DONE]` event. `finish`: the vendor closes after the last
   * finish_reason and sends no `[DONE]`.
   */
  readonly streamEnd?: "done" | "finish";
  readonly models: readonly ModelFacts[];
  /** The vendor's current small general model: it performs tasks that name no model. */
  readonly defaultModel?: string;
  /** The same for tasks with images or documents, where the default model reads text alone. */
  readonly defaultVisionModel?: string;
  /** Of several entries that fit a model, a later one overrides single members of an earlier one. */
  readonly rules?: readonly ModelChatRules[];
}

export interface EmbeddingsApi {
  /** Appended to the address; `/embeddings` when absent. */
  readonly path?: string;
  readonly models?: readonly EmbeddingModelFacts[];
}

export interface ResponsesApi {
  /** `native`: the vendor stores responses, so that they can be retrieved and chained. `stateless`: the format alone. */
  readonly kind: "native" | "stateless";
  /** Appended to the address; `/responses` when absent. */
  readonly path?: string;
  /** Documented paths below the responses API, beside those that every vendor with the API has. */
  readonly paths?: readonly ("input_tokens" | "compact")[];
}

export function hasModels({ chat, embeddings }: ProviderRow): boolean {
  return chat !== undefined || embeddings !== undefined;
}

/** The names that belong to this provider alone: settings are read under these. A name that is another row's own is that row's. */
export function ownNamesOf({ name, aliases = [] }: ProviderRow, rows: readonly ProviderRow[]): readonly string[] {
  return [name, ...aliases.filter((other) => !rows.some((row) => row.name === other))];
}

/** Every name that a model of this provider may begin with. */
export function modelNamesOf({ name, aliases = [], modelAccess }: ProviderRow): readonly string[] {
  return [name, ...aliases, ...(modelAccess === undefined ? [] : [modelAccess.name])];
}

/** What the row states of one chat model; null when it does not list the model. */
export function findModelFacts({ chat }: ProviderRow, model: string): ModelFacts | null {
  return chat?.models.find(({ id }) => id === model) ?? null;
}

export type Transport = (url: string, request: TransportRequest) => Promise<Response>;

export interface TransportRequest {
  readonly method: string;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}
