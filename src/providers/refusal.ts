// Maps a provider's error answer to an error of the catalogue. This is the only place that translates vendor statuses.

import { GatewayError } from "../errors.ts";
import { hideSecretForms } from "../lib/secret-forms.ts";
import type { Provider } from "./configure.ts";
import type { ErrorInAnswer, JsonObject } from "./dialect.ts";
import { readErrorRules, spentCredits } from "./error-rules.ts";
import { readErrorStatus } from "./error-status.ts";

/** For calls of models. The row or the dialect of the provider may correct the status. */
export function toRefusal(
  provider: Provider,
  plainStatus: number,
  retryAfterHeader: string | null,
  body: string,
): GatewayError {
  const read = provider.dialect?.chat?.readRefusal;
  const value = read === undefined ? null : parseObject(body);
  const known = read === undefined || value === null ? {} : read(plainStatus, value);
  const declared = readErrorRules(provider.row.errors, plainStatus, body);
  const status = declared ?? known.status ?? plainStatus;
  const retryAfter = readRetryAfter(retryAfterHeader) ?? known.retryAfterSeconds ?? null;
  return toRefusalOf(provider, { status, retryAfter }, body);
}

/** For calls of tasks. `namesModel`: the caller chose a model. */
export function toTaskRefusal(
  provider: Provider,
  plainStatus: number,
  retryAfterHeader: string | null,
  body: string,
  namesModel = false,
): GatewayError {
  const { errors, readRefusal } = provider.row;
  const declared = readErrorRules(errors, plainStatus, body);
  const read = declared ?? readRefusal?.(plainStatus, parseObject(body) ?? {});
  const actual = read ?? readErrorRules([spentCredits], plainStatus, body) ?? plainStatus;
  // A call without a model cannot fail with an unknown model: the 404 refers to another resource or to the address.
  const isOtherUnknown = actual === 404 && !namesModel;
  const status = isOtherUnknown ? (readErrorMessage(body) === "" ? 502 : 400) : actual;
  return toRefusalOf(provider, { status, retryAfter: readRetryAfter(retryAfterHeader) }, body);
}

interface Refused {
  readonly status: number;
  readonly retryAfter: number | null;
}

/** The error for a status, after error rules have corrected it. `body` is the vendor's answer. */
function toRefusalOf(provider: Provider, { status, retryAfter }: Refused, body: string): GatewayError {
  const name = `The provider '${provider.name}'`;
  const withMessage = () => {
    const message = hideSecrets(provider, readErrorMessage(body));
    return message === "" ? "." : `: ${message}`;
  };
  if (status === 401 || status === 403 || status === 402)
    return new GatewayError("provider_auth_failed", `${name} refused the gateway's credentials (status ${status}).`);
  if (status === 404)
    return new GatewayError("model_not_found", `${name} does not know this model${withMessage()}`, { param: "model" });
  if (status === 408) return new GatewayError("provider_timeout", `${name} took too long (status 408).`);
  if (status === 429)
    return new GatewayError("provider_rate_limited", `${name} limits the rate of requests${withMessage()}`, {
      retryAfter: retryAfter ?? 1,
    });
  if (status >= 400 && status < 500 && status !== 409)
    return new GatewayError("provider_rejected_request", `${name} rejected the request${withMessage()}`, {
      providerStatus: status,
    });
  if (status >= 500 || status === 409)
    return new GatewayError("provider_error", `${name} failed with status ${status}${withMessage()}`, {
      providerStatus: status,
      ...(retryAfter === null ? {} : { retryAfter }),
    });
  return new GatewayError("provider_bad_response", `${name} answered with status ${status}.`);
}

/** The message of an error body, in any of the shapes that vendors use. */
export function readErrorMessage(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The HTML page of a proxy does not help a caller.
    return body.trimStart().startsWith("<") ? "" : body.trim();
  }
  return findMessage(value) ?? "";
}

// Vendors nest the message at most four levels deep. The limit protects against a hostile answer.
const maxMessageDepth = 16;

function findMessage(value: unknown, depth = 0): string | null {
  if (typeof value === "string") return value;
  if (depth > maxMessageDepth) return null;
  if (Array.isArray(value)) return value.length > 0 ? findMessage(value[0], depth + 1) : null;
  if (typeof value !== "object" || value === null) return null;
  // Some vendors write `Message` instead of `message`.
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
  for (const name of ["error", "message", "msg", "detail", "errors", "title"]) {
    const found = members[name] === undefined ? null : findMessage(members[name], depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Some vendors send a list with one error object. */
function parseObject(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body);
    const found: unknown = Array.isArray(value) ? value[0] : value;
    return typeof found === "object" && found !== null ? (found as JsonObject) : null;
  } catch {
    return null;
  }
}

/** For a failure that a dialect found in an answer. */
export function toFailureInAnswer(provider: Provider, { status, message }: ErrorInAnswer): GatewayError {
  if (status === null) return toUnknownFailure(provider, message);
  return toRefusalOf(provider, { status, retryAfter: null }, JSON.stringify(message));
}

/** For an answer or event of status 200 that has an `error`, or is one: the same error as with a status of its own. */
export function toErrorInAnswer(provider: Provider, answer: JsonObject): GatewayError {
  const status = readErrorStatus(answer);
  if (status === null) return toUnknownFailure(provider, findMessage(answer) ?? "");
  return toRefusal(provider, status, null, JSON.stringify(answer));
}

function toUnknownFailure(provider: Provider, reason: string): GatewayError {
  const message = hideSecrets(provider, reason);
  return new GatewayError("provider_error", `The provider '${provider.name}' failed${message ? `: ${message}` : "."}`);
}

const maxMessageLength = 1_000;
const hidden = "[hidden]";

/** The message without secrets: some vendors quote the key that they refuse. */
export function hideSecrets({ secrets }: Pick<Provider, "secrets">, message: string): string {
  let clean = message;
  for (const secret of secrets) if (secret.length > 3) clean = clean.replaceAll(secret, hidden);
  return hideSecretForms(clean, hidden).slice(0, maxMessageLength);
}

function readRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds), 86_400) : null;
}
