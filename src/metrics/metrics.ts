// Counts what the process does, for Prometheus. Recording a request or an attempt is a lookup and a few additions; everything else happens when
// the metrics are read.

import type { Family, HistogramSample, Sample } from "./family.ts";

/** Seconds. Answers of models take from milliseconds (a cache, a local engine) to many minutes (a long stream). */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
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
  readonly isRetry: boolean;
}

class Histogram {
  readonly counts: number[] = Array.from({ length: durationBounds.length + 1 }, () => 0);
  sum = 0;

  observe(seconds: number): void {
    let index = 0;
    while (index < durationBounds.length && seconds > (durationBounds[index] as number)) index++;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += seconds;
  }

  toSample(labels: HistogramSample["labels"]): HistogramSample {
    return { labels, counts: this.counts, sum: this.sum };
  }

  get isEmpty(): boolean {
    return this.counts.every((count) => count === 0);
  }
}

class Counts {
  readonly values = new Map<string, number>();

  add(name: string, amount = 1): void {
    this.values.set(name, (this.values.get(name) ?? 0) + amount);
  }
}

class RouteSeries {
  readonly statuses = new Counts();
  readonly errors = new Counts();
  readonly durations = new Histogram();
}

class OfferSeries {
  readonly provider: string;
  readonly model: string;
  readonly outcomes = new Counts();
  readonly durations = new Histogram();
  readonly firstTokens = new Histogram();
  inputTokens = 0;
  outputTokens = 0;
  cost = 0;
  unknownCosts = 0;
  retries = 0;

  constructor(provider: string, model: string) {
    this.provider = provider;
    this.model = model;
  }
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const routes = new Map<string, RouteSeries>();
  const offers = new Map<string, OfferSeries>();
  const gauges: (() => readonly Family[] | Promise<readonly Family[]>)[] = [];

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
      if (figures.isRetry) series.retries++;
    },

    /** `read` is called when the metrics are read. */
    addGauges(read: () => readonly Family[] | Promise<readonly Family[]>): void {
      gauges.push(read);
    },

    /** Everything that was recorded since the start of the process. */
    async collect(): Promise<Family[]> {
      const measured = await Promise.all(gauges.map((read) => read()));
      return [...describeRoutes(routes), ...describeOffers([...offers.values()]), ...measured.flat()];
    },
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
      help: "Calls that followed a failed call of the same request: retries and fallbacks.",
      type: "counter",
      samples: each(({ retries }) => retries),
    },
  ];
}
