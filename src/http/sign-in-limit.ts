// Slows down the guessing of keys at the sign-in: after a few wrong ones, an address has to wait, whatever key it sends then.

import { isIPv6 } from "node:net";
import { GatewayError } from "../errors.ts";

const maxFailuresPerWindow = 10;
const windowMs = 60_000;
const maxAddresses = 10_000;

export class SignInLimit {
  readonly #now: () => number;
  #failures = new Map<string, number>();
  #windowStart = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  check(address: string): void {
    this.#renew();
    if ((this.#failures.get(toNetwork(address)) ?? 0) < maxFailuresPerWindow) return;
    const waitMs = windowMs - (this.#now() - this.#windowStart);
    throw new GatewayError("too_many_auth_failures", "Too many wrong keys came from this address.", {
      retryAfter: Math.max(1, Math.ceil(waitMs / 1_000)),
    });
  }

  count(address: string): void {
    this.#renew();
    const network = toNetwork(address);
    this.#failures.set(network, (this.#failures.get(network) ?? 0) + 1);
  }

  #renew(): void {
    const now = this.#now();
    if (now - this.#windowStart < windowMs && this.#failures.size < maxAddresses) return;
    this.#failures = new Map();
    this.#windowStart = now;
  }
}

/** One client usually has all addresses of a /64 network, which are those with the same first four groups. */
function toNetwork(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [start = [], end = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  // `::` stands for as many zeros as are missing.
  const zeros = Array.from({ length: 8 - start.length - end.length }, () => "0");
  return [...start, ...zeros, ...end].slice(0, 4).join(":");
}
