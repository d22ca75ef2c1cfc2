// GET /healthz: the process is alive. GET /readyz: requests are served; with `?verbose` it also lists degraded components.

import { type Degradation, health, readiness, readinessQuery } from "../../contract/health.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Service", method: "GET", key: "none", isProbe: true } as const;
const headers = { "cache-control": "no-store" };

export function healthRoutes({ whyNotReady, listDegradations, isOperator, readStatus }: RouteDependencies): Route[] {
  return [
    defineRoute("getHealth", "Check that the process is alive", {
      ...common,
      path: "/healthz",
      answers: [{ status: 200, description: "The process is alive.", schema: health }],
      run: () => replyJson({ status: "ok" }, { headers }),
    }),
    defineRoute("getReadiness", "Check that requests are served", {
      ...common,
      description:
        "For load balancers. 200 while requests are served, also from memory while the store does not answer; 503 while the process " +
        "shuts down, when known keys are too old to be accepted from memory, or when calls can no longer be recorded. `verbose` lists " +
        "degraded components; with a management key, also their names, the reasons, and the configuration that serves.",
      path: "/readyz",
      query: readinessQuery,
      answers: [{ status: 200, description: "Requests are served.", schema: readiness }],
      errors: ["draining", "dependency_unavailable"],
      async run({ query, request }) {
        const refusal = whyNotReady();
        if (refusal !== null) throw refusal;
        if (query.verbose !== true) return replyJson({ status: "ok" }, { headers });
        const degraded = listDegradations();
        if (!(await isOperator(request.headers.get("authorization"))))
          return replyJson({ status: toStatus(degraded), degraded: withoutDetails(degraded) }, { headers });
        const status = await readStatus();
        const all = [...degraded, ...(status?.degraded ?? [])];
        const { configuration } = status ?? {};
        return replyJson({ status: toStatus(all), degraded: all, configuration }, { headers });
      },
    }),
  ];
}

function toStatus(degraded: readonly Degradation[]): "ok" | "degraded" {
  return degraded.length === 0 ? "ok" : "degraded";
}

/** Names of providers and models, and what fails, are not for everyone who can reach the port. */
function withoutDetails(degraded: readonly Degradation[]): Degradation[] {
  return Array.from(new Set(degraded.map(({ component }) => component)), (component) => ({ component }));
}
