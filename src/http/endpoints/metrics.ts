// GET /metrics: the figures of all processes of the gateway, as text for Prometheus.

import { contentType, toPrometheusText } from "../../metrics/family.ts";
import type { ReadAllMetrics } from "../../metrics/metrics-link.ts";
import { reply } from "../reply.ts";
import { defineRoute, type Route, type RouteKey } from "../route.ts";

/** `key` is `none` only on a port of its own. */
export function metricsRoutes(readAll: ReadAllMetrics, key: Extract<RouteKey, "none" | "management">): Route[] {
  return [
    defineRoute("getMetrics", "Read the metrics", {
      tag: "Service",
      description:
        "The figures of all processes of this gateway in the text format of Prometheus. Needs a management key, or a port of its own " +
        "(`SWITCHYARD_METRICS_PORT`), where it needs none.",
      method: "GET",
      path: "/metrics",
      key,
      role: "viewer",
      reach: "gateway",
      isProbe: true,
      answers: [{ status: 200, description: "The metrics.", contentType: "text/plain" }],
      run: async () => reply(toPrometheusText(await readAll()), { headers: { "content-type": contentType } }),
    }),
  ];
}
