// A serving process: creates the services that answer requests, starts the servers, and can be stopped.

import { createAudit } from "./access/audit.ts";
import { openKeyring } from "./access/keys.ts";
import { createLimits } from "./access/limits.ts";
import type { GatewayIdentity } from "./access/rate-shares.ts";
import { createSessions } from "./access/sessions.ts";
import { createOidc } from "./access/sessions-oidc.ts";
import type { CounterFile } from "./access/shared-counters.ts";
import { createTeams } from "./access/teams.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import { listSettings } from "./config/shown-settings.ts";
import type { Config } from "./config.ts";
import type { Degradation, GatewayStatus } from "./contract/health.ts";
import { checkReceiver } from "./egress/receiver.ts";
import { describeGroups } from "./engines/local/describe-groups.ts";
import type { EngineProcess } from "./engines/local/remote-pool.ts";
import { GatewayError } from "./errors.ts";
import { startFileSweeper } from "./files/sweeper.ts";
import { createUploads } from "./files/uploads.ts";
import { Admission, describeAdmission } from "./http/admission.ts";
import { createAuthenticator } from "./http/authenticate.ts";
import { Capture } from "./http/capture.ts";
import { createCors } from "./http/cors.ts";
import { startDescriptorGuard } from "./http/descriptor-guard.ts";
import { dashboardRoutes } from "./http/endpoints/dashboard.ts";
import { metricsRoutes } from "./http/endpoints/metrics.ts";
import { responsesSocket } from "./http/endpoints/responses-socket.ts";
import { Handover, type ListenerName } from "./http/handover.ts";
import { createHostCheck } from "./http/host-check.ts";
import { openListenerControl } from "./http/listener-control.ts";
import type { LoadLimits } from "./http/load-watch.ts";
import type { ServedRoute } from "./http/route.ts";
import { isOperatorPath } from "./http/router.ts";
import { createRoutes } from "./http/routes.ts";
import { type Server, startServer } from "./http/server.ts";
import { SignInLimit } from "./http/sign-in-limit.ts";
import type { SocketRoute } from "./http/socket.ts";
import { createChatCompletions } from "./inference/chat-completions.ts";
import { createEmbeddings } from "./inference/embeddings.ts";
import { createLineExplainer } from "./inference/explain-line.ts";
import { createMessages } from "./inference/messages/messages.ts";
import { describeProviders, listOpenCircuits } from "./inference/provider-states.ts";
import { type Refusal, toRefusalLine } from "./inference/report.ts";
import { createConversationStore } from "./inference/responses/conversation-store.ts";
import { createResponses } from "./inference/responses/responses.ts";
import { createRoutingPreviews } from "./inference/routing-preview.ts";
import { createCollections } from "./inference/universal-ai/collections.ts";
import { toTaskOffers } from "./inference/universal-ai/task-offers.ts";
import { createJobs } from "./jobs/jobs.ts";
import { createManagedJobs } from "./jobs/managed-jobs.ts";
import { openWebhookKeys } from "./jobs/webhook-keys.ts";
import { createAddressRanges, createHostRule } from "./lib/addresses.ts";
import { endsWithin } from "./lib/deadline.ts";
import type { HandoverAddress, HandoverMessage, HandoverReport } from "./lib/handover.ts";
import { once } from "./lib/once.ts";
import { createOwnedIds } from "./lib/owned-id.ts";
import { createResponseIds } from "./lib/response-id.ts";
import { createSealer, parseSealingKeys } from "./lib/seal.ts";
import { dayMs, hourMs } from "./lib/time-units.ts";
import type { Log } from "./log.ts";
import type { MetricsAccess } from "./metrics/metrics-link.ts";
import { hasModels } from "./providers/provider.ts";
import { createServices } from "./services.ts";
import type { Storage } from "./storage/storage.ts";
import { deleteInBatches, startSweeper } from "./storage/sweeper.ts";
import { createContentRules } from "./tracing/content.ts";
import { createCaptures } from "./usage/captures.ts";
import { createLatencyReports } from "./usage/latency.ts";
import { createUsageReports } from "./usage/reports.ts";
import { createRequestLog } from "./usage/requests.ts";
import { startLedgerRetention } from "./usage/retention.ts";
import { version } from "./version.ts";

