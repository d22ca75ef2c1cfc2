// The status of an error that a vendor reports inside an answer of status 200.

import { lookUp } from "../lib/look-up.ts";
import type { JsonObject } from "./dialect.ts";
import { asNumber, asObject, asString } from "./lenient.ts";

/**
 * Types of Anthropic's format (https://platform.claude.com/docs/en/api/errors), types and codes of OpenAI's
 * (https://platform.openai.com/docs/guides/error-codes), and the codes of ResponseError of npm's openai 7.53.0. Generic names such as
 * `server_error` are left out: an unknown name is an error of the provider already.
 */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  invalid_api_key: 401,
  model_not_found: 404,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  slow_down: 429,
  service_unavailable_error: 503,
  server_is_overloaded: 503,
  context_length_exceeded: 400,
  content_filter: 400,
  content_policy_violation: 400,
  invalid_prompt: 400,
  data_residency_mismatch: 400,
  bio_policy: 400,
  misalignment_policy_violation: 400,
  invalid_image: 400,
  invalid_image_format: 400,
  invalid_base64_image: 400,
  invalid_image_url: 400,
  image_too_large: 400,
  image_too_small: 400,
  image_parse_error: 400,
  image_content_policy_violation: 400,
  invalid_image_mode: 400,
  image_file_too_large: 400,
  unsupported_image_media_type: 400,
  empty_image_file: 400,
  failed_to_download_image: 400,
  image_file_not_found: 400,
};

/** Null: unknown. */
export function statusOfName(name: unknown): number | null {
  return lookUp(statuses, asString(name)) ?? null;
}

/**
 * `answer` has an `error`, or is the error itself. A number is the HTTP status, as OpenRouter and vLLM send it; a code says more than a type.
 * Null: unknown.
 */
export function readErrorStatus(answer: JsonObject): number | null {
  const { code, status, type } = { ...answer, ...asObject(answer["error"]) };
  const numbers = [code, status].map(asNumber);
  return numbers.find(isErrorStatus) ?? statusOfName(code) ?? statusOfName(type);
}

function isErrorStatus(number: number | null): boolean {
  return number !== null && Number.isInteger(number) && number >= 400 && number < 600;
}
