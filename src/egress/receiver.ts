// Checks the webhook address of a job when the job is created; the egress client checks it again for each delivery.

import { ValidationError } from "../errors.ts";
import type { Egress } from "./egress.ts";
import { EgressError } from "./egress-error.ts";

export interface ReceiverRules {
  /** Hosts of the gateway itself, with or without a port: it does not send webhooks to itself. */
  readonly ownHosts: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

// Enough for two questions to a slow name server.
const lookupTimeoutMs = 5_000;

/** Throws a ValidationError. All failures of lookup and address have the same message, which reveals nothing about the network. */
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

/** The name of a host, as a URL or a Host header writes it. */
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
