// The port of a gateway that serves no callers, only jobs: /healthz and /readyz for probes, /metrics for Prometheus. None needs a key.

import { contentType, toPrometheusText } from "../metrics/family.ts";
import type { ReadAllMetrics } from "../metrics/metrics-link.ts";

export interface ProbeServerOptions {
  readonly host: string;
  readonly port: number;
  readonly readMetrics: ReadAllMetrics;
}

export function startProbeServer({ host, port, readMetrics }: ProbeServerOptions) {
  let draining = false;
  const server = Bun.serve({
    hostname: host,
    port,
    // All worker processes listen on the same port.
    reusePort: true,
    development: false,
    routes: {
      "/healthz": { GET: () => Response.json({ status: "ok" }) },
      "/readyz": {
        GET: () => Response.json({ status: draining ? "draining" : "ok" }, { status: draining ? 503 : 200 }),
      },
      "/metrics": {
        GET: async () =>
          new Response(toPrometheusText(await readMetrics()), { headers: { "content-type": contentType } }),
      },
    },
    fetch: () => new Response("This port serves /healthz, /readyz and /metrics.\n", { status: 404 }),
  });
  return {
    port: server.port ?? port,
    beginDrain(): void {
      draining = true;
    },
    stop: () => server.stop(true),
  };
}
