// Finds the caller of a request by its bearer key, in memory, before any byte of the body is read.

import type { Caller } from "../access/caller.ts";
import type { Lookup } from "../access/key-snapshot.ts";
import type { Keyring } from "../access/keys.ts";
import { GatewayError } from "../errors.ts";
import { trimSpaces } from "./request-head.ts";

export type Authenticator = ReturnType<typeof createAuthenticator>;

// Slows down the guessing of keys: an address may send this many wrong keys per minute.
const maxFailuresPerWindow = 100;
const windowMs = 60_000;
const maxAddresses = 10_000;
// Another process may have created an unknown key a moment ago, so the store is asked, but not for every guess.
const askStoreEveryMs = 250;

export function createAuthenticator(keyring: Keyring) {
  let failures = new Map<string, number>();
  let windowStart = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** While the store is asked, further unknown keys wait for the same answer. */
  let asking: Promise<void> | null = null;

  function countFailure(address: string): void {
    const now = performance.now();
    if (now - windowStart > windowMs || failures.size > maxAddresses) {
      failures = new Map();
      windowStart = now;
    }
    const count = (failures.get(address) ?? 0) + 1;
    failures.set(address, count);
    if (count <= maxFailuresPerWindow) return;
    throw new GatewayError("too_many_auth_failures", "Too many requests with wrong keys came from this address.", {
      retryAfter: Math.ceil((windowMs - (now - windowStart)) / 1_000),
    });
  }

  async function askStore(secret: string, address: () => string): Promise<Caller> {
    if (asking === null) {
      askedAt = performance.now();
      asking = keyring
        .refresh()
        .catch(() => {}) // the look-up reports that the store does not answer
        .finally(() => {
          asking = null;
        });
    }
    await asking;
    return accept(keyring.lookUp(secret), address);
  }

  function accept(found: Lookup, address: () => string): Caller {
    if ("caller" in found) return found.caller;
    // The key is right, or may be, so this is not an attempt to guess one.
    if (found.refused !== "team_disabled" && found.refused !== "unavailable") countFailure(address());
    throw toKeyRefusal(found.refused);
  }

  return {
    /** Without a promise for a known key. `address` is called only when the key is refused. */
    authenticate(authorization: string | null, address: () => string): Caller | Promise<Caller> {
      const secret = readBearer(authorization);
      const found = keyring.lookUp(secret);
      const isUnknown = "refused" in found && found.refused === "unknown";
      if (isUnknown && (asking !== null || performance.now() - askedAt > askStoreEveryMs))
        return askStore(secret, address);
      return accept(found, address);
    },
  };
}

/** The answer to a request with such a key. */
export function toKeyRefusal(refused: Extract<Lookup, { readonly refused: unknown }>["refused"]): GatewayError {
  return refusals[refused]();
}

const refusals = {
  unavailable: () =>
    new GatewayError("dependency_unavailable", "The key store does not answer; try again.", { retryAfter: 1 }),
  unknown: () => new GatewayError("invalid_api_key", "This API key is not known."),
  expired: () => new GatewayError("api_key_expired", "This API key has expired."),
  revoked: () => new GatewayError("api_key_revoked", "This API key was revoked."),
  disabled: () => new GatewayError("api_key_revoked", "This API key is disabled. An administrator can enable it."),
  team_disabled: () =>
    new GatewayError("team_disabled", "The team of this API key is disabled. An administrator can enable it."),
};

const scheme = /^bearer(?: +|$)/i;
// The characters of a key. Two Authorization headers arrive as one, joined by a comma, which is not among them.
const token = /^[\x21-\x2b\x2d-\x7e]{1,512}$/;

function readBearer(authorization: string | null): string {
  if (authorization === null || trimSpaces(authorization) === "")
    throw new GatewayError("missing_api_key", "Send the API key as Authorization: Bearer <key>.");
  const match = scheme.exec(authorization);
  if (match === null)
    throw new GatewayError(
      "invalid_auth_scheme",
      "The authorization scheme should be Bearer: Authorization: Bearer <key>.",
    );
  const secret = trimSpaces(authorization.slice(match[0].length));
  if (secret === "") throw new GatewayError("missing_api_key", "Send the API key as Authorization: Bearer <key>.");
  if (!token.test(secret)) throw refusals.unknown();
  return secret;
}
