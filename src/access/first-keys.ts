// The keys of a gateway that starts for the first time.

import type { KeyKind } from "../contract/keys.ts";
import type { Storage } from "../storage/storage.ts";
import { generateSecret, plainRequest, toRecord } from "./key-records.ts";
import { type AccessDefaults, noDefaults } from "./keys.ts";
import { gatewayActor } from "./roles.ts";

/**
 * Creates the keys of a first start if the store has none. If several processes try, one of them succeeds. With an administrator's key in the
 * settings, no management key is created.
 */
export async function createFirstKeys(
  storage: Storage,
  options: { readonly adminKey?: string | null; readonly defaults?: AccessDefaults; readonly now?: () => number } = {},
): Promise<{ inference: string; management: string | null } | null> {
  const time = (options.now ?? Date.now)();
  const inference = generateSecret("inference");
  const management = (options.adminKey ?? null) === null ? generateSecret("management") : null;
  const limits = (options.defaults ?? noDefaults).key;
  const create = (kind: KeyKind, name: string, secret: string) =>
    toRecord({ request: plainRequest(kind, name), team: null, secret, defaults: limits, now: time });
  const first = [create("inference", "First inference key", inference)];
  if (management !== null) first.push(create("management", "First management key", management));
  return (await storage.keys.insertFirst(first, gatewayActor)) ? { inference, management } : null;
}