export interface Gateway {
  readonly port: number;
  /** Drains: reports not ready at once, serves new requests for the drain delay, and waits for running ones up to the drain timeout. */
  stop(): Promise<void>;
  /** What the operator is told about the start: the configured providers, and the pages for people. */
  readonly summary: { readonly providers: readonly string[]; readonly pages: readonly string[] };
}

const pages = ["/docs", "/dashboard"];

export interface GatewayOptions {
  /** Tests set them, because a machine that is busy with other programs is slow. */
  readonly loadLimits?: Partial<LoadLimits>;
  /** Absent: this process starts the workers of local engines itself. */
  readonly engineProcess?: EngineProcess;
  /** Absent: this process counts alone. */
  readonly counters?: CounterFile | undefined;
  /** Absent: this process is a gateway of its own. */
  readonly gateway?: GatewayIdentity;
  /** Absent: the metrics are those of this process. */
  readonly metrics?: MetricsAccess | undefined;
  /** Absent: no other process takes over from this one. */
  readonly handover?: HandoverLink | undefined;
  /** What the supervisor knows; absent: the process runs without a supervisor. */
  readonly readStatus?: (() => Promise<GatewayStatus | null>) | undefined;
}

/** The connection with the supervisor during a reload. */
export interface HandoverLink {
  readonly address: HandoverAddress;
  listen(receive: (message: HandoverMessage) => void): void;
  report(report: HandoverReport): void;
}

const longestMonthDays = 31;
// The time that connections in the handshake need to arrive, after the listener began to refuse new ones.
const settleMs = 100;
const maxAcceptMs = 5_000;
// For the first request of a connection that was accepted just before the listener was closed, also on a busy machine.
const replacedLingerMs = 2_000;
// For the error events of streams that are aborted at the end of the drain.
const finalEventsMs = 500;

