// The real server in front of a few public routes, without the rest of the gateway.

import { afterAll } from "bun:test";
import { createLimits } from "../../src/access/limits.ts";
import type { ServedRoute } from "../../src/http/route.ts";
import { type ServerOptions, startServer } from "../../src/http/server.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { openPatientAdmission } from "./patient-admission.ts";

export function startTestServer(routes: readonly ServedRoute[], more: Partial<ServerOptions> = {}) {
  const ticker = createTicker(10);
  const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
  const admission = openPatientAdmission(log);
  const server = startServer({
    host: "127.0.0.1",
    port: 0,
    routes,
    // Public routes need no key.
    authenticator: {
      authenticate() {
        throw new TypeError("a public route asked for a key");
      },
    },
    limits: createLimits(),
    bodyLimits: { maxBodyBytes: 1_048_576, bodyTimeoutMs: 60_000 },
    ticker,
    admission,
    log,
    ...more,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    stop: server.stop,
    beginDrain: server.beginDrain,
    untilAnnounced: server.untilAnnounced,
    close() {
      server.stopNow();
      ticker.close();
      admission.close();
    },
  };
}

/** Closed after the last test of the file. */
export function openTestServer(routes: readonly ServedRoute[]) {
  const { url, close } = startTestServer(routes);
  afterAll(close);
  return (path: string, headers: Record<string, string> = {}) =>
    // The first page of the documentation is sent when all pages are built, which takes more than a minute on a busy machine.
    fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(240_000) });
}
