// Error codes that many routes share. What follows from a route's key, parameters and body is added in openapi/route-errors.ts.

import type { ErrorCode } from "../errors.ts";

const providerErrors = [
  "provider_rejected_request",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_not_configured",
  "provider_timeout",
] as const;

/** Of a request that names a model. */
export const modelCallErrors: readonly ErrorCode[] = [
  ...providerErrors,
  "model_not_allowed",
  "provider_not_found",
  "model_not_found",
  "provider_unavailable",
];

/** Of a request about an existing response. */
export const storedResponseErrors: readonly ErrorCode[] = [
  ...providerErrors,
  "response_not_found",
  "response_not_stored",
];
