// One scrape shows all processes of a gateway: the process that answers it asks the supervisor, which asks all others.

import type { Family } from "./family.ts";
import type { Metrics } from "./metrics.ts";

/** From the supervisor to a process. */
export type MetricsMessage =
  | { readonly metrics: "collect"; readonly id: number }
  | { readonly metrics: "all"; readonly id: number; readonly snapshots: readonly (readonly Family[])[] };

/** From a process to the supervisor. */
export type MetricsReport =
  | { readonly state: "wants-metrics"; readonly id: number }
  | { readonly state: "metrics"; readonly id: number; readonly families: readonly Family[] };

export type ReadAllMetrics = () => Promise<readonly (readonly Family[])[]>;

/** The metrics of a process, and of all processes of its gateway. */
export interface MetricsAccess {
  readonly metrics: Metrics;
  readonly readAll: ReadAllMetrics;
}

/** For a process without a supervisor. */
export function metricsOfOneProcess(metrics: Metrics): MetricsAccess {
  return { metrics, readAll: async () => [await metrics.collect()] };
}

// The supervisor waits for a process that hangs for a shorter time.
const answerTimeoutMs = 3_000;

/** The end in a process. */
export function createMetricsLink(metrics: Metrics, send: (report: MetricsReport) => void) {
  const waiting = new Map<number, (snapshots: readonly (readonly Family[])[]) => void>();
  let lastId = 0;

  return {
    receive(message: MetricsMessage): void {
      if (message.metrics === "all") {
        waiting.get(message.id)?.(message.snapshots);
        waiting.delete(message.id);
        return;
      }
      const { id } = message;
      void metrics.collect().then((families) => send({ state: "metrics", id, families }));
    },

    /** The metrics of every process; only those of this process when the supervisor does not answer. */
    async readAll(): Promise<readonly (readonly Family[])[]> {
      const id = ++lastId;
      const answer = Promise.withResolvers<readonly (readonly Family[])[] | null>();
      waiting.set(id, answer.resolve);
      const timer = setTimeout(() => answer.resolve(null), answerTimeoutMs);
      send({ state: "wants-metrics", id });
      const snapshots = await answer.promise;
      clearTimeout(timer);
      waiting.delete(id);
      return snapshots ?? [await metrics.collect()];
    },
  };
}

/** A process as the supervisor sees it. */
export interface MetricsSource {
  send(message: MetricsMessage): void;
}

// A process that is starting or hangs is left out of the scrape.
const collectTimeoutMs = 1_500;

/** The end in the supervisor. */
export function createMetricsCollector<Source extends MetricsSource>(listSources: () => readonly Source[]) {
  const collections = new Map<number, Collection<Source>>();
  let lastId = 0;

  function begin(asker: Source, askerId: number): void {
    const id = ++lastId;
    const sources = new Set(listSources());
    const finish = () => {
      if (!collections.delete(id)) return;
      clearTimeout(timer);
      trySend(asker, { metrics: "all", id: askerId, snapshots: collection.snapshots });
    };
    const timer = setTimeout(finish, collectTimeoutMs);
    const collection: Collection<Source> = { missing: sources, snapshots: [], finish };
    collections.set(id, collection);
    for (const source of sources) if (!trySend(source, { metrics: "collect", id })) sources.delete(source);
    if (sources.size === 0) finish();
  }

  return {
    receive(source: Source, report: MetricsReport): void {
      if (report.state === "wants-metrics") {
        begin(source, report.id);
        return;
      }
      const collection = collections.get(report.id);
      if (collection === undefined || !collection.missing.delete(source)) return;
      collection.snapshots.push(report.families);
      if (collection.missing.size === 0) collection.finish();
    },

    /** The process has ended, so it is not waited for. */
    forget(source: Source): void {
      for (const collection of collections.values())
        if (collection.missing.delete(source) && collection.missing.size === 0) collection.finish();
    },
  };
}

interface Collection<Source> {
  readonly missing: Set<Source>;
  readonly snapshots: (readonly Family[])[];
  readonly finish: () => void;
}

function trySend(source: MetricsSource, message: MetricsMessage): boolean {
  try {
    source.send(message);
    return true;
  } catch {
    // The process has ended.
    return false;
  }
}
