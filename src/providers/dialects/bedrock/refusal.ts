// What the service's failures mean, as refusals of a call and as events in the middle of a stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (Errors)

import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject, Refusal } from "../../dialect.ts";
import { asString } from "../../lenient.ts";

// 424 would say that the caller's request is at fault: the model's failure is an answer of 502.
const modelFailed = 502;

const statuses: Readonly<Record<string, number>> = {
  validationexception: 400,
  accessdeniedexception: 403,
  resourcenotfoundexception: 404,
  modeltimeoutexception: 408,
  throttlingexception: 429,
  modelnotreadyexception: 429,
  servicequotaexceededexception: 429,
  modelerrorexception: modelFailed,
  modelstreamerrorexception: modelFailed,
  internalserverexception: 500,
  serviceunavailableexception: 503,
};

const unknownModel =
  /model identifier is invalid|could not resolve the foundation model|model (?:id )?.{0,200}not found/i;
const spentQuota = /exceeds? the service quota|too many (?:requests|tokens)/i;

/** Null for a kind of failure that nobody has written down. */
export function statusOfFailure(name: string): number | null {
  return lookUp(statuses, name.toLowerCase()) ?? null;
}

/** The kind of failure stands in a header, and in the body only of some: what the sentence says has to do. */
export function readBedrockRefusal(status: number, body: JsonObject): Refusal {
  const kind = asString(body["__type"]).split("#").at(-1) ?? "";
  const message = asString(body["message"]) || asString(body["Message"]);
  if (status === 424) return { status: modelFailed };
  if (status !== 400) return {};
  if (unknownModel.test(message)) return { status: 404 };
  if (spentQuota.test(message)) return { status: 429 };
  const known = kind === "" ? null : statusOfFailure(kind);
  return known === null ? {} : { status: known };
}
