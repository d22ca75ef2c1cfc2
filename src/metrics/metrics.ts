// Counts what the process does, for Prometheus. Recording a request or an attempt is a lookup and a few additions; everything else happens when
// the metrics are read.

import type { Family, HistogramSample, Sample } from "./family.ts";
import { CounterFamily, Counts, Histogram, HistogramFamily } from "./series.ts";

/** Seconds. Answers of models take from milliseconds (a cache, a local engine) to many minutes (a long stream). */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Operations of the store take from parts of a millisecond to their deadline. */
const storeBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Jobs wait in the queue, and may run for hours. */
const jobBounds = [0.05, 0.25, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600];
// Callers choose model names, so the number of time series is bounded. The rest is counted under `other`.
const mostModels = 500;
const other = "other";

/** What is recorded about an attempt. */
export interface AttemptFigures {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly durationMs: number;
  /** Null: the answer was not streamed, or nothing arrived. */
  readonly firstTokenMs: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** USD; null when it is unknown. */
  readonly cost: number | null;
  /** Why the call was made; `first` for the first call of a request. */
  readonly reason: AttemptReason;
}

export type AttemptReason = "first" | "retry" | "other_deployment" | "fallback";

export interface DeliveryFigures {
  /** `delivered`, `retry`, `failed` or `blocked`. */
  readonly outcome: string;
  readonly durationMs: number;
}

export interface JobFigures {
  readonly task: string;
  /** `success` or `fail`. */
  readonly status: string;
  /** From the submission to the end. */
  readonly durationMs: number;
}

export interface StoreFigures {
  /** The name of the part of the store: `jobs`, `ledger` … */
  readonly store: string;
  readonly mode: "read" | "write";
  readonly durationMs: number;
  readonly hasFailed: boolean;
}

class RouteSeries {
  readonly statuses = new Counts();
  readonly errors = new Counts();
  readonly durations = new Histogram(durationBounds);
}

class OfferSeries {
  readonly provider: string;
  readonly model: string;
  readonly outcomes = new Counts();
  readonly durations = new Histogram(durationBounds);
  readonly firstTokens = new Histogram(durationBounds);
  inputTokens = 0;
  outputTokens = 0;
  cost = 0;
  unknownCosts = 0;
  readonly retries = new Counts();

  constructor(provider: string, model: string) {
    this.provider = provider;
    this.model = model;
  }
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const routes = new Map<string, RouteSeries>();
  const offers = new Map<string, OfferSeries>();
  const work = createWorkFamilies();
  const gauges: ReadFamilies[] = [];
  const gatewayGauges: ReadFamilies[] = [];

  function routeOf(route: string): RouteSeries {
    let series = routes.get(route);
    if (series === undefined) {
      series = new RouteSeries();
      routes.set(route, series);
    }
    return series;
  }

  /** A model gets a series of its own with its first complete answer, so that names that no provider knows get none. */
  function offerOf(provider: string, model: string, isCompleted: boolean): OfferSeries {
    const name = `${provider}/${model}`;
    const known = offers.get(name);
    if (known !== undefined) return known;
    if (!isCompleted || offers.size >= mostModels) return sharedOf(provider);
    const series = new OfferSeries(provider, model);
    offers.set(name, series);
    return series;
  }

  /** Providers are configured by the operator, so their number is bounded. */
  function sharedOf(provider: string): OfferSeries {
    const name = `${provider}/`;
    let series = offers.get(name);
    if (series === undefined) {
      series = new OfferSeries(provider, other);
      offers.set(name, series);
    }
    return series;
  }

  return {
    /** `route`: the path of the route, not of the request. `code`: of the error that the caller received. */
    request(route: string, status: number, code: string | null, durationMs: number): void {
      const series = routeOf(route);
      series.statuses.add(String(status));
      series.durations.observe(durationMs / 1_000);
      if (code !== null) series.errors.add(code);
    },

    attempt(figures: AttemptFigures): void {
      const { provider, model, outcome, firstTokenMs, cost } = figures;
      const series = offerOf(provider, model, outcome === "completed");
      series.outcomes.add(outcome);
      series.durations.observe(figures.durationMs / 1_000);
      if (firstTokenMs !== null) series.firstTokens.observe(firstTokenMs / 1_000);
      series.inputTokens += figures.inputTokens;
      series.outputTokens += figures.outputTokens;
      if (cost !== null) series.cost += cost;
      else if (outcome === "completed") series.unknownCosts++;
      if (figures.reason !== "first") series.retries.add(figures.reason);
    },

    /** One attempt to deliver a webhook. */
    delivery({ outcome, durationMs }: DeliveryFigures): void {
      work.deliveries.observe([outcome], durationMs / 1_000);
    },

    /** A job that has ended. */
    job({ task, status, durationMs }: JobFigures): void {
      work.jobs.observe([task, status], durationMs / 1_000);
    },

    /** One operation of the store, or one transaction of several calls. */
    storeOperation({ store, mode, durationMs, hasFailed }: StoreFigures): void {
      work.operations.observe([store, mode], durationMs / 1_000);
      if (hasFailed) work.failedOperations.add([store, mode]);
    },

    /** `read` is called when the metrics are read. */
    addGauges(read: ReadFamilies): void {
      gauges.push(read);
    },

    /** As `addGauges`, for figures that all processes of the gateway share: only the process that answers a scrape reads them. */
    addGatewayGauges(read: ReadFamilies): void {
      gatewayGauges.push(read);
    },

    /** Everything that was recorded since the start of the process. */
    async collect(): Promise<Family[]> {
      const measured = await readEach(gauges);
      const families = Object.values(work).map((family) => family.toFamily());
      return [...describeRoutes(routes), ...describeOffers([...offers.values()]), ...families, ...measured];
    },

    collectGateway: (): Promise<Family[]> => readEach(gatewayGauges),
  };
}

