// The services that serving and worker processes share: store, providers, engines and files.

import { join } from "node:path";
import { createBudgets } from "./access/budgets.ts";
import { createCallLimits, type FallbackPrice } from "./access/call-limits.ts";
import { waitForPropagation } from "./access/keys.ts";
import { RateLimits } from "./access/rate-limits.ts";
import { type GatewayIdentity, RateShares } from "./access/rate-shares.ts";
import { type CounterFile, openCounters } from "./access/shared-counters.ts";
import { builtInPrices, createPriceBook, loadPrices } from "./catalogue/prices.ts";
import { type Config, storageSettings } from "./config.ts";
import { features } from "./contract/tasks.ts";
import type { UniversalAiRequest } from "./contract/universal-ai.ts";
import { createEgress } from "./egress/egress.ts";
import { createDeclaredEngines } from "./engines/declared.ts";
import { createEmbeddingsEngines } from "./engines/embeddings.ts";
import type { Engine } from "./engines/engine.ts";
import { withCollections } from "./engines/face-collections.ts";
import { createLlmEngines } from "./engines/llm/index.ts";
import { createLocalPool, toEngines, toPoolOptions } from "./engines/local/index.ts";
import { describePools } from "./engines/local/pool-gauges.ts";
import { createRemotePool, type EngineProcess } from "./engines/local/remote-pool.ts";
import { createSandboxEngines } from "./engines/sandbox/index.ts";
import { createVendorEngines } from "./engines/vendors/vendor-engine.ts";
import { createFileStore } from "./files/file-store.ts";
import { createResourceUrls } from "./files/resource-urls.ts";
import type { S3Settings } from "./files/s3-bytes.ts";
import { CandidateLoop } from "./inference/candidate-loop.ts";
import { createChatCompletions } from "./inference/chat-completions.ts";
import { createEmbeddings } from "./inference/embeddings.ts";
import { createLineExplainer, type ExplainLine } from "./inference/explain-line.ts";
import { HealthBook } from "./inference/health.ts";
import { createLocalEmbeddings } from "./inference/local-embeddings.ts";
import { createFetchMedia } from "./inference/media.ts";
import { createPricing } from "./inference/pricing.ts";
import { createProviderCredentials } from "./inference/provider-credentials.ts";
import { describeCircuits } from "./inference/provider-states.ts";
import { type AttemptReport, toLedgerLine } from "./inference/report.ts";
import { createRoutePlanner } from "./inference/route-planner.ts";
import { createProviderTester } from "./inference/test-provider.ts";
import { createCompleter } from "./inference/universal-ai/complete-with-chat.ts";
import { createEmbedder } from "./inference/universal-ai/embed-with-provider.ts";
import { createUniversalAi, type UniversalAiDependencies } from "./inference/universal-ai/universal-ai.ts";
import { picoPerUsd, toPicoPerToken, toUsd } from "./lib/money.ts";
import { createProxyExemption, readProxy } from "./lib/outgoing-proxy.ts";
import { createTicker } from "./lib/ticker.ts";
import { hourMs } from "./lib/time-units.ts";
import type { Log } from "./log.ts";
import type { Family } from "./metrics/family.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { type MetricsAccess, metricsOfOneProcess } from "./metrics/metrics-link.ts";
import { watchProcess } from "./metrics/process-gauges.ts";
import { isSetUp, setUpProviders } from "./provider-setup.ts";
import type { Provider } from "./providers/configure.ts";
import { isNamed } from "./providers/find-provider.ts";
import { HttpClient, type ProxyRule } from "./providers/http-client.ts";
import { rows as builtInRows } from "./providers/index.ts";
import { spellName } from "./providers/model-spelling.ts";
import { hasModels } from "./providers/provider.ts";
import type { BudgetAlert } from "./storage/budgets.ts";
import { openStorage } from "./storage/storage.ts";
import { createQueueGauges, describeHealth } from "./storage/store-gauges.ts";
import { openTracing } from "./tracing/open-tracing.ts";
import { noLedger, openLedger } from "./usage/ledger.ts";
import { describeLedger } from "./usage/ledger-gauges.ts";
import { version } from "./version.ts";

export interface ServicesOptions {
  /** The process that runs local engines; absent: this process starts their workers itself. */
  readonly engineProcess?: EngineProcess | undefined;
  /** Absent: the metrics are those of this process. */
  readonly metrics?: MetricsAccess | undefined;
  /** The counters that the processes of the gateway share; absent: this process counts alone. */
  readonly counters?: CounterFile | undefined;
  /** How other gateways on the same database know this one; absent: the process is a gateway of its own. */
  readonly gateway?: GatewayIdentity | undefined;
  /** Whether the process takes work from the queue. */
  readonly works: boolean;
}

