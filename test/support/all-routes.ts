// The whole route table, without a gateway behind it: for tests of the documents that are built from it.

import { createCatalogue } from "../../src/catalogue/catalogue.ts";
import type { Route } from "../../src/http/route.ts";
import { createRoutes } from "../../src/http/routes.ts";

export function listAllRoutes(aliases: ReadonlySet<string> = new Set()): Route[] {
  // No route is run, so the services behind them may be missing.
  const dependencies = { catalogue: createCatalogue([]), aliases };
  return createRoutes(dependencies as unknown as Parameters<typeof createRoutes>[0]);
}