/** `mayServe` resolves when the listeners may be opened. */
export async function startGateway(
  config: Config,
  log: Log,
  mayServe: () => Promise<void>,
  { loadLimits, ...shared }: GatewayOptions = {},
): Promise<Gateway> {
  const services = await createServices(config, log, { ...shared, works: false });
  const { providers, storage, ticker, shutdown, health, book, calling, egress, fetchMedia, chatRouter } = services;
  const { files, resources, engines, universalAi, ledger, metrics, tracing, readAll: readMetrics } = services;
  const { adminKey, keysStaleAfterMs: staleAfterMs, defaults } = config;
  const keyring = await openKeyring({ storage, adminKey, staleAfterMs, defaults, names: services.countedNames, log });
  const authenticator = createAuthenticator(keyring);
  const audit = createAudit(storage.audit, log);
  const sessions = createSessions({
    storage,
    keyring,
    idleTimeoutMs: config.sessionIdleTimeoutMs,
    lifetimeMs: config.sessionLifetimeHours * hourMs,
    people: config.oidc,
    log,
  });
  const captures = await openCaptures(config, storage, log);
  const accessSweeper = startSweeper(
    { name: "Ended sessions, audit records and captured requests", log },
    () => deleteInBatches(captures.deleteOld),
    () => deleteInBatches((limit) => storage.sessions.deleteExpired(Date.now(), limit)),
    async () => {
      const before = Date.now() - config.auditRetentionDays * dayMs;
      await deleteInBatches((limit) => storage.audit.deleteOld(before, limit));
    },
  );
  const aliases = new Set(config.aliases.keys());
  const chatCompletions = createChatCompletions({ ...calling, router: chatRouter, fetchMedia });
  const messages = createMessages({ ...calling, router: chatRouter, chatCompletions, fetchMedia });
  const embeddings = createEmbeddings({
    ...calling,
    local: services.localEmbeddings,
    router: services.embeddingsRouter,
  });
  if (config.databaseUrl !== null && config.filesS3Bucket === null)
    log.warn("files are stored in the data folder: replicas on other machines need a shared folder or a bucket");
  const uploads = createUploads({
    store: files,
    ticker,
    maxFileBytes: config.maxFileBytes,
    idleTimeoutMs: config.bodyTimeoutMs,
    totalTimeoutMs: config.uploadTimeoutMs,
  });
  const fileSweeper = startFileSweeper({ store: files, log });
  const jobs = createJobs({
    jobs: storage.jobs,
    deliveries: storage.deliveries,
    universalAi,
    budgets: calling.callLimits,
    checkReceiver: (url, ownHost) => checkReceiver(url, egress, { ownHosts: [ownHost] }),
    lifetimeMs: config.jobLifetimeDays * dayMs,
    maxUnfinished: config.maxQueuedJobsPerKey,
  });
  const collections = createCollections({
    rows: storage.collections,
    universalAi,
    callLimits: calling.callLimits,
    checkLedger: calling.checkLedger,
    report: calling.report,
    totalTimeoutMs: config.totalTimeoutMs,
    shutdownSignal: shutdown.signal,
    log,
  });
  const ledgerRetention = startLedgerRetention({
    store: storage.ledger,
    lineDays: config.ledgerRetentionDays,
    totalDays: config.usageRetentionDays,
    log,
  });
  // Later than their lines, so that both can be compared. A partition of lines is kept until its month is over.
  const endedBefore = () => Date.now() - (config.ledgerRetentionDays + longestMonthDays) * dayMs;
  const budgetSweeper = startSweeper(
    { name: "Accounts of budgets that ended", log, everyMs: hourMs },
    () => deleteInBatches((limit) => storage.budgets.deleteEnded(endedBefore(), limit)),
    () => deleteInBatches((limit) => storage.deliveries.deleteAlerts(endedBefore(), limit)),
  );
  const collectionSweeper = startSweeper({ name: "Abandoned collections", log }, collections.sweep);
  const webhookKeys = openWebhookKeys({ secrets: storage.secrets, log });
  const idSecret = await storage.secrets.getOrCreate("response-ids", 32);
  // Without an encryption key, only conversations with the sandbox, which are test data, are stored, sealed with this key.
  const sandboxKey = Buffer.from(await storage.secrets.getOrCreate("sandbox-responses", 32));
  const responses = createResponses({
    ...calling,
    router: chatRouter,
    chatCompletions,
    fetchMedia,
    owned: createOwnedIds(idSecret),
    conversations: createConversationStore({
      store: storage.responses,
      ids: createResponseIds(idSecret),
      storesAll: config.responsesStoreForAll,
      sealer: createSealer([
        ...(config.encryptionKey === null ? [] : parseSealingKeys(config.encryptionKey)),
        sandboxKey,
      ]),
      lifetimeMs: config.responsesLifetimeDays * dayMs,
      providers,
      log,
    }),
  });
  const mayNameHost = createHostRule(createAddressRanges(config.egressAllow));
  const responseSweeper = startSweeper({ name: "Expired responses", log }, async () => {
    await deleteInBatches((limit) => storage.responses.deleteExpired(Date.now(), limit));
  });
  const catalogue = createCatalogue(
    [...providers.values()].filter(({ row }) => hasModels(row)),
    () => toTaskOffers(engines, book),
    book,
  );
  services.credentials.onChanged(() => catalogue.forget());
  // Groups that are added later are used after a restart.
  const listEngines = once(describeGroups);
  let draining = false;
  let descriptorGuard: ReturnType<typeof startDescriptorGuard> = null;
  const routes = createRoutes({
    catalogue,
    keyring,
    authenticator,
    sessions,
    signInLimit: new SignInLimit(),
    oidc: await createSignIn(config, storage, log),
    audit,
    teams: createTeams({ storage, keyring, defaults }),
    usageReports: createUsageReports(storage.usageReports),
    latencyReports: createLatencyReports(storage.latencies),
    requestLog: createRequestLog(
      storage.usageReports,
      createLineExplainer(calling.pricing, (name) => providers.get(name)?.row),
    ),
    captures,
    budgets: storage.budgets,
    rates: services.rates,
    chatCompletions,
    messages,
    embeddings,
    responses,
    universalAi,
    collections,
    jobs,
    managedJobs: createManagedJobs(storage),
    webhookKeys,
    files,
    uploads,
    resources,
    describeProviders: () => describeProviders(providers.values(), health),
    credentials: services.credentials,
    testProvider: services.testProvider,
    routing: createRoutingPreviews({
      table: services.table,
      routers: { chat: chatRouter, embeddings: services.embeddingsRouter },
      universalAi,
      findModel: (id) => catalogue.models.find(id)?.model,
      retries: config.retries,
    }),
    describeSettings: () => ({
      version,
      file: config.file,
      data_dir: config.dataDir,
      store: config.databaseUrl === null ? "sqlite" : "postgresql",
      engines: listEngines(),
      settings: listSettings(config),
    }),
    readMetrics,
    aliases,
    mayNameHost,
    heartbeat: { heartbeatMs: config.heartbeatMs, ticker },
    log,
    whyNotReady() {
      if (draining) return new GatewayError("draining", "The gateway is shutting down.");
      if (keyring.isStale()) return new GatewayError("dependency_unavailable", keysTooOld);
      return caught(() => ledger.refuseWhenFull());
    },
    listDegradations: () => [
      ...(storage.isHealthy() ? [] : [describeDegradation("store")]),
      ...(ledger.isBehind ? [describeDegradation("ledger")] : []),
      ...(admission.isOverloaded ? [describeDegradation("overload")] : []),
      ...(descriptorGuard?.isRefusing === true ? [describeDegradation("connections")] : []),
      ...listOpenCircuits(providers.values(), health),
    ],
    isOperator: async (authorization) => {
      if (authorization === null) return false;
      const { role, team } = await authenticator.authenticate(authorization, () => "probe");
      return role !== null && team === null;
    },
    readStatus: shared.readStatus ?? (async () => null),
  });

  const admission = new Admission({
    loadLimits: { delayLimitMs: config.overloadDelayMs, ...loadLimits },
    maxRunning: config.maxRunningRequests,
    log,
  }).start();
  const onRefused = (refusal: Refusal) => {
    const { caller, endpoint, outcome } = refusal;
    const refused = { keyId: caller?.keyId ?? null, endpoint, outcome, tags: caller?.tags };
    ledger.recordRefusal(refused, () => toRefusalLine(refusal));
  };
  metrics.addGauges(() => describeAdmission(admission.state()));
  const trustedProxies = createAddressRanges(config.trustedProxies);
  const serverOptions = {
    host: config.host,
    authenticator,
    sessions,
    limits: createLimits(config, services.rates),
    bodyLimits: config,
    socketLimits: {
      maxWebSocketsPerKey: config.maxWebsocketsPerKey,
      maxWebSocketMessageBytes: config.maxWebsocketMessageBytes,
    },
    publicUrl: config.publicUrl,
    trustedProxies,
    cors: createCors(config.corsOrigins),
    checkHost: createHostCheck({ host: config.host, publicUrl: config.publicUrl, trustedProxies }),
    tls: config.tls,
    ticker,
    admission,
    onRefused,
    metrics,
    tracing,
    capture: captures.isEnabled ? new Capture(captures) : null,
    log,
  };
  const served = [...routes, ...dashboardRoutes(log)];
  const publicRoutes = config.adminPort === null ? served : served.filter(({ path }) => !isOperatorPath(path));
  const hasRoute = (path: string) => served.some((route) => route.path === path);
  const limits = serverOptions.limits;
  const sockets = [
    responsesSocket({ responses, files, aliases, mayNameHost, onRefused, tracing, log, begin: limits.begin }),
  ];
  const link = shared.handover;
  const handover = link === undefined ? null : new Handover(link.address);
  const listen = (name: ListenerName, port: number, routes: readonly ServedRoute[], sockets?: SocketRoute[]) =>
    startServer({
      ...serverOptions,
      ...{ port, routes, handover: handover?.forListener(name) },
      ...(sockets !== undefined && { sockets }),
    });
  await mayServe();
  const main = listen("public", config.port, publicRoutes, sockets);
  const servers: Server[] = [main];
  if (config.adminPort !== null) {
    // Everything: the dashboard calls models and lists them, and a page may call its own origin only.
    servers.push(listen("admin", config.adminPort, served));
  }
  if (config.metricsPort !== null)
    servers.push(listen("metrics", config.metricsPort, metricsRoutes(readMetrics, "none")));

  const listeners = openListenerControl(servers.map(({ port }) => port));
  descriptorGuard = listeners === null ? null : startDescriptorGuard(listeners, ticker, log);

  link?.listen((message) => {
    if (message.handover === "active") handover?.settle();
    else {
      if (listeners?.steer(message.to) !== true) log.debug("new connections could not be steered to other processes");
      link.report({ state: "steered" });
    }
  });

  async function stop(): Promise<void> {
    draining = true;
    // A configuration that never became active: requests that waited for it are answered by the active one.
    handover?.settle();
    for (const server of servers) server.beginDrain();
    await Bun.sleep(config.drainDelayMs);
    descriptorGuard?.close();
    const isClosed = listeners?.refuse() === true;
    if (isClosed) {
      await Bun.sleep(settleMs);
      // Closing the socket would reset them. A process that gets little of the machine's time accepts them late.
      for (let waitedMs = 0; listeners.countWaiting() > 0 && waitedMs < maxAcceptMs; waitedMs += settleMs)
        await Bun.sleep(settleMs);
      listeners.close();
    }
    const stopServers = () => Promise.all(servers.map((server) => server.stop()));
    // Where only Bun can close the listeners, it closes idle connections as well.
    const mayStop = isClosed ? servers.map((server) => server.untilAnnounced(config.drainDelayMs)) : [];
    // A replaced process passes requests on, so connections on which none has arrived yet may stay for a while.
    if (isClosed && handover?.isActive === false) mayStop.push(Bun.sleep(replacedLingerMs));
    const ended = Promise.all(mayStop).then(stopServers);
    link?.report({ state: "closed" });
    if (!(await endsWithin(ended, config.drainTimeoutMs))) {
      log.warn("requests were still running at the end of the drain");
      shutdown.abort();
      if (!(await endsWithin(stopServers(), finalEventsMs))) for (const server of servers) server.stopNow();
    }
    admission.close();
    await services.close();
    await Promise.all(
      [responseSweeper, fileSweeper, collectionSweeper, ledgerRetention, budgetSweeper, accessSweeper].map((sweeper) =>
        sweeper.stop(),
      ),
    );
    await captures.close();
    await keyring.close();
    await storage.close();
  }

  return { port: main.port, stop, summary: { providers: services.listConfigured(), pages: pages.filter(hasRoute) } };
}

