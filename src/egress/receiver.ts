// Whether a webhook may be sent to an address that a caller names. Asked when a job is created; the guard asks again at each delivery.

import { ValidationError } from "../errors.ts";
import type { Egress } from "./egress.ts";
import { EgressError } from "./egress-error.ts";

export interface ReceiverRules {
  /** Where the gateway itself is reached, with a port or without one: it does not report to itself. */
  readonly ownHosts: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const lookupTimeoutMs = 2_000;

/** Throws a ValidationError. All that lookups and addresses can be wrong with is said in the same words. */
export async function checkReceiver(text: string, egress: Egress, rules: ReceiverRules): Promise<void> {
  const { ownHosts, timeoutMs = lookupTimeoutMs, signal } = rules;
  const url = URL.parse(text);
  if (url === null) throw refused("Input should be a valid URL", "url_parsing");
  if (url.protocol !== "https:") throw refused("URL scheme should be 'https'", "url_scheme");
  const isOwn = ownHosts.some((host) => nameOf(host) === nameOf(url.host));
  const isExempt = await egress.check(text, { timeoutMs, ...(signal !== undefined && { signal }) }).then(
    (verdict) => verdict.isExempt,
    (error: unknown) => {
      if (!(error instanceof EgressError)) throw error;
      throw notAllowed();
    },
  );
  if (isOwn && !isExempt) throw notAllowed();
}

/** Of a host as a URL and as a Host header spell it. */
function nameOf(host: string): string {
  const { hostname = host } = URL.parse(`https://${host}`) ?? {};
  return hostname.replace(/\.$/, "");
}

function notAllowed(): ValidationError {
  const msg =
    "URL should name a public host that can be found, a port for web servers, and no password; the operator can exempt others by SWITCHYARD_EGRESS_ALLOW";
  return refused(msg, "url_not_allowed");
}

function refused(msg: string, type: string): ValidationError {
  return new ValidationError([{ loc: ["body", "webhook_receiver"], msg, type }]);
}
