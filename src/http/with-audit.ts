// Writes a record of the audit log around the calls of a route whose changes the store does not record itself.

import type { Audit } from "../access/audit.ts";
import type { Route } from "./route.ts";

export function withAudit(route: Route, audit: Audit): Route {
  if (route.audit === undefined || route.audit === "stored") return route;
  const { action } = route.audit;
  const [kind = ""] = action.split(".", 1);
  return {
    ...route,
    run: async (call) => {
      // Path parameters are strings.
      const [id = null] = Object.values((call.params ?? {}) as Readonly<Record<string, string>>);
      const target = { kind, id, name: null, team: call.caller?.team ?? null };
      return await audit.around(call.actor, { action, target }, call.note, async () => await route.run(call));
    },
  };
}