type ReadFamilies = () => readonly Family[] | Promise<readonly Family[]>;

/** A figure that cannot be read, such as one of a store that is away, must not hide the others. */
async function readEach(reads: readonly ReadFamilies[]): Promise<Family[]> {
  const results = await Promise.allSettled(reads.map(async (read) => await read()));
  return results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

function createWorkFamilies() {
  return {
    operations: new HistogramFamily(
      {
        name: "store_operation_duration_seconds",
        help: "Time that operations of the store take, by part of the store and mode.",
        labels: ["store", "mode"],
      },
      storeBounds,
    ),
    failedOperations: new CounterFamily({
      name: "store_failures_total",
      help: "Operations of the store that failed.",
      labels: ["store", "mode"],
    }),
    jobs: new HistogramFamily(
      {
        name: "job_duration_seconds",
        help: "Time from the submission of a job to its end.",
        labels: ["task", "status"],
      },
      jobBounds,
    ),
    deliveries: new HistogramFamily(
      {
        name: "delivery_duration_seconds",
        help: "Attempts to deliver a webhook, by outcome: delivered, retry, failed or blocked.",
        labels: ["outcome"],
      },
      durationBounds,
    ),
  };
}

function describeRoutes(routes: ReadonlyMap<string, RouteSeries>): Family[] {
  const each = (counts: (series: RouteSeries) => Counts, label: string): Sample[] =>
    [...routes].flatMap(([route, series]) =>
      [...counts(series).values].map(([value, count]) => ({ labels: { route, [label]: value }, value: count })),
    );
  return [
    {
      name: "http_requests_total",
      help: "Requests that were answered, by route and status.",
      type: "counter",
      samples: each(({ statuses }) => statuses, "status"),
    },
    {
      name: "errors_total",
      help: "Requests that were answered with an error, by route and error code.",
      type: "counter",
      samples: each(({ errors }) => errors, "code"),
    },
    {
      name: "http_request_duration_seconds",
      help: "Time from the arrival of a request to the end of its answer.",
      type: "histogram",
      bounds: durationBounds,
      samples: [...routes].map(([route, { durations }]) => durations.toSample({ route })),
    },
  ];
}

function describeOffers(offers: readonly OfferSeries[]): Family[] {
  const labelsOf = ({ provider, model }: OfferSeries) => ({ provider, model });
  const each = (value: (series: OfferSeries) => number): Sample[] =>
    offers.map((series) => ({ labels: labelsOf(series), value: value(series) }));
  const histograms = (read: (series: OfferSeries) => Histogram): HistogramSample[] =>
    offers.filter((series) => !read(series).isEmpty).map((series) => read(series).toSample(labelsOf(series)));
  return [
    {
      name: "attempts_total",
      help: "Calls to providers, by outcome: completed, caller_left, or an error code.",
      type: "counter",
      samples: offers.flatMap((series) =>
        [...series.outcomes.values].map(([outcome, value]) => ({ labels: { ...labelsOf(series), outcome }, value })),
      ),
    },
    {
      name: "attempt_duration_seconds",
      help: "Time from sending a call to a provider to the end of its answer.",
      type: "histogram",
      bounds: durationBounds,
      samples: histograms(({ durations }) => durations),
    },
    {
      name: "time_to_first_token_seconds",
      help: "Time from sending a call to a provider to the first content of its stream.",
      type: "histogram",
      bounds: durationBounds,
      samples: histograms(({ firstTokens }) => firstTokens),
    },
    {
      name: "tokens_total",
      help: "Tokens that providers reported.",
      type: "counter",
      samples: offers.flatMap((series) => [
        { labels: { ...labelsOf(series), kind: "input" }, value: series.inputTokens },
        { labels: { ...labelsOf(series), kind: "output" }, value: series.outputTokens },
      ]),
    },
    {
      name: "cost_usd_total",
      help: "Known cost of the calls. Exact amounts are in the usage reports.",
      type: "counter",
      samples: each(({ cost }) => cost),
    },
    {
      name: "unknown_costs_total",
      help: "Complete answers whose cost is unknown.",
      type: "counter",
      samples: each(({ unknownCosts }) => unknownCosts),
    },
    {
      name: "retries_total",
      help: "Calls that followed a failed call of the same request, by reason: retry, other_deployment or fallback.",
      type: "counter",
      samples: offers.flatMap((series) =>
        [...series.retries.values].map(([reason, value]) => ({ labels: { ...labelsOf(series), reason }, value })),
      ),
    },
  ];
}
