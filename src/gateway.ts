// The only place that constructs: builds every room in order and returns a gateway that can be stopped.

import { openKeyring } from "./access/keys.ts";
import { createLimits } from "./access/limits.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import type { Config } from "./config.ts";
import { features } from "./contract/tasks.ts";
import { createAuthenticator } from "./http/authenticate.ts";
import { refuseNewConnections } from "./http/close-listener.ts";
import { createLoadWatch } from "./http/load-watch.ts";
import { createRoutes } from "./http/routes.ts";
import { type Server, startServer } from "./http/server.ts";
import { createChatCompletions } from "./inference/chat-completions.ts";
import type { AttemptReport } from "./inference/report.ts";
import { createTicker } from "./lib/ticker.ts";
import type { Log } from "./log.ts";
import { configureProviders } from "./providers/configure.ts";
import { HttpClient } from "./providers/http-client.ts";
import { rows } from "./providers/index.ts";
import { openStorage } from "./storage/storage.ts";

export interface Gateway {
  readonly port: number;
  /** Drains: not ready at once, new requests served for a while, running ones finished within a bound. */
  stop(): Promise<void>;
}

const tickMs = 50;
// Connections that were being made when the listener was told to refuse new ones need this long to arrive.
const settleMs = 100;
// For the error events of streams that are ended at the drain's bound.
const lastWordsMs = 500;
const managementPrefix = "/v3/manage/";

export async function startGateway(config: Config, log: Log): Promise<Gateway> {
  const providers = configureProviders(rows, config.providers, config.readProviderSetting);
  for (const provider of providers.values()) for (const secret of provider.secrets) log.hide(secret);
  const storage = await openStorage({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log });
  const keyring = await openKeyring({ storage, adminKey: config.adminKey, staleAfterMs: config.keysStaleAfterMs, log });
  const ticker = createTicker(tickMs);
  const loadWatch = createLoadWatch();
  const ending = new AbortController();
  const http = new HttpClient(ticker);
  const aliases = new Set(config.aliases.keys());
  const chatCompletions = createChatCompletions({
    market: { providers, aliases: config.aliases, features: new Set(features.map((feature) => feature.name)) },
    clocks: config,
    ticker,
    http,
    ending: ending.signal,
    report: (attempt) => logAttempt(attempt, log),
  });
  let draining = false;
  const routes = createRoutes({
    catalogue: createCatalogue([...providers.values()]),
    keyring,
    chatCompletions,
    aliases,
    heartbeatMs: config.heartbeatMs,
    ticker,
    log,
    whyNotReady: () => (draining ? "draining" : storage.isHealthy() ? null : "dependency_unavailable"),
  });

  const door = {
    host: config.host,
    authenticator: createAuthenticator(keyring),
    limits: createLimits(),
    bodyLimits: config,
    ticker,
    loadWatch,
    log,
  };
  const isManagement = (path: string) => path.startsWith(managementPrefix);
  const publicRoutes = config.adminPort === null ? routes : routes.filter(({ path }) => !isManagement(path));
  const main = startServer({ ...door, port: config.port, routes: publicRoutes });
  const servers: Server[] = [main];
  if (config.adminPort !== null) {
    const adminRoutes = routes.filter(({ path }) => isManagement(path) || path === "/healthz" || path === "/readyz");
    servers.push(startServer({ ...door, port: config.adminPort, routes: adminRoutes }));
  }

  async function stop(): Promise<void> {
    draining = true;
    for (const server of servers) server.beginDrain();
    await Bun.sleep(config.drainDelayMs);
    if (servers.map(({ port }) => refuseNewConnections(port)).some(Boolean)) await Bun.sleep(settleMs);
    const ended = Promise.all(servers.map((server) => server.stop())).then(() => true as const);
    if (!(await inTime(ended, config.drainTimeoutMs))) {
      log.warn("requests were still running at the end of the drain");
      ending.abort();
      if (!(await inTime(ended, lastWordsMs))) for (const server of servers) server.stopNow();
    }
    loadWatch.close();
    http.close();
    ticker.close();
    await keyring.close();
    await storage.close();
  }

  return { port: main.port, stop };
}

function inTime(ended: Promise<true>, milliseconds: number): Promise<boolean> {
  return Promise.race([ended, Bun.sleep(milliseconds).then(() => false)]);
}

function logAttempt(attempt: AttemptReport, log: Log): void {
  log.info("attempt", {
    request_id: attempt.requestId,
    key: attempt.keyId,
    provider: attempt.provider,
    model: attempt.model,
    stream: attempt.isStream,
    ms: Math.round(attempt.durationMs),
    input_tokens: attempt.usage?.inputTokens,
    output_tokens: attempt.usage?.outputTokens,
    outcome: attempt.outcome,
  });
}
