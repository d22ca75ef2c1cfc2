// The only place that constructs: builds every room in order and returns a gateway that can be stopped.

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { openKeyring } from "./access/keys.ts";
import { createLimits } from "./access/limits.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import {
  builtInPrices,
  createPriceBook,
  loadPrices,
  type PriceOverrides,
  readPriceOverrides,
} from "./catalogue/prices.ts";
import { type Config, ConfigError } from "./config.ts";
import { features } from "./contract/tasks.ts";
import { createEgress } from "./egress/egress.ts";
import { createDeclaredEngines } from "./engines/declared.ts";
import type { Engine } from "./engines/engine.ts";
import { createLlmEngines } from "./engines/llm/index.ts";
import { createLocalEngines } from "./engines/local/index.ts";
import { createSandboxEngines } from "./engines/sandbox/index.ts";
import { vendorRows } from "./engines/vendors/index.ts";
import { createVendorEngines } from "./engines/vendors/vendor-engine.ts";
import { createFileStore } from "./files/file-store.ts";
import { createResourceUrls } from "./files/resource-urls.ts";
import type { S3Settings } from "./files/s3-bytes.ts";
import { startFileSweeper } from "./files/sweeper.ts";
import { createUploads } from "./files/uploads.ts";
import { createAuthenticator } from "./http/authenticate.ts";
import { refuseNewConnections } from "./http/close-listener.ts";
import { responsesSocket } from "./http/endpoints/responses-socket.ts";
import { createLoadWatch } from "./http/load-watch.ts";
import { createRoutes } from "./http/routes.ts";
import { type Server, startServer } from "./http/server.ts";
import { Attempts } from "./inference/attempts.ts";
import { createChatCompletions } from "./inference/chat-completions.ts";
import { createEmbeddings } from "./inference/embeddings.ts";
import { HealthBook } from "./inference/health.ts";
import { createFetchMedia } from "./inference/media.ts";
import { createMessages } from "./inference/messages/messages.ts";
import { createPricing } from "./inference/pricing.ts";
import { describeProviders } from "./inference/provider-states.ts";
import type { AttemptReport } from "./inference/report.ts";
import { createResponseKeeper } from "./inference/responses/response-keeper.ts";
import { createResponses } from "./inference/responses/responses.ts";
import { createRouter } from "./inference/router.ts";
import { createCompleter } from "./inference/universal-ai/complete-with-chat.ts";
import { toTaskOffers } from "./inference/universal-ai/task-offers.ts";
import { createUniversalAi } from "./inference/universal-ai/universal-ai.ts";
import { createAddressRanges, createHostRule } from "./lib/addresses.ts";
import { createOwnedIds } from "./lib/owned-id.ts";
import { createResponseIds } from "./lib/response-id.ts";
import { createSealer, parseSealingKeys } from "./lib/seal.ts";
import { createTicker } from "./lib/ticker.ts";
import type { Log } from "./log.ts";
import { configureProviders, type Provider } from "./providers/configure.ts";
import { HttpClient } from "./providers/http-client.ts";
import { rows } from "./providers/index.ts";
import { openStorage, type ResponseStore } from "./storage/storage.ts";

export interface Gateway {
  readonly port: number;
  /** Drains: not ready at once, new requests served for a while, running ones finished within a bound. */
  stop(): Promise<void>;
}

const tickMs = 50;
const dayMs = 86_400_000;
const hourMs = 3_600_000;
const sweepEveryMs = 60_000;
const sweptAtOnce = 500;
// Connections that were being made when the listener was told to refuse new ones need this long to arrive.
const settleMs = 100;
// For the error events of streams that are ended at the drain's bound.
const lastWordsMs = 500;
const managementPrefix = "/v3/manage/";

