// The meaning of the service's errors, in refused calls and in events of a stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (Errors)

import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject, Refusal } from "../../dialect.ts";
import { asString } from "../../lenient.ts";

// The service sends 424, which would blame the caller's request for a failure of the model.
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

/** Null for an unknown kind of failure. */
export function statusOfFailure(name: string): number | null {
  return lookUp(statuses, name.toLowerCase()) ?? null;
}

/** Most bodies do not name the kind of error, only a header does, so the message decides. */
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
