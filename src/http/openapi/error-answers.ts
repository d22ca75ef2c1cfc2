// What a caller reads when a call fails: the two shapes, and the meaning of every code.

import { z } from "zod";
import type { ErrorCode } from "../../errors.ts";

export const errorObject = z.object({
  message: z.string().describe("What was wrong and what to do, for people."),
  type: z.string().describe("The family of the error."),
  param: z.string().nullable().describe("The member or parameter at fault, when there is one."),
  code: z.string().describe("What happened, for programs. The codes are listed under Errors."),
});

export const errorAnswer = z.object({
  error: errorObject,
  detail: z.string().describe("The same text as `error.message`."),
});

export const validationProblem = z.object({
  loc: z
    .array(z.union([z.string(), z.int()]))
    .describe("Where: `body`, `query` or `path`, then the way to the member."),
  msg: z.string(),
  type: z.string().describe("`missing`, `string_type`, `less_than_equal`, `json_invalid` ..."),
});

export const validationErrorAnswer = z.object({
  error: errorObject.describe("The first problem, in the shape of every other error."),
  detail: z.array(validationProblem).describe("Every problem of the request."),
});

export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  malformed_request: "The request is not well-formed HTTP.",
  invalid_utf8: "The body is not valid UTF-8.",
  provider_rejected_request: "The provider refused the request; the message carries its reason.",
  previous_response_not_found: "No stored response of this caller has the id in `previous_response_id`.",
  previous_response_provider_mismatch:
    "The earlier response is kept by another provider, which alone can go on from it.",
  response_in_progress: "Over a WebSocket: the last response has not ended yet.",
  unknown_message: "Over a WebSocket: a message that is not `response.create`.",
  no_webhook_receiver: "The job was submitted without a `webhook_receiver`, so there is nobody to report it to.",
  async_only: "The task takes long and runs as a job: send it to `/v3/universal-ai/async`.",
  stateful_not_supported: "The provider keeps no responses, so that it cannot go on from one or run in the background.",
  compaction_not_supported: "The provider has no compaction of conversations.",
  missing_api_key: "No `Authorization` header.",
  invalid_auth_scheme: "The `Authorization` header does not use the scheme `Bearer`.",
  invalid_api_key: "The key is not known.",
  api_key_expired: "The key's time is over.",
  api_key_revoked: "The key was revoked. Revoking is final.",
  insufficient_credits: "The key's budget is spent.",
  insufficient_scope: "The key does not open this path: it is of the wrong kind, or lacks the scope.",
  model_not_allowed: "The key may not use this model.",
  not_found: "There is nothing at this path.",
  provider_not_found: "No provider has the name before the first slash of `model`.",
  model_not_found: "The model is not on offer.",
  feature_not_found: "There is no such feature.",
  subfeature_not_found: "The feature has no such subfeature.",
  response_not_found: "No stored response of this caller has the id.",
  job_not_found: "There is no such job, or it is not yours, or it has expired.",
  file_not_found: "No file of this caller has the id, or the address of a result is not valid any more.",
  response_not_stored: "The response was made and not kept: `store` was false, or the provider keeps none.",
  key_not_found: "No key has the id.",
  method_not_allowed: "The path does not take this method; `Allow` names those it takes.",
  request_timeout: "The body did not arrive in time.",
  job_processing: "The job is still running.",
  job_finished: "The job is over, so it cannot be cancelled.",
  key_conflict: "The key is in a state that does not allow the change.",
  payload_too_large: "The body is larger than the gateway accepts.",
  unsupported_media_type: "The body is not declared as `application/json`.",
  unsupported_charset: "The body is declared in a character set other than UTF-8.",
  unsupported_content_encoding: "The body is compressed in a way that the gateway does not read.",
  expectation_failed: "The `Expect` header asks for something other than `100-continue`.",
  invalid_request: "The JSON or the values in it are not valid; `detail` lists every problem.",
  rate_limit_exceeded: "The key's rate limit is reached; `Retry-After` says how long to wait.",
  too_many_auth_failures: "Too many failed attempts with wrong keys from this address.",
  provider_rate_limited: "The provider's own rate limit is reached.",
  headers_too_large: "The header block or the address is too long.",
  too_many_headers: "There are too many header lines.",
  internal_error: "A fault of the gateway. Report the `x-request-id`.",
  not_implemented: "The gateway knows what is meant and does not do it.",
  provider_auth_failed: "The provider refused the gateway's own credentials. The operator has to act.",
  provider_error: "The provider failed.",
  provider_unreachable: "The provider could not be reached.",
  provider_bad_response: "The provider's answer makes no sense.",
  provider_disconnected: "The provider broke off its answer.",
  provider_not_configured: "The provider is known and has no credentials here; the message names the setting.",
  provider_unavailable: "The provider failed repeatedly and is left alone for a moment.",
  overloaded: "The gateway has more work than it can do.",
  draining: "This process is shutting down; another one will answer.",
  dependency_unavailable: "The gateway's store is away.",
  provider_timeout: "The provider took too long.",
};
