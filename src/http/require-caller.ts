import type { Caller } from "../access/caller.ts";
import type { KeyScope } from "../contract/keys.ts";
import { GatewayError } from "../errors.ts";

/** The caller of a route that has one, with the scope that the route needs. */
export function requireCaller(caller: Caller | null, scope: KeyScope): Caller {
  if (caller === null) throw new TypeError("the route has no key");
  if (caller.scopes.has(scope)) return caller;
  throw new GatewayError("insufficient_scope", `This key does not have the scope '${scope}'.`);
}
