// Every operation of this version, in the order in which the readable page shows them.

import { z } from "zod";
import { chatCompletion, chatCompletionChunk, chatCompletionRequest } from "../../contract/chat-completions.ts";
import { embeddingsAnswer, embeddingsRequest } from "../../contract/embeddings.ts";
import { deletedFiles, deleteFilesRequest, fileList, fileObject, uploadRequest } from "../../contract/files.ts";
import { feature, featureList, subfeature, subfeatureDetail, taskModel, taskPricing } from "../../contract/info.ts";
import {
  createKeyRequest,
  deletedKey,
  keyKinds,
  keyList,
  keyObject,
  keyWithSecret,
  rotateKeyRequest,
  updateKeyRequest,
} from "../../contract/keys.ts";
import {
  countTokensRequest,
  messagesAnswer,
  messagesError,
  messagesRequest,
  tokenCount,
} from "../../contract/messages.ts";
import { model, modelCapabilities, modelDetail, modelList, modelPricing } from "../../contract/models.ts";
import { providerState, providerStates } from "../../contract/providers.ts";
import {
  deletedResponse,
  inputItemList,
  responseEvent,
  responseId,
  responseObject,
  responseRequest,
} from "../../contract/responses.ts";
import { universalAiAnswer, universalAiRequest } from "../../contract/universal-ai.ts";
import type { ErrorCode } from "../../errors.ts";
import { errorAnswer, errorObject, validationErrorAnswer, validationProblem } from "./error-answers.ts";
import type { Operation, OperationResponse, Parameter } from "./operation.ts";

/** Schemas that become components of the document; the others are written where they are used. */
export const namedSchemas: Readonly<Record<string, z.ZodType>> = {
  ChatCompletionRequest: chatCompletionRequest,
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chatCompletionChunk,
  MessagesRequest: messagesRequest,
  Message: messagesAnswer,
  MessagesError: messagesError,
  CountTokensRequest: countTokensRequest,
  TokenCount: tokenCount,
  ResponseRequest: responseRequest,
  Response: responseObject,
  ResponseEvent: responseEvent,
  DeletedResponse: deletedResponse,
  InputItemList: inputItemList,
  UniversalAiRequest: universalAiRequest,
  TaskAnswer: universalAiAnswer,
  UploadRequest: uploadRequest,
  DeleteFilesRequest: deleteFilesRequest,
  File: fileObject,
  FileList: fileList,
  DeletedFiles: deletedFiles,
  EmbeddingsRequest: embeddingsRequest,
  Embeddings: embeddingsAnswer,
  Model: model,
  ModelDetail: modelDetail,
  ModelCapabilities: modelCapabilities,
  ModelPricing: modelPricing,
  ModelList: modelList,
  Feature: feature,
  FeatureList: featureList,
  Subfeature: subfeature,
  SubfeatureDetail: subfeatureDetail,
  TaskModel: taskModel,
  TaskPricing: taskPricing,
  CreateKeyRequest: createKeyRequest,
  UpdateKeyRequest: updateKeyRequest,
  RotateKeyRequest: rotateKeyRequest,
  Key: keyObject,
  KeyWithSecret: keyWithSecret,
  KeyList: keyList,
  DeletedKey: deletedKey,
  Provider: providerState,
  ProviderList: providerStates,
  ErrorObject: errorObject,
  Error: errorAnswer,
  ValidationError: validationErrorAnswer,
  ValidationProblem: validationProblem,
};

export const errorSchemas = { plain: errorAnswer, validation: validationErrorAnswer };

const always = [
  "malformed_request",
  "expectation_failed",
  "headers_too_large",
  "too_many_headers",
  "internal_error",
] as const;

const withKey = [
  ...always,
  "missing_api_key",
  "invalid_auth_scheme",
  "invalid_api_key",
  "api_key_expired",
  "api_key_revoked",
  "insufficient_credits",
  "insufficient_scope",
  "too_many_auth_failures",
  "rate_limit_exceeded",
  "overloaded",
  "dependency_unavailable",
] as const;

