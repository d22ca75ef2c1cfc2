// Adds a record of the audit log to a route whose changes are not made by the store.

import type { Audit } from "../access/audit.ts";
import type { Route } from "./route.ts";

export function withAudit(route: Route, audit: Audit): Route {
  const { audit: how } = route;
  if (how === undefined || how === "stored") return route;
  const [kind = ""] = how.action.split(".", 1);
  return {
    ...route,
    run: async (call) => {
      const [id = null] = Object.values((call.params ?? {}) as Readonly<Record<string, string>>);
      const target = { kind, id, name: null, team: call.caller?.team ?? null };
      return await audit.around(
        call.actor,
        { action: how.action, target },
        call.note,
        async () => await route.run(call),
      );
    },
  };
}
