// GET /healthz: the process lives. GET /readyz: requests will be served.

import { GatewayError } from "../../errors.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Route } from "../route.ts";

interface Dependencies {
  /** Null when ready, else why not. */
  readonly whyNotReady: () => "draining" | "dependency_unavailable" | null;
}

const ok = () => replyJson({ status: "ok" }, { headers: { "cache-control": "no-store" } });

export function healthRoutes({ whyNotReady }: Dependencies): Route[] {
  function readyz(): Reply {
    switch (whyNotReady()) {
      case null:
        return ok();
      case "draining":
        throw new GatewayError("draining", "The gateway is going down.");
      case "dependency_unavailable":
        throw new GatewayError("dependency_unavailable", "The store does not answer.");
    }
  }
  return [
    { method: "GET", path: "/healthz", key: "none", run: ok },
    { method: "GET", path: "/readyz", key: "none", run: readyz },
  ];
}
