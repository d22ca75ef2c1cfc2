// GET /v3/manage/live: the counters of all processes of the gateway in one small answer, for pages that show what happens now.

import { type LiveFigures, liveFigures } from "../../contract/live.ts";
import type { Family, Labels } from "../../metrics/family.ts";
import type { ReadAllMetrics } from "../../metrics/metrics-link.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

// The routes of keys that call models; all others are for people and load balancers, or list what can be called.
const countedRoute = /^\/(?:v3|v1)\/(?!manage\/|openapi|models|info)/;
const notFailed = new Set(["completed", "caller_left"]);

export function liveRoutes(readAll: ReadAllMetrics): Route[] {
  return [
    defineRoute("readLiveFigures", "Read what happens now", {
      tag: "Usage",
      description:
        "Counters since the processes of this gateway started. The difference between two answers shows rates and percentiles of the time " +
        "between them; counters that are lower than before show that a process was restarted.",
      method: "GET",
      path: "/v3/manage/live",
      key: "management",
      role: "viewer",
      // The counters are those of all teams.
      reach: "gateway",
      isProbe: true,
      answers: [{ status: 200, description: "The counters.", schema: liveFigures }],
      run: async () => replyJson(toFigures(await readAll())),
    }),
  ];
}

function toFigures(snapshots: readonly (readonly Family[])[]): LiveFigures {
  const families = Map.groupBy(snapshots.flat(), ({ name }) => name);
  const sum = (name: string, counts: (labels: Labels) => boolean = () => true): number => {
    let total = 0;
    for (const family of families.get(name) ?? [])
      if (family.type !== "histogram")
        for (const { labels, value } of family.samples) if (counts(labels)) total += value;
    return total;
  };
  const isCounted = ({ route = "" }: Labels) => countedRoute.test(route);
  return {
    time: new Date().toISOString(),
    requests: sum("http_requests_total", isCounted),
    errors: sum("errors_total", isCounted),
    attempts: sum("attempts_total"),
    failed_attempts: sum("attempts_total", ({ outcome = "" }) => !notFailed.has(outcome)),
    input_tokens: sum("tokens_total", ({ kind }) => kind === "input"),
    output_tokens: sum("tokens_total", ({ kind }) => kind === "output"),
    cost: sum("cost_usd_total"),
    latency: addHistograms(families.get("attempt_duration_seconds") ?? []),
    first_token: addHistograms(families.get("time_to_first_token_seconds") ?? []),
  };
}

function addHistograms(families: readonly Family[]): LiveFigures["latency"] {
  const histograms = families.filter((family) => family.type === "histogram");
  const bounds = histograms[0]?.bounds ?? [];
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const { samples } of histograms)
    for (const sample of samples)
      for (const [index, count] of sample.counts.entries()) counts[index] = (counts[index] ?? 0) + count;
  return { bounds_ms: bounds.map((seconds) => seconds * 1_000), counts };
}