export async function startGateway(config: Config, log: Log): Promise<Gateway> {
  const vendorNames = new Set(vendorRows.map(({ name }) => name));
  const providers = configureProviders(rows, config.providers, config.readProviderSetting, vendorNames);
  for (const provider of providers.values()) for (const secret of provider.secrets) log.hide(secret);
  const storage = await openStorage({ databaseUrl: config.databaseUrl, dataDir: config.dataDir, log });
  const keyring = await openKeyring({ storage, adminKey: config.adminKey, staleAfterMs: config.keysStaleAfterMs, log });
  const ticker = createTicker(tickMs);
  const loadWatch = createLoadWatch();
  const ending = new AbortController();
  const http = new HttpClient(ticker);
  const aliases = new Set(config.aliases.keys());
  const market = {
    providers,
    aliases: config.aliases,
    features: new Set(features.map((feature) => feature.name)),
  };
  const health = new HealthBook(config);
  const prices = loadPrices({ builtIn: builtInPrices, operatorFile: config.pricesFile, log });
  const book = createPriceBook(prices, readOverrides(config.prices), freeProviders(providers));
  const pricing = createPricing(book);
  const calling = {
    attempts: new Attempts(config),
    pricing,
    clocks: config,
    ticker,
    http,
    ending: ending.signal,
    report: (attempt: AttemptReport) => logAttempt(attempt, log),
  };
  const route = (endpoint: string, serves: (provider: Provider) => boolean) =>
    createRouter({ market, health, typicalCost: pricing.typicalCost, serves, endpoint });
  const egress = createEgress({ allow: config.egressAllow, log });
  const fetchMedia = createFetchMedia(egress);
  const chatRouter = route("chat", ({ row }) => row.chat !== false);
  const chatCompletions = createChatCompletions({
    ...calling,
    router: chatRouter,
    fetchMedia,
  });
  const messages = createMessages({ ...calling, router: chatRouter, chatCompletions, fetchMedia });
  const embeddings = createEmbeddings({
    ...calling,
    router: route("embeddings", ({ dialect }) => dialect === null || dialect.embeddings !== undefined),
  });
  const fileSecret = await storage.secrets.getOrCreate("files", 32);
  const files = createFileStore({
    rows: storage.files,
    folder: join(config.dataDir, "files"),
    s3: readS3Settings(config),
    storeId: Bun.SHA256.hash(fileSecret, "hex"),
    log,
  });
  if (config.databaseUrl !== null && config.filesS3Bucket === null)
    log.warn("files lie in the data folder: replicas on other machines need a shared folder or a bucket");
  const uploads = createUploads({
    store: files,
    ticker,
    maxFileBytes: config.maxFileBytes,
    maxOwnerBytes: config.filesMaxOwnerBytes,
    idleTimeoutMs: config.bodyTimeoutMs,
    totalTimeoutMs: config.uploadTimeoutMs,
  });
  const resources = createResourceUrls({
    secret: fileSecret,
    store: files,
    baseUrl: config.publicUrl,
    lifetimeMs: config.resourceLifetimeHours * hourMs,
  });
  const fileSweeper = startFileSweeper({ store: files, log });
  const complete = createCompleter({
    router: chatRouter,
    attempts: calling.attempts,
    chatCompletions: createChatCompletions({ ...calling, report: () => {}, router: chatRouter, fetchMedia }),
  });
  const local = createLocalEngines({
    log,
    concurrency: config.localWorkers ?? Math.max(1, Math.floor((availableParallelism() - 1) / config.workers)),
    maxWaiting: config.localMaxWaiting,
    idleMs: config.localIdleMs,
    maxMemoryBytes: config.localMemoryMb * 1_048_576,
  });
  // Of two engines for one provider and task the first is meant when no model is named.
  const engines: readonly Engine[] = [
    ...createSandboxEngines(),
    ...local.engines,
    ...createDeclaredEngines(providers.values(), calling),
    ...createVendorEngines({
      ...calling,
      rows: vendorRows,
      declared: config.providers,
      readSetting: config.readProviderSetting,
      log,
    }),
    ...createLlmEngines({ providers: providers.values(), complete }),
  ];
  const universalAi = createUniversalAi({
    engines,
    files: { egress, openUpload: (id, owner) => files.open(id, owner), maxFileBytes: config.maxFileBytes },
    publish: ({ bytes, mediaType }, owner, base) => resources.publish(bytes, mediaType, owner, { base }),
    totalTimeoutMs: config.totalTimeoutMs,
    ending: ending.signal,
    report: calling.report,
  });
  const idSecret = await storage.secrets.getOrCreate("response-ids", 32);
  const responses = createResponses({
    ...calling,
    router: chatRouter,
    chatCompletions,
    fetchMedia,
    owned: createOwnedIds(idSecret),
    keeper: createResponseKeeper({
      store: storage.responses,
      ids: createResponseIds(idSecret),
      sealer: config.responsesStoreForAll ? createSealer(parseSealingKeys(config.encryptionKey ?? "")) : null,
      lifetimeMs: config.responsesLifetimeDays * dayMs,
      providers,
      log,
    }),
  });
  const mayNameHost = createHostRule(createAddressRanges(config.egressAllow));
  const sweeper = setInterval(() => void sweepResponses(storage.responses, log), sweepEveryMs);
  let draining = false;
  const routes = createRoutes({
    catalogue: createCatalogue([...providers.values()], toTaskOffers(engines), book),
    keyring,
    chatCompletions,
    messages,
    embeddings,
    responses,
    universalAi,
    files,
    uploads,
    resources,
    publicUrl: config.publicUrl,
    describeProviders: () => describeProviders(providers.values(), health),
    aliases,
    mayNameHost,
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
  const limits = door.limits;
  const sockets = [
    responsesSocket({ responses, aliases, mayNameHost, log, admit: ({ caller }) => limits.admit(caller) }),
  ];
  const main = startServer({ ...door, port: config.port, routes: publicRoutes, sockets });
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
    clearInterval(sweeper);
    http.close();
    ticker.close();
    await local.close();
    await fileSweeper.stop();
    await keyring.close();
    await storage.close();
  }

  return { port: main.port, stop };
}

function readOverrides(written: unknown): PriceOverrides {
  if (written === null) return {};
  const { prices, problems } = readPriceOverrides(written);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `prices: ${problem}`));
  return prices;
}

function readS3Settings(config: Config): S3Settings | null {
  const { filesS3Bucket: bucket, filesS3AccessKeyId: accessKeyId, filesS3SecretAccessKey: secretAccessKey } = config;
  if (bucket === null || accessKeyId === null || secretAccessKey === null) return null;
  return {
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(config.filesS3Endpoint === null ? {} : { endpoint: config.filesS3Endpoint }),
    ...(config.filesS3Region === null ? {} : { region: config.filesS3Region }),
    ...(config.filesS3SessionToken === null ? {} : { sessionToken: config.filesS3SessionToken }),
    prefix: config.filesS3Prefix,
  };
}

function freeProviders(providers: ReadonlyMap<string, Provider>): ReadonlySet<string> {
  return new Set([...providers.values()].filter(({ row }) => row.isFree === true).map(({ name }) => name));
}

/** What has expired is answered as if it had never been; here its bytes go as well. */
async function sweepResponses(store: ResponseStore, log: Log): Promise<void> {
  try {
    while ((await store.deleteExpired(Date.now(), sweptAtOnce)) === sweptAtOnce);
  } catch (error) {
    log.warn("expired responses could not be deleted", { error });
  }
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
    cost: attempt.cost,
    outcome: attempt.outcome,
  });
}