const tickMs = 50;

export async function createServices(config: Config, log: Log, options: ServicesOptions) {
  const { engineProcess, metrics: access = metricsOfOneProcess(createMetrics()) } = options;
  const { metrics } = access;
  const tracing = await openTracing(config, { version, log, metrics });
  const poolName = options.works ? "jobs" : "requests";
  const ownPool = engineProcess === undefined ? createLocalPool(toPoolOptions(config, log)) : null;
  const localPool = ownPool ?? createRemotePool(engineProcess as EngineProcess, poolName, log);
  const local = toEngines(localPool, {
    text: config.localTextTimeoutMs,
    media: config.localMediaTimeoutMs,
    job: config.localJobTimeoutMs,
  });
  const localEmbeddings = createLocalEmbeddings(local.engines);
  const isOn = (name: string) => !config.switchedOff.has(name);
  const { providers, live, priceOverrides } = setUpProviders(config, localEmbeddings.row);
  for (const provider of providers.values()) for (const secret of provider.secrets) log.hide(secret);
  const { databaseUrl, dataDir, encryptionKey } = config;
  const { works } = options;
  const storage = await openStorage({ ...storageSettings(config), works, metrics, log });
  const ledger = config.ledger
    ? openLedger({
        store: storage.ledger,
        folder: join(dataDir, "ledger"),
        maxSpoolBytes: config.ledgerSpoolBytes,
        alerts: {
          thresholds: config.budgetAlertThresholds.map(Number).sort((one, other) => one - other),
          receiver: config.budgetAlertWebhook,
        },
        onAlerts: (alerts) => {
          for (const alert of alerts) logAlert(alert, log);
        },
        log,
      })
    : noLedger;
  const ticker = createTicker(tickMs);
  const shutdown = new AbortController();
  const http = new HttpClient(ticker, readProxyRule(config));
  const table = {
    providers,
    aliases: config.aliases,
    features: new Set(features.map((feature) => feature.name)),
  };
  const health = new HealthBook(config);
  const credentials = createProviderCredentials({
    store: storage.secrets,
    live,
    isEncrypted: encryptionKey !== null,
    switchedOff: config.switchedOff,
    health,
    waitForPropagation,
    log,
  });
  await credentials.refresh();
  storage.onKeysChanged(credentials.refreshQuietly);
  const prices = loadPrices({ builtIn: builtInPrices, operatorFile: config.pricesFile, log });
  const book = createPriceBook(prices, priceOverrides, freeProviders(providers), listOtherNames(providers));
  const pricing = createPricing(book);
  const counters = openCounters(options.counters ?? null, log);
  const gateway = options.gateway ?? { id: crypto.randomUUID(), serves: !works };
  const shares = databaseUrl === null ? null : new RateShares({ store: storage.rateShares, counters, gateway, log });
  await shares?.start();
  const rates = new RateLimits({ counters, shares });
  const budgets = createBudgets({
    store: storage.budgets,
    processId: ledger.processId,
    waitMs: config.budgetWaitMs,
    isLedgerOff: !config.ledger,
    log,
  });
  const calling = {
    providers,
    candidateLoop: new CandidateLoop(config),
    pricing,
    callLimits: createCallLimits({ rates, budgets, fallbackPrice: readFallbackPrice(config) }),
    checkLedger: () => ledger.refuseWhenFull(),
    outputTokensToReserve: config.budgetOutputTokens,
    clocks: config,
    ticker,
    http,
    shutdownSignal: shutdown.signal,
    report(attempt: AttemptReport) {
      const line = toLedgerLine(attempt);
      ledger.record(line);
      countAttempt(attempt, line, metrics);
      logAttempt(attempt, line, log);
    },
  };
  const route = (endpoint: string, serves: (provider: Provider) => boolean) =>
    createRoutePlanner({ table, health, typicalCost: pricing.typicalCost, serves, endpoint });
  const egress = createEgress({
    allow: config.egressAllow,
    dnsServers: config.egressDns,
    proxy: config.egressProxy,
    maxDownloadBytes: config.maxDownloadBytes,
    log,
  });
  const fetchMedia = createFetchMedia(egress);
  const chatRouter = route("chat", ({ row }) => row.chat !== undefined);
  const hasEmbeddings = ({ row, dialect }: Provider) =>
    hasModels(row) && (dialect === null || dialect.embeddings !== undefined);
  const embeddingsRouter = route("embeddings", hasEmbeddings);
  const fileSecret = await storage.secrets.getOrCreate("files", 32);
  const files = createFileStore({
    rows: storage.files,
    folder: join(config.dataDir, "files"),
    s3: readS3Settings(config),
    storeId: Bun.SHA256.hash(fileSecret, "hex"),
    maxOwnerBytes: config.filesMaxOwnerBytes,
    log,
  });
  const resources = createResourceUrls({
    secret: fileSecret,
    store: files,
    baseUrl: config.publicUrl,
    lifetimeMs: config.resourceLifetimeHours * hourMs,
  });
  const chatCalls = { ...calling, router: chatRouter };
  const complete = createCompleter(chatCalls, createChatCompletions({ ...chatCalls, fetchMedia }));
  const embeddingCalls = { ...calling, router: embeddingsRouter };
  const embed = createEmbedder(embeddingCalls, createEmbeddings(embeddingCalls));
  const embeddingProviders = [...providers.values()].filter(
    (provider) => provider.row !== localEmbeddings.row && hasEmbeddings(provider),
  );
  // A request without a model gets the first engine of a provider for the task.
  const allEngines: readonly Engine[] = [
    ...local.engines,
    ...createDeclaredEngines(providers.values(), { ...calling, egress }),
    ...createVendorEngines({
      ...{ ...calling, providers: providers.values(), egress, log },
      priceTokens: pricing.chargeForModel,
    }),
    ...createEmbeddingsEngines(embeddingProviders, embed),
    ...createLlmEngines({ providers: providers.values(), complete, frames: local.internalEngines[0] }),
    ...createSandboxEngines(),
  ];
  const engines = withCollections(
    allEngines.filter(({ provider }) => isOn(provider)),
    storage.collections,
  );
  const taskDependencies: Omit<UniversalAiDependencies, "engines" | "health"> = {
    ...calling,
    aliases: config.aliases,
    files: {
      egress,
      openUpload: (id, owner) => files.open(id, owner),
      maxFileBytes: config.maxFileBytes,
      refuseOverQuota: (owner) => files.refuseOverQuota(owner),
    },
    publish: ({ bytes, mediaType }, owner, base) => resources.publish(bytes, mediaType, owner, { base }),
    totalTimeoutMs: config.totalTimeoutMs,
  };
  const universalAi = createUniversalAi({ ...taskDependencies, health, engines });
  const testProvider = createProviderTester({
    calling,
    fetchMedia,
    listLocalTasks(provider) {
      if (provider.row !== localEmbeddings.row) return null;
      const installed = local.engines.filter(({ unavailableReason }) => unavailableReason === null);
      // Without any, the answer of an engine says how to install it.
      return (installed.length > 0 ? installed : local.engines).map(({ task }) => task);
    },
    async runTask(provider, task, input, context) {
      const isLocal = provider.row === localEmbeddings.row;
      const own = isLocal ? local.engines : createVendorEngines({ ...calling, providers: [provider], egress, log });
      const health = new HealthBook({ ...config, breakerFailures: 0 });
      const request = { model: `${task}/${provider.name}`, input } as UniversalAiRequest;
      const run = createUniversalAi({ ...taskDependencies, health, engines: own });
      return await run.run({ ...context, request, baseUrl: config.publicUrl ?? "" });
    },
  });

  const watch = watchProcess(works ? "worker" : "serving");
  metrics.addGauges(() => [
    ...watch.describe(),
    ...describeCircuits(providers.values(), health),
    ...describeLedger(ledger),
    ...(ownPool === null ? [] : describePools({ [poolName]: ownPool })),
    describeHealth(storage),
    describeBuild(),
  ]);
  metrics.addGatewayGauges(createQueueGauges(storage));

  return {
    providers,
    credentials,
    testProvider,
    /** The names of the providers that have what they need, without the sandbox and the local engines. */
    listConfigured: () => [...providers.values()].filter(isSetUp).map(({ name }) => name),
    /** The names under which calls are counted, for the patterns of keys and teams. */
    countedNames: {
      toProviderNames: (name: string) =>
        [...providers.values()].filter((provider) => isNamed(provider, name)).map((provider) => provider.name),
      spellName: (pattern: string) => spellName(providers.values(), pattern),
    },
    ...access,
    /** Null: traces are not exported. */
    tracing,
    storage,
    ledger,
    ticker,
    /** Aborts the calls that are still running at the end of the drain. */
    shutdown,
    health,
    book,
    calling,
    rates,
    egress,
    fetchMedia,
    /** What the routers choose from. */
    table,
    chatRouter,
    embeddingsRouter,
    files,
    resources,
    engines,
    localEmbeddings,
    universalAi,
    /** Closes everything except the store, which is closed last. */
    async close() {
      watch.close();
      credentials.close();
      shares?.close();
      await budgets.close();
      http.close();
      egress.close();
      ticker.close();
      await localPool.close();
      await ledger.close();
      await tracing?.close();
    },
  };
}