const withBody = [
  "invalid_utf8",
  "request_timeout",
  "payload_too_large",
  "unsupported_media_type",
  "unsupported_charset",
  "unsupported_content_encoding",
  "invalid_request",
] as const;

const chatErrors: readonly ErrorCode[] = [
  ...withKey,
  ...withBody,
  "provider_rejected_request",
  "model_not_allowed",
  "provider_not_found",
  "model_not_found",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_not_configured",
  "provider_unavailable",
  "provider_timeout",
];

const keptResponseErrors: readonly ErrorCode[] = [
  ...withKey,
  "invalid_request",
  "response_not_found",
  "response_not_stored",
  "provider_rejected_request",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_not_configured",
  "provider_timeout",
];

const oneKeyErrors: readonly ErrorCode[] = [...withKey, "invalid_request", "key_not_found"];

const include: Parameter = {
  name: "include",
  in: "query",
  description: "`unconfigured` also shows what the gateway knows and cannot call, marked `configured: false`.",
  schema: z.literal("unconfigured"),
};

const ifNoneMatch: Parameter = {
  name: "if-none-match",
  in: "header",
  description: "Entity tags that the client holds. When one of them still stands, the answer is 304 without a body.",
  schema: z.string(),
};

const keyId: Parameter = { name: "key_id", in: "path", description: "The key's id.", schema: z.guid() };

const responseIdParameter: Parameter = {
  name: "response_id",
  in: "path",
  description: "The response's id.",
  schema: responseId,
};

const health = z.object({ status: z.literal("ok") });

const notModified: OperationResponse = {
  status: 304,
  description: "The client's copy still stands.",
  headers: ["etag", "cache-control"],
};

function listed(description: string, schema: z.ZodType): readonly OperationResponse[] {
  return [{ status: 200, description, schema, headers: ["etag", "cache-control"] }, notModified];
}

const chat = {
  method: "POST",
  tag: "Chat",
  key: "inference",
  request: chatCompletionRequest,
  responses: [
    { status: 200, description: "The completion.", schema: chatCompletion },
    {
      status: 200,
      description:
        "With `stream: true`, server-sent events: each `data:` line holds one chunk, and `data: [DONE]` ends a complete " +
        "stream. A stream that ends without it was cut off.",
      schema: chatCompletionChunk,
      contentType: "text/event-stream",
    },
  ],
  errors: chatErrors,
} as const satisfies Partial<Operation>;

