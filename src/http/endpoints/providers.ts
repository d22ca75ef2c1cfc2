// GET /v3/manage/providers: the health of the providers.

import { type ProviderState, type ProviderStates, providerStates } from "../../contract/providers.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

export function providerRoutes(describeProviders: () => ProviderState[]): Route[] {
  return [
    defineRoute({
      id: "listProviders",
      tag: "Providers",
      summary: "List providers with their health",
      description:
        "The providers that the gateway knows, and for each offer that was called its circuit, latency and last error.",
      method: "GET",
      path: "/v3/manage/providers",
      key: "management",
      role: "viewer",
      reach: "team",
      answers: [{ status: 200, description: "The providers.", schema: providerStates }],
      run({ caller }) {
        const items = caller.team === null ? describeProviders() : describeProviders().map(withoutCalls);
        return replyJson({ process: process.pid, items } satisfies ProviderStates);
      },
    }),
  ];
}

/** Errors and figures come from the calls of all teams, so a role that is limited to one team does not see them. */
function withoutCalls(provider: ProviderState): ProviderState {
  return { ...provider, last_error: null, deployments: [] };
}