/** Explains costs without a running gateway. */
export function createOfflineExplainer(config: Config, log: Log): ExplainLine {
  const rows = new Map(builtInRows.map((row) => [row.name, { name: row.name, row }]));
  const { priceOverrides } = setUpProviders(config);
  const prices = loadPrices({ builtIn: builtInPrices, operatorFile: config.pricesFile, log });
  const book = createPriceBook(prices, priceOverrides, freeProviders(rows), listOtherNames(rows));
  return createLineExplainer(createPricing(book), (name) => rows.get(name)?.row);
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

/** The names of model APIs, by the provider that has the API. */
function listOtherNames(
  providers: ReadonlyMap<string, Pick<Provider, "row" | "name">>,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...providers.values()].flatMap(({ name, row: { modelAccess } }) =>
      modelAccess === undefined ? [] : [[name, [modelAccess.name]] as const],
    ),
  );
}

function freeProviders(providers: ReadonlyMap<string, Pick<Provider, "row" | "name">>): ReadonlySet<string> {
  return new Set([...providers.values()].filter(({ row }) => row.isFree === true).map(({ name }) => name));
}

function describeBuild(): Family {
  const help = "The version of the gateway, as a label.";
  return { name: "build_info", help, type: "gauge", merge: "max", samples: [{ labels: { version }, value: 1 }] };
}