export const operations: readonly Operation[] = [
  {
    ...chat,
    id: "createChatCompletion",
    path: "/v3/chat/completions",
    summary: "Create a chat completion",
    description:
      "Sends a conversation to a model and answers with its reply. Members that are not listed here are accepted and " +
      "forwarded to the provider untouched.",
  },
  {
    ...chat,
    id: "createLlmChatCompletion",
    path: "/v3/llm/chat/completions",
    summary: "Create a chat completion (alias)",
    description: "Another path to the same operation as `/v3/chat/completions`.",
  },
  {
    id: "createMessage",
    method: "POST",
    path: "/v3/v1/messages",
    summary: "Create a message",
    description:
      "Anthropic's Messages format in front of every model, for clients that speak it. A provider of that format gets the " +
      "request as it came; for others it is translated. The key may also come in the header `x-api-key`. Errors have " +
      "the form of that format: `MessagesError`.",
    tag: "Chat",
    key: "inference",
    request: messagesRequest,
    responses: [
      { status: 200, description: "The message.", schema: messagesAnswer },
      {
        status: 200,
        description:
          "With `stream: true`, server-sent events from `message_start` to `message_stop`. A stream that ends without the " +
          "latter was cut off, and its last event is `error`.",
        schema: z.looseObject({ type: z.string() }),
        contentType: "text/event-stream",
      },
    ],
    errors: chatErrors,
    errorSchema: messagesError,
  },
  {
    id: "countMessageTokens",
    method: "POST",
    path: "/v3/v1/messages/count_tokens",
    summary: "Count the tokens of a message",
    description: "Asks the provider where it can count; else the count is an estimate, and says so.",
    tag: "Chat",
    key: "inference",
    request: countTokensRequest,
    responses: [{ status: 200, description: "The count.", schema: tokenCount }],
    errors: chatErrors,
    errorSchema: messagesError,
  },
  {
    id: "createResponse",
    method: "POST",
    path: "/v3/responses",
    summary: "Create a response",
    description:
      "The stateful alternative to chat. A provider that has this API itself gets the request as it came, with our ids " +
      "exchanged for its own; for others the request is translated to a chat completion and nothing is kept, unless the " +
      "operator lets the gateway keep conversations. The same path takes WebSockets: send `response.create` messages, " +
      "receive the events.",
    tag: "Responses",
    key: "inference",
    request: responseRequest,
    responses: [
      { status: 200, description: "The response.", schema: responseObject },
      {
        status: 200,
        description:
          "With `stream: true`, server-sent events; `data: [DONE]` ends a complete stream. One that breaks off ends with " +
          "`error` and `response.failed` instead.",
        schema: responseEvent,
        contentType: "text/event-stream",
      },
    ],
    errors: [
      ...chatErrors,
      "previous_response_not_found",
      "previous_response_provider_mismatch",
      "stateful_not_supported",
    ],
  },
  {
    id: "retrieveResponse",
    method: "GET",
    path: "/v3/responses/{response_id}",
    summary: "Retrieve a response",
    tag: "Responses",
    key: "inference",
    parameters: [
      responseIdParameter,
      { name: "include", in: "query", description: "More members, where the provider has them.", schema: z.string() },
      { name: "stream", in: "query", description: "`true`: as events, where the provider can.", schema: z.boolean() },
      {
        name: "starting_after",
        in: "query",
        description: "With `stream`: only events after this sequence number.",
        schema: z.int(),
      },
    ],
    responses: [{ status: 200, description: "The response.", schema: responseObject }],
    errors: keptResponseErrors,
  },
  {
    id: "deleteResponse",
    method: "DELETE",
    path: "/v3/responses/{response_id}",
    summary: "Delete a response",
    tag: "Responses",
    key: "inference",
    parameters: [responseIdParameter],
    responses: [{ status: 200, description: "It is deleted, also at the provider.", schema: deletedResponse }],
    errors: keptResponseErrors,
  },
  {
    id: "cancelResponse",
    method: "POST",
    path: "/v3/responses/{response_id}/cancel",
    summary: "Cancel a response that runs in the background",
    tag: "Responses",
    key: "inference",
    parameters: [responseIdParameter],
    responses: [{ status: 200, description: "The response as it is now.", schema: responseObject }],
    errors: [...keptResponseErrors, "stateful_not_supported"],
  },
  {
    id: "listResponseInputItems",
    method: "GET",
    path: "/v3/responses/{response_id}/input_items",
    summary: "List the input of a response",
    tag: "Responses",
    key: "inference",
    parameters: [
      responseIdParameter,
      { name: "limit", in: "query", description: "Items on a page.", schema: z.int().min(1).max(100).default(20) },
      { name: "order", in: "query", description: "`desc` by default.", schema: z.enum(["asc", "desc"]) },
      { name: "after", in: "query", description: "The id of the last item of the page before.", schema: z.string() },
    ],
    responses: [{ status: 200, description: "A page of items.", schema: inputItemList }],
    errors: keptResponseErrors,
  },
  {
    id: "runTask",
    method: "POST",
    path: "/v3/universal-ai",
    summary: "Run a task now",
    description:
      "One answer shape for every task and provider. GET /v3/info shows what is on offer, and the schemas of a task's input and output.",
    tag: "Tasks",
    key: "inference",
    request: universalAiRequest,
    responses: [{ status: 200, description: "What came out.", schema: universalAiAnswer }],
    errors: [...chatErrors, "feature_not_found", "subfeature_not_found", "async_only"],
  },
  {
    id: "uploadFile",
    method: "POST",
    path: "/v3/upload",
    summary: "Upload a file",
    description: "A form with the part `file`. The kind of the file is told from its bytes.",
    tag: "Files",
    key: "inference",
    request: uploadRequest,
    requestType: "multipart/form-data",
    responses: [{ status: 200, description: "The file.", schema: fileObject }],
    errors: [...withKey, ...withBody],
  },
  {
    id: "listFiles",
    method: "GET",
    path: "/v3/upload",
    summary: "List files",
    description: "Newest first, a page at a time.",
    tag: "Files",
    key: "inference",
    parameters: [
      { name: "purpose", in: "query", description: "Only files of this purpose.", schema: z.string().min(1).max(64) },
      { name: "page", in: "query", description: "The page, from 1.", schema: z.int().min(1).max(1_000_000).default(1) },
      { name: "limit", in: "query", description: "Files on a page.", schema: z.int().min(1).max(1000).default(100) },
    ],
    responses: [{ status: 200, description: "A page of files.", schema: fileList }],
    errors: [...withKey, "invalid_request"],
  },
  {
    id: "deleteAllFiles",
    method: "DELETE",
    path: "/v3/upload",
    summary: "Delete all files",
    description:
      "All that this key or its owner has uploaded; with a body as in `/v3/upload/delete`, only those that it names.",
    tag: "Files",
    key: "inference",
    responses: [{ status: 200, description: "How many there were.", schema: deletedFiles }],
    errors: [...withKey, ...withBody],
  },
  {
    id: "deleteFiles",
    method: "POST",
    path: "/v3/upload/delete",
    summary: "Delete files",
    tag: "Files",
    key: "inference",
    request: deleteFilesRequest,
    responses: [{ status: 200, description: "How many there were.", schema: deletedFiles }],
    errors: [...withKey, ...withBody],
  },
  {
    id: "retrieveFile",
    method: "GET",
    path: "/v3/upload/{file_id}",
    summary: "Describe a file",
    tag: "Files",
    key: "inference",
    parameters: [{ name: "file_id", in: "path", description: "The file's id.", schema: z.guid() }],
    responses: [{ status: 200, description: "The file.", schema: fileObject }],
    errors: [...withKey, "invalid_request", "file_not_found"],
  },
  {
    id: "retrieveResource",
    method: "GET",
    path: "/v3/resources/{resource_id}",
    summary: "Read what a task produced",
    description: "By the signed address in a task's output, until it expires. Answers ranges and HEAD.",
    tag: "Files",
    key: "none",
    parameters: [
      { name: "resource_id", in: "path", description: "Its id.", schema: z.string() },
      { name: "expires", in: "query", description: "As in the address.", schema: z.string() },
      { name: "signature", in: "query", description: "As in the address.", schema: z.string() },
      { name: "range", in: "header", description: "One range of bytes.", schema: z.string() },
    ],
    responses: [
      { status: 200, description: "The bytes.", contentType: "application/octet-stream" },
      { status: 206, description: "The part that was asked for.", contentType: "application/octet-stream" },
    ],
    errors: [...always, "file_not_found", "dependency_unavailable"],
  },
  {
    id: "createEmbeddings",
    method: "POST",
    path: "/v3/embeddings",
    summary: "Create embeddings",
    description: "Turns texts into vectors. More texts than a provider takes at once are sent in several calls.",
    tag: "Embeddings",
    key: "inference",
    request: embeddingsRequest,
    responses: [{ status: 200, description: "The vectors, in the order of the texts.", schema: embeddingsAnswer }],
    errors: chatErrors,
  },
  {
    id: "listModels",
    method: "GET",
    path: "/v3/models",
    summary: "List models",
    description:
      "The models that the configured providers state, in the OpenAI list shape. A fact that is not known is `null`. " +
      "Filters narrow the list together; a value that no model has leaves an empty list.",
    tag: "Models",
    key: "none",
    parameters: [
      { name: "provider", in: "query", description: "The part before the first slash of an id.", schema: z.string() },
      {
        name: "feature",
        in: "query",
        description: "`llm` for models that chat.",
        schema: z.string(),
      },
      {
        name: "capability",
        in: "query",
        description:
          "What the model is known to support, with or without the prefix: `vision`, `supports_reasoning` ...",
        schema: z.string(),
      },
      {
        name: "endpoint",
        in: "query",
        description: "A path after `/v3/` that accepts the model, such as `chat/completions`.",
        schema: z.string(),
      },
      include,
      ifNoneMatch,
    ],
    responses: listed("The models.", modelList),
    errors: [...always, "invalid_request"],
  },
  {
    id: "retrieveModel",
    method: "GET",
    path: "/v3/models/{id...}",
    summary: "Retrieve a model",
    tag: "Models",
    key: "none",
    parameters: [
      {
        name: "id",
        in: "path",
        description: "The model's id. Its slashes may be written plainly or as `%2F`.",
        schema: z.string(),
      },
      include,
      ifNoneMatch,
    ],
    responses: listed("The model.", modelDetail),
    errors: [...always, "invalid_request", "model_not_found"],
  },
  {
    id: "listFeatures",
    method: "GET",
    path: "/v3/info",
    summary: "List features",
    description: "The features with the subfeatures that at least one configured provider or local engine serves.",
    tag: "Tasks",
    key: "none",
    parameters: [include, ifNoneMatch],
    responses: listed("The features.", featureList),
    errors: [...always, "invalid_request"],
  },
  {
    id: "retrieveFeature",
    method: "GET",
    path: "/v3/info/{feature}",
    summary: "Retrieve a feature",
    tag: "Tasks",
    key: "none",
    parameters: [
      { name: "feature", in: "path", description: "The feature's name, such as `text`.", schema: z.string() },
      include,
      ifNoneMatch,
    ],
    responses: listed("The feature.", feature),
    errors: [...always, "invalid_request", "feature_not_found"],
  },
  {
    id: "retrieveSubfeature",
    method: "GET",
    path: "/v3/info/{feature}/{subfeature}",
    summary: "Retrieve a subfeature with its schemas",
    description:
      "A task with the JSON Schemas of its input and output. A known task that nothing serves yet has no models.",
    tag: "Tasks",
    key: "none",
    parameters: [
      { name: "feature", in: "path", description: "The feature's name, such as `text`.", schema: z.string() },
      { name: "subfeature", in: "path", description: "The task's name, such as `moderation`.", schema: z.string() },
      include,
      ifNoneMatch,
    ],
    responses: listed("The subfeature.", subfeatureDetail),
    errors: [...always, "invalid_request", "feature_not_found", "subfeature_not_found"],
  },
  {
    id: "listKeys",
    method: "GET",
    path: "/v3/manage/keys",
    summary: "List keys",
    description: "Newest first, a page at a time. Secrets are never shown again.",
    tag: "Keys",
    key: "management",
    parameters: [
      { name: "kind", in: "query", description: "Only keys of this kind.", schema: z.enum(keyKinds) },
      { name: "enabled", in: "query", description: "Only enabled keys, or only the others.", schema: z.boolean() },
      { name: "owner", in: "query", description: "Only keys of this owner.", schema: z.string().min(1).max(256) },
      { name: "page", in: "query", description: "The page, from 1.", schema: z.int().min(1).max(1_000_000).default(1) },
      { name: "limit", in: "query", description: "Keys on a page.", schema: z.int().min(1).max(1000).default(100) },
    ],
    responses: [{ status: 200, description: "A page of keys.", schema: keyList }],
    errors: [...withKey, "invalid_request"],
  },
  {
    id: "createKey",
    method: "POST",
    path: "/v3/manage/keys",
    summary: "Create a key",
    description: "The answer carries the secret in `key`, this once: the gateway keeps only its hash.",
    tag: "Keys",
    key: "management",
    request: createKeyRequest,
    responses: [{ status: 201, description: "The key and its secret.", schema: keyWithSecret }],
    errors: [...withKey, ...withBody],
  },
  {
    id: "retrieveKey",
    method: "GET",
    path: "/v3/manage/keys/{key_id}",
    summary: "Retrieve a key",
    tag: "Keys",
    key: "management",
    parameters: [keyId],
    responses: [{ status: 200, description: "The key.", schema: keyObject }],
    errors: oneKeyErrors,
  },
  {
    id: "updateKey",
    method: "PATCH",
    path: "/v3/manage/keys/{key_id}",
    summary: "Change a key",
    description: "Members that are given replace those of the key; the others stay.",
    tag: "Keys",
    key: "management",
    parameters: [keyId],
    request: updateKeyRequest,
    responses: [{ status: 200, description: "The key as it is now.", schema: keyObject }],
    errors: [...oneKeyErrors, ...withBody, "key_conflict"],
  },
  {
    id: "revokeKey",
    method: "DELETE",
    path: "/v3/manage/keys/{key_id}",
    summary: "Revoke a key",
    description: "Final: a revoked key cannot be enabled again.",
    tag: "Keys",
    key: "management",
    parameters: [keyId],
    responses: [{ status: 200, description: "The key is revoked.", schema: deletedKey }],
    errors: [...oneKeyErrors, "key_conflict"],
  },
  {
    id: "rotateKey",
    method: "POST",
    path: "/v3/manage/keys/{key_id}/rotate",
    summary: "Rotate a key",
    description: "Gives the key a new secret, shown this once. The old one keeps working for `grace_seconds`.",
    tag: "Keys",
    key: "management",
    parameters: [keyId],
    request: rotateKeyRequest,
    responses: [{ status: 200, description: "The key and its new secret.", schema: keyWithSecret }],
    errors: [...oneKeyErrors, ...withBody, "key_conflict"],
  },
  {
    id: "whoami",
    method: "GET",
    path: "/v3/manage/whoami",
    summary: "Describe the calling key",
    tag: "Keys",
    key: "management",
    responses: [{ status: 200, description: "The key that made the call.", schema: keyObject }],
    errors: withKey,
  },
  {
    id: "listProviders",
    method: "GET",
    path: "/v3/manage/providers",
    summary: "List providers with their state",
    description:
      "Which providers are set up, and how each offer that was called has been doing: circuit, latency, last error.",
    tag: "Providers",
    key: "management",
    responses: [{ status: 200, description: "The providers.", schema: providerStates }],
    errors: withKey,
  },
  {
    id: "getOpenApi",
    method: "GET",
    path: "/v3/openapi.json",
    summary: "This interface as OpenAPI 3.1",
    tag: "Service",
    key: "none",
    parameters: [ifNoneMatch],
    responses: listed("The document.", z.looseObject({ openapi: z.string() })),
    errors: always,
  },
  {
    id: "getDocs",
    method: "GET",
    path: "/docs",
    summary: "This interface as a readable page",
    tag: "Service",
    key: "none",
    parameters: [ifNoneMatch],
    responses: [
      { status: 200, description: "The page.", contentType: "text/html", headers: ["etag", "cache-control"] },
      notModified,
    ],
    errors: always,
  },
  {
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    summary: "Is the process alive?",
    tag: "Service",
    key: "none",
    responses: [{ status: 200, description: "It is.", schema: health }],
    errors: always,
  },
  {
    id: "getReadiness",
    method: "GET",
    path: "/readyz",
    summary: "Will requests be served?",
    description: "For load balancers: 503 while the process shuts down or its store is away.",
    tag: "Service",
    key: "none",
    responses: [{ status: 200, description: "They will.", schema: health }],
    errors: [...always, "draining", "dependency_unavailable"],
  },
];
