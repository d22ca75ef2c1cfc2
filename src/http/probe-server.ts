// The port of a gateway that serves no callers, only jobs: /healthz and /readyz for probes, /metrics for Prometheus. None needs a key.

import { contentType, toPrometheusText } from "../metrics/family.ts";
import type { ReadAllMetrics } from "../metrics/metrics-link.ts";

export interface ProbeServerOptions {
  readonly host: string;
  readonly port: number;
  /** Certificate and private key in PEM form; null: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly readMetrics: ReadAllMetrics;
}

export function startProbeServer({ host, port, tls, readMetrics }: ProbeServerOptions) {
  let draining = false;
  const server = Bun.serve({
    hostname: host,
    port,
    // All worker processes listen on the same port.
    reusePort: true,
    ...(tls !== null && { tls: { cert: tls.cert, key: tls.key } }),
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