type CountedTokens = Pick<ReturnType<typeof toLedgerLine>, "input_tokens" | "output_tokens">;

function countAttempt(attempt: AttemptReport, tokens: CountedTokens, metrics: Metrics): void {
  const { provider, outcome, durationMs, firstTokenMs, task } = attempt;
  if (attempt.isFree === true) return;
  metrics.attempt({
    provider,
    model: attempt.model ?? task ?? "",
    outcome,
    durationMs,
    firstTokenMs,
    inputTokens: tokens.input_tokens ?? 0,
    outputTokens: tokens.output_tokens ?? 0,
    cost: attempt.charge?.cost ?? null,
    reason: attempt.attemptReason,
  });
}

/** Failures, and calls without a request whose log line states them: those of jobs and WebSockets. */
function logAttempt(attempt: AttemptReport, tokens: CountedTokens, log: Log): void {
  const { outcome } = attempt;
  const hasFailed = outcome !== "completed" && outcome !== "caller_left";
  if (attempt.isFree === true || (!hasFailed && attempt.hasRequestLine === true)) return;
  const fields = {
    request_id: attempt.requestId,
    job: attempt.jobId ?? undefined,
    key: attempt.caller.keyId,
    path: attempt.endpoint,
    provider: attempt.provider,
    model: toLoggedModel(attempt),
    attempt: attempt.attempt,
    stream: attempt.isStream,
    ms: Math.round(attempt.durationMs),
    input_tokens: tokens.input_tokens,
    output_tokens: tokens.output_tokens,
    cost: attempt.charge?.cost ?? null,
    outcome,
    reason: attempt.reason,
  };
  if (hasFailed) log.warn("attempt", fields);
  else log.info("attempt", fields);
}

function logAlert({ ruleId, threshold, limitPico, spentPico, periodEnd }: BudgetAlert, log: Log): void {
  log.warn(`${threshold} % of a budget are spent`, {
    budget: ruleId,
    limit: toUsd(limitPico),
    spent: toUsd(spentPico),
    resets_at: periodEnd === null ? null : new Date(periodEnd).toISOString(),
  });
}

function toLoggedModel({ task, model }: AttemptReport): string {
  if (task === null) return model ?? "";
  return model === null ? task : `${task}/${model}`;
}

/** Null: a call whose price is unknown is refused if it has a budget. */
function readFallbackPrice({ budgetUnknownPrice, budgetUnknownCallPrice }: Config): FallbackPrice | null {
  if (budgetUnknownPrice === "refuse") return null;
  return {
    perToken: toPicoPerToken(Number(budgetUnknownPrice)),
    perCall: Math.round(Number(budgetUnknownCallPrice) * picoPerUsd),
  };
}

export function readProxyRule({ httpsProxy, noProxy }: Config): ProxyRule | null {
  return httpsProxy === null ? null : { proxy: readProxy(httpsProxy), isExempt: createProxyExemption(noProxy) };
}