async function createSignIn({ oidc }: Config, storage: Storage, log: Log) {
  if (oidc === null) return null;
  const client = createOidc({
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: oidc.client_secret,
    scopes: oidc.scopes,
    groupsClaim: oidc.groups_claim,
    nameClaims: oidc.name_claims,
    sealer: createSealer([Buffer.from(await storage.secrets.getOrCreate("sign-in", 32))]),
    log,
  });
  return { name: oidc.name, client };
}

/** The key of the store opens what was captured before an encryption key was set. */
async function openCaptures(config: Config, storage: Storage, log: Log) {
  const own = Buffer.from(await storage.secrets.getOrCreate("captures", 32));
  return createCaptures({
    store: storage.captures,
    sealer: createSealer([...(config.encryptionKey === null ? [] : parseSealingKeys(config.encryptionKey)), own]),
    rules: createContentRules(config.captureCharacters, config.traceRedact, log),
    isEnabled: config.captureContent,
    retentionHours: config.captureRetentionHours,
    log,
  });
}

function caught(check: () => void): GatewayError | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const keysTooOld = "The store has not answered for so long that known keys are no longer accepted from memory.";

const degradations = {
  store:
    "The store does not answer. Known keys are served from memory; jobs, files and stored responses are not available.",
  ledger: "The store does not accept lines of the ledger. They wait on disk, and are written when it does.",
  overload: "This process is overloaded, so it refuses some requests with 503.",
  connections: "This process is near its limit of open files, so new connections wait. Raise `ulimit -n`.",
} as const;

function describeDegradation(component: keyof typeof degradations): Degradation {
  return { component, name: component, reason: degradations[component] };
}
