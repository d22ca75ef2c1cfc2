// What the vendor's services have in common: JSON by a target in a header, and the names of its failures.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject } from "../lenient.ts";
import type { TaskRequest } from "../task.ts";

export function toAwsRequest(target: string, value: JsonObject): TaskRequest {
  return {
    path: "/",
    headers: { "x-amz-target": target },
    body: { kind: "json", value, mediaType: "application/x-amz-json-1.1" },
  };
}

const statuses: Readonly<Record<string, number>> = {
  AccessDeniedException: 403,
  ExpiredTokenException: 403,
  IncompleteSignature: 403,
  InvalidSignatureException: 403,
  MissingAuthenticationTokenException: 403,
  OptInRequired: 403,
  SubscriptionRequiredException: 403,
  UnrecognizedClientException: 403,
  LimitExceededException: 429,
  ProvisionedThroughputExceededException: 429,
  ThrottlingException: 429,
  TooManyRequestsException: 429,
  InternalFailure: 500,
  InternalServerError: 500,
  InternalServerException: 500,
  ServiceUnavailable: 503,
  ServiceUnavailableException: 503,
};

/** Most failures have status 400, whatever they are. */
export function readAwsRefusal(_status: number, body: JsonObject): number | undefined {
  return statusOfKind(kindOfRefusal(body));
}

/** `ThrottlingException` */
export function kindOfRefusal(body: unknown): string {
  return (
    String(asObject(body)["__type"] ?? "")
      .split("#")
      .at(-1) ?? ""
  );
}

export function statusOfKind(kind: string): number | undefined {
  return lookUp(statuses, kind);
}
