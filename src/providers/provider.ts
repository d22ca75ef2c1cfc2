// The contract of a provider. A vendor is data: one row with its address, its credentials, its models and its tasks. Shared code reads these
// properties and never branches on a vendor's name.

import type { JsonObject } from "../lib/lenient-json.ts";
import type { ErrorRule } from "./error-rules.ts";
import type { ModelChooser } from "./other-models.ts";
import type { ProviderTask } from "./task.ts";

export type Modality = "text" | "image" | "audio" | "file" | "video";

/** Documented facts about a model. A fact that the vendor does not document is left out, never guessed. */
export interface ModelFacts {
  /** The vendor's name of the model, after the first slash of `<provider>/<model>`. */
  readonly id: string;
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  /** Only text when absent. */
  readonly input?: readonly Modality[];
  readonly tools?: boolean;
  readonly jsonSchema?: boolean;
  readonly reasoning?: boolean;
}

export interface EmbeddingModelFacts {
  readonly id: string;
  readonly dimensions?: number;
  readonly maxInputTokens?: number;
}

/**
 * Differences between the vendor's chat endpoint and the chat format. They apply to requests that the gateway writes itself (a translation of
 * a Messages or Responses request); chat requests are forwarded unchanged.
 */
export interface ChatRules {
  /** The member that limits the output; `max_tokens` when absent. */
  readonly outputLimit?: "max_tokens" | "max_completion_tokens";
  /** The levels of `reasoning_effort`, lowest first. Empty: the vendor refuses the member. Absent: any level is passed on. */
  readonly efforts?: readonly string[];
  /** The values of the vendor's own member `thinking`. Null or absent: the vendor has no such member. */
  readonly thinking?: { readonly on: ChatMembers; readonly off: ChatMembers } | null;
  /** Members that the vendor refuses. They are dropped, and the caller is told. */
  readonly refused?: readonly string[];
  /** Members that every request has. */
  readonly added?: ChatMembers;
  /** The member of an assistant message in which the vendor expects its reasoning back. Absent: it expects none. */
  readonly reasoningReturn?: "reasoning_content" | "reasoning_details";
  /** The `reasoning_content` of a tool call without reasoning, which the vendor would refuse. */
  readonly missingReasoning?: string;
  /** Features that only the vendor's Responses API has: tool calls while reasoning, web searches, or everything. */
  readonly responsesOnly?: readonly ("tools" | "search" | "everything")[];
}

export type ChatMembers = Readonly<Record<string, unknown>>;

/** Rules of the models that match the pattern; of all models without a pattern. */
export interface ModelChatRules extends ChatRules {
  readonly models?: RegExp;
}

export type Authorization =
  | { readonly kind: "bearer" }
  /** `prefix` precedes the key: `Token `, `ApiKey {user}:` … `orToken`: a JWT of the vendor's identity service is a bearer token instead. */
  | { readonly kind: "header"; readonly name: string; readonly prefix?: string; readonly orToken?: true }
  /** A parameter of the address. */
  | { readonly kind: "query"; readonly name: string }
  /** A member of the JSON body, or a field of the form. */
  | { readonly kind: "member"; readonly name: string }
  /** The key is `user:password`, or only the part that the row leaves out. The row's part may be a `{placeholder}`. */
  | { readonly kind: "basic"; readonly user?: string; readonly password?: string }
  /** Signed for `service`, or for the service that the request is sent to. `orBearer`: a key is a bearer token instead. */
  | { readonly kind: "aws-sigv4"; readonly service?: string; readonly orBearer?: true }
  /** An API key, an access token, or anything that Google's own libraries accept as credentials. */
  | { readonly kind: "google-service-account" }
  /** For servers of the operator: the key is optional. */
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
  ...(["openai", "anthropic", "gemini", "vertexai", "bedrock"] as const),
  ...(["cohere", "ollama", "mistral", "voyage", "jina"] as const),
];
export type DialectName = (typeof dialectNames)[number];

