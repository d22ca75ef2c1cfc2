// The JSON protocol that most services of AWS share: the operation in a header, the names of errors, and boxes.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asString, limitToOne } from "../lenient.ts";
import { type Box, roundBox, toBox } from "../shapes/boxes.ts";
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

/** AWS answers most errors with status 400, whatever their kind. */
export function readAwsRefusal(_status: number, body: JsonObject): number | undefined {
  return statusOfKind(kindOfRefusal(body));
}

/** `ThrottlingException` */
export function kindOfRefusal(body: unknown): string {
  return asString(asObject(body)["__type"]).split("#").at(-1) ?? "";
}

export function statusOfKind(kind: string): number | undefined {
  return lookUp(statuses, kind);
}

/**
 * A `BoundingBox`, which is relative to the page or image. AWS lets the box of a face at the edge extend beyond the image; the result is the part within it.
 * https://docs.aws.amazon.com/rekognition/latest/APIReference/API_BoundingBox.html
 */
export function readBox(value: unknown): Box | null {
  const { Left, Top, Width, Height } = asObject(value);
  const [left, top, width, height] = [asNumber(Left), asNumber(Top), asNumber(Width), asNumber(Height)];
  if (left === null || top === null || width === null || height === null) return null;
  const [right, bottom] = [left + width, top + height];
  // A box that fits keeps the vendor's numbers: a difference of floats has more decimals.
  if (left >= 0 && top >= 0 && right <= 1 && bottom <= 1) return { left, top, width, height };
  const across = { x_min: limitToOne(left), x_max: limitToOne(right) };
  const down = { y_min: limitToOne(top), y_max: limitToOne(bottom) };
  return roundBox(toBox({ ...across, ...down }));
}
