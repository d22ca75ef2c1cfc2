// GET /v3/manage/providers: how the providers are doing.

import type { ProviderState, ProviderStates } from "../../contract/providers.ts";
import { replyJson } from "../reply.ts";
import type { Route } from "../route.ts";

export function providerRoutes(describeProviders: () => ProviderState[]): Route[] {
  const run = () => replyJson({ process: process.pid, items: describeProviders() } satisfies ProviderStates);
  return [{ method: "GET", path: "/v3/manage/providers", key: "management", run }];
}
