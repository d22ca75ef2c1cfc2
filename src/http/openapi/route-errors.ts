// Every error code that a route may answer with: its own, and those that follow from its key, parameters and body.

import { z } from "zod";
import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import { toMessagesStatus } from "../../inference/messages/messages-error.ts";
import type { Route } from "../route.ts";

const always: readonly ErrorCode[] = [
  "malformed_request",
  "expectation_failed",
  "headers_too_large",
  "too_many_headers",
  "internal_error",
];

const withKey: readonly ErrorCode[] = [
  "missing_api_key",
  "invalid_auth_scheme",
  "invalid_api_key",
  "api_key_expired",
  "api_key_revoked",
  "insufficient_credits",
  "budget_exceeded",
  "price_unknown",
  "insufficient_scope",
  "too_many_auth_failures",
  "rate_limit_exceeded",
  "overloaded",
  "dependency_unavailable",
];

const withRole: readonly ErrorCode[] = ["session_ended", "insufficient_role", "no_role", "team_disabled"];
const withChange: readonly ErrorCode[] = ["csrf_token_invalid", "cross_origin_refused"];

const withBody: readonly ErrorCode[] = [
  "invalid_utf8",
  "request_timeout",
  "payload_too_large",
  "unsupported_media_type",
  "unsupported_charset",
  "unsupported_content_encoding",
  "invalid_request",
];

/** In the order of the statuses. */
export function groupErrors(route: Route): [number, ErrorCode[]][] {
  const { key, method, params, query, body, errors = [], errorFormat } = route;
  const codes = [
    ...always,
    ...(key === "none" ? [] : withKey),
    ...(key === "management" ? withRole : []),
    ...(key === "management" && method !== "GET" ? withChange : []),
    ...(body === undefined ? [] : withBody),
    ...(hasRules(params) || hasRules(query) ? (["invalid_request"] as const) : []),
    ...errors,
  ];
  return groupByStatus(codes, errorFormat === "messages" ? toMessagesStatus : undefined);
}

/** Parameters are texts, so a schema that accepts every text refuses none. */
function hasRules(schema: z.ZodType | undefined): boolean {
  if (!(schema instanceof z.ZodObject)) return schema !== undefined;
  return Object.values(schema.shape).some((member) => {
    const text = member instanceof z.ZodOptional ? member.unwrap() : member;
    return !(text instanceof z.ZodString) || (text.def.checks ?? []).length > 0;
  });
}

function groupByStatus(
  codes: readonly ErrorCode[],
  toStatus: (status: number) => number = (status) => status,
): [number, ErrorCode[]][] {
  const byStatus = Map.groupBy(new Set(codes), (code) => toStatus(errorCatalogue[code].status));
  return [...byStatus].sort(([left], [right]) => left - right);
}