/** The address and the credentials of a provider, or of one of its APIs. */
export interface Access {
  /** Default: a bearer token. */
  readonly auth?: Authorization;
  /**
   * May have `{placeholders}`. Null: there is no public address; the operator sets one, or each task names a service. An address of the
   * operator (`<PROVIDER>_BASE_URL`) replaces this one and those of all services.
   */
  readonly baseUrl: string | null;
  /** The addresses of a vendor with several services, by name. For `aws-sigv4`, requests are signed for that name. */
  readonly services?: Readonly<Record<string, string>>;
  /** Placeholder → the setting that fills it, in addresses, `headers`, `query`, `members` and parts of `auth`. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Placeholders that are computed from the others. */
  readonly derivedPlaceholders?: Readonly<Record<string, (filled: Readonly<Record<string, string>>) => string>>;
  /** Other names of a setting, e.g. `{ AWS_REGION: ["AWS_DEFAULT_REGION"] }`. */
  readonly settingFallbacks?: Readonly<Record<string, readonly string[]>>;
  /** How every key of the vendor begins: `switchyard doctor` tells a key of another vendor by it. Absent: not known. */
  readonly keyPrefix?: string;
  /** The vendor's own names of the key, read after `<PROVIDER>_API_KEY`. */
  readonly keyNames?: readonly string[];
  /** Settings with the whole address, read after `<PROVIDER>_BASE_URL`. */
  readonly addressNames?: readonly string[];
  /** Endings of an address that are removed, because the paths already have them. */
  readonly strippedSuffix?: string | readonly string[];
  /** Another form of address and paths, used when its setting has a value; `{value}` is that value. */
  readonly otherAddressing?: {
    readonly setting: string;
    readonly baseUrl: string;
    readonly chatPath: string;
    readonly embeddingsPath: string;
    readonly responsesPath?: string;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Members of the JSON body, or fields of the form, of every task request. */
  readonly members?: Readonly<Record<string, string>>;
}

/**
 * A model API with its own address and credentials. Its settings are read first under `name` (`GEMINI_API_KEY`, `providers.gemini`), then under
 * the provider's name. Models can be called by either name.
 */
export interface ModelAccess extends Access {
  readonly name: string;
  /** Appended to an address of the whole provider, which lacks the path of this API. */
  readonly basePath?: string;
  /** A key of the whole provider that does not match is for tasks only. */
  readonly keyPattern?: RegExp;
}

export interface ProviderRow extends Access {
  /** The first part of a model's name, and the third part of a task model's name: lower case, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  /** Other names, for requests and settings. Of several providers with the same name, the first configured one is used. */
  readonly aliases?: readonly string[];
  /** The value of `gen_ai.provider.name` in traces, where OpenTelemetry defines another one than `name`. */
  readonly openTelemetryName?: string;
  /** The page that documents the facts of this row. */
  readonly docs: string;
  /** The meaning of errors with a misleading status. */
  readonly errors?: readonly ErrorRule[];
  /** For errors of tasks that no rule can express: the corrected status, or undefined. */
  readonly readRefusal?: (status: number, body: JsonObject) => number | undefined;
  /** The wire format of its models; `openai`, the gateway's own chat format, when absent. */
  readonly dialect?: DialectName;
  /** Absent: models and tasks have the same address and credentials. */
  readonly modelAccess?: ModelAccess;
  readonly chat?: ChatApi;
  /** Absent: no embedding model is known. The API itself may exist, depending on the dialect. */
  readonly embeddings?: EmbeddingsApi;
  /** Absent: the gateway translates responses to chat completions. */
  readonly responses?: ResponsesApi;
  readonly tasks?: readonly ProviderTask[];
  /**
   * Members that `provider_params` of a task must not have at any depth, because with the gateway's credentials they would reach data of
   * others, such as files in the operator's buckets.
   */
  readonly sealedParams?: readonly string[];
  /**
   * Members that `provider_params` of a task must not have at any depth, because they carry the model or the billed quantity: what a key
   * may use, and what a task costs, are known from its model and its input. A name that only one task reserves is declared there.
   */
  readonly billedParams?: readonly string[];
  /** Members by which a request runs models that the provider chooses. */
  readonly choosesModels?: readonly ModelChooser[];
  /** The gateway stores its responses whatever the settings are, because this provider runs in this process and has no store. */
  readonly keepsResponses?: true;
  /** The usage contains the cost that the vendor bills. */
  readonly billsAsStated?: true;
  /** The vendor does not bill a request that it refused before any output. */
  readonly billsNoEmptyRefusal?: true;
  /** The cost is known to be 0. */
  readonly isFree?: true;
  /** A simulated vendor: listed only on request. */
  readonly isSandbox?: true;
  /** Answers in this process, without a socket. Only for the sandbox. */
  readonly transport?: Transport;
}

export function defineProvider(name: string, title: string, row: Omit<ProviderRow, "name" | "title">): ProviderRow {
  return { name, title, ...row };
}

export interface ChatApi {
  /** Appended to the address; `/chat/completions` when absent. `{model}` is the model's name. */
  readonly path?: string;
  /**
   * `ask` (default): streams have usage if `stream_options.include_usage` is set, so the gateway always sets it. `always`: streams have usage
   * anyway, and the vendor refuses or ignores the member. `never`: streams have no usage.
   */
  readonly streamUsage?: "ask" | "always" | "never";
  /** `done` (default): a stream ends with `[DONE]`. `finish`: it ends after the last finish_reason, without `[DONE]`. */
  readonly streamEnd?: "done" | "finish";
  readonly models: readonly ModelFacts[];
  /** The vendor's current small general model, for tasks without a model. */
  readonly defaultModel?: string;
  /** For tasks with images or documents, if the default model reads only text. */
  readonly defaultVisionModel?: string;
  /** If several entries match a model, members of later ones take precedence. */
  readonly rules?: readonly ModelChatRules[];
}

export interface EmbeddingsApi {
  /** Appended to the address; `/embeddings` when absent. */
  readonly path?: string;
  readonly models?: readonly EmbeddingModelFacts[];
}

export interface ResponsesApi {
  /** `native`: the vendor stores responses, so that they can be retrieved and chained. `stateless`: it stores none. */
  readonly kind: "native" | "stateless";
  /** Appended to the address; `/responses` when absent. */
  readonly path?: string;
  /** Further paths of the API that the vendor documents. */
  readonly paths?: readonly ("input_tokens" | "compact")[];
}

export function hasModels({ chat, embeddings }: ProviderRow): boolean {
  return chat !== undefined || embeddings !== undefined;
}

/** The names under which settings are read: all except the names of other rows. */
export function ownNamesOf({ name, aliases = [] }: ProviderRow, rows: readonly ProviderRow[]): readonly string[] {
  return [name, ...aliases.filter((other) => !rows.some((row) => row.name === other))];
}

/** The names before the slash of a model of this provider. */
export function modelNamesOf({ name, aliases = [], modelAccess }: ProviderRow): readonly string[] {
  return [name, ...aliases, ...(modelAccess === undefined ? [] : [modelAccess.name])];
}

/** Null when the row does not list the chat model. */
export function findModelFacts({ chat }: ProviderRow, model: string): ModelFacts | null {
  return chat?.models.find(({ id }) => id === model) ?? null;
}

export type Transport = (url: string, request: TransportRequest) => Promise<Response>;

export interface TransportRequest {
  readonly method: string;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}
