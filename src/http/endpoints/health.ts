// GET /healthz: the process is alive. GET /readyz: requests are served; with `?verbose` it also lists degraded components.

import { health, readiness, readinessQuery } from "../../contract/health.ts";
import { GatewayError } from "../../errors.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Service", method: "GET", key: "none", isProbe: true } as const;
const headers = { "cache-control": "no-store" };

export function healthRoutes({ whyNotReady, listDegradations }: RouteDependencies): Route[] {
  return [
    defineRoute({
      ...common,
      id: "getHealth",
      summary: "Check that the process is alive",
      path: "/healthz",
      answers: [{ status: 200, description: "The process is alive.", schema: health }],
      run: () => replyJson({ status: "ok" }, { headers }),
    }),
    defineRoute({
      ...common,
      id: "getReadiness",
      summary: "Check that requests are served",
      description:
        "For load balancers. 200 while requests are served, also from memory while the store does not answer; 503 while the process " +
        "shuts down, or when known keys are too old to be accepted from memory. `verbose` lists degraded components.",
      path: "/readyz",
      query: readinessQuery,
      answers: [{ status: 200, description: "Requests are served.", schema: readiness }],
      errors: ["draining", "dependency_unavailable"],
      run({ query }) {
        switch (whyNotReady()) {
          case "draining":
            throw new GatewayError("draining", "The gateway is shutting down.");
          case "dependency_unavailable":
            throw new GatewayError(
              "dependency_unavailable",
              "The store has not answered for so long that known keys are no longer accepted from memory.",
            );
          case null:
            break;
        }
        if (query.verbose !== true) return replyJson({ status: "ok" }, { headers });
        const degraded = listDegradations();
        return replyJson({ status: degraded.length === 0 ? "ok" : "degraded", degraded }, { headers });
      },
    }),
  ];
}
