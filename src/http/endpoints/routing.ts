// `/v3/manage/routing`: the aliases, and a preview of what a request would try.

import type { Caller } from "../../access/caller.ts";
import * as contract from "../../contract/routing.ts";
import { GatewayError } from "../../errors.ts";
import { toKeyRefusal } from "../authenticate.ts";
import { checkScope } from "../check-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Providers", method: "GET", key: "management", role: "viewer", reach: "team" } as const;

export function routingRoutes({
  routing,
  keyring,
  aliases,
}: Pick<RouteDependencies, "routing" | "keyring" | "aliases">): Route[] {
  /** The caller of this key, or why its requests are refused. */
  async function findCaller(keyId: string, endpoint: contract.PreviewEndpoint): Promise<Caller | GatewayError> {
    const found = await keyring.checkById(keyId);
    if ("refused" in found) return toKeyRefusal(found.refused);
    const { caller } = found;
    if (caller.kind === "management")
      return new GatewayError("insufficient_scope", "This is a management key, which calls no models.");
    try {
      checkScope(caller, contract.previewEndpoints[endpoint]);
      return caller;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  /** `ofTeam`: only keys of this team exist for the caller; null: all. */
  async function previewFor(query: contract.PreviewRequest, ofTeam: string | null): Promise<contract.RoutingPreview> {
    if (query.key === undefined) return routing.preview(query);
    const { id } = await keyring.get(query.key, ofTeam);
    const found = await findCaller(id, query.endpoint);
    return found instanceof GatewayError ? routing.refuse(found) : routing.preview(query, found);
  }

  return [
    defineRoute("retrieveRouting", "List the aliases", {
      ...common,
      description: "The names that the operator declared, and the models that they lead to.",
      path: "/v3/manage/routing",
      answers: [{ status: 200, description: "The aliases.", schema: contract.routingTable }],
      run: () => replyJson(routing.describe()),
    }),
    defineRoute("previewRouting", "Preview what a request would try", {
      ...common,
      description:
        "The candidates of a request in the order in which they would be tried, and the reason for each one. No provider is called. Rate limits " +
        "and budgets are not checked, because they depend on the size of the request. Circuits and latencies come from the " +
        "calls of all teams: for a role that is limited to a team they are null, as deployments are.",
      path: "/v3/manage/routing/preview",
      query: contract.createPreviewQuery(aliases),
      answers: [{ status: 200, description: "The preview.", schema: contract.routingPreview }],
      errors: ["key_not_found"],
      example: { query: "model=sandbox/echo&ability=vision" },
      async run({ query, caller }) {
        const preview = await previewFor(query, caller.team);
        return replyJson(caller.team === null ? preview : withoutCalls(preview));
      },
    }),
  ];
}

/**
 * Circuits and latencies come from the calls of all teams, so a role that is limited to one team does not see them. It sees what would be passed
 * over, because requests of its team meet that as well.
 */
function withoutCalls(preview: contract.RoutingPreview): contract.RoutingPreview {
  const hidden = { deployment: null, circuit: null, latency_ms: null };
  return { ...preview, candidates: preview.candidates.map((candidate) => ({ ...candidate, ...hidden })) };
}
