// GET /healthz: the process lives. GET /readyz: requests are served. With `?verbose` it also says what is degraded.

import type { Degradation } from "../../contract/health.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Call, Route } from "../route.ts";

export interface Readiness {
  /** Null while requests are served, else why not. */
  readonly whyNotReady: () => "draining" | "dependency_unavailable" | null;
  /** What does not work as it should while requests are served. */
  readonly listDegradations: () => readonly Degradation[];
}

const headers = { "cache-control": "no-store" };
const ok = () => replyJson({ status: "ok" }, { headers });

export function healthRoutes({ whyNotReady, listDegradations }: Readiness): Route[] {
  function readyz({ query }: Call): Reply {
    const isVerbose = readVerbose(query);
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
    if (!isVerbose) return ok();
    const degraded = listDegradations();
    return replyJson({ status: degraded.length === 0 ? "ok" : "degraded", degraded }, { headers });
  }
  return [
    { method: "GET", path: "/healthz", key: "none", isProbe: true, run: ok },
    { method: "GET", path: "/readyz", key: "none", isProbe: true, run: readyz },
  ];
}

function readVerbose(query: URLSearchParams): boolean {
  const value = query.get("verbose");
  if (value === null || value === "false") return false;
  if (value === "" || value === "true" || value === "1") return true;
  throw new ValidationError([
    { loc: ["query", "verbose"], msg: "Input should be 'true' or 'false'", type: "bool_parsing" },
  ]);
}
