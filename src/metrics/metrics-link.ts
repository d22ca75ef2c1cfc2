// One scrape shows all processes of a gateway: the process that answers it asks the supervisor, which asks all others.

import { type Family, type Labels, mergeFamilies } from "./family.ts";
import type { Metrics } from "./metrics.ts";

/** From the supervisor to a process. */
export type MetricsMessage =
  | { readonly metrics: "collect"; readonly id: number }
  | { readonly metrics: "all"; readonly id: number; readonly snapshots: readonly (readonly Family[])[] };

/** From a process to the supervisor. */
export type MetricsReport =
  | { readonly state: "wants-metrics"; readonly id: number }
  /** `id` null: the process ends, and these are its last figures. */
  | { readonly state: "metrics"; readonly id: number | null; readonly families: readonly Family[] };

export type ReadAllMetrics = () => Promise<readonly (readonly Family[])[]>;

/** The metrics of a process, and of all processes of its gateway. */
export interface MetricsAccess {
  readonly metrics: Metrics;
  readonly readAll: ReadAllMetrics;
}

/** For a process without a supervisor. */
export function metricsOfOneProcess(metrics: Metrics): MetricsAccess {
  return { metrics, readAll: () => Promise.all([metrics.collect(), metrics.collectGateway()]) };
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
      const [snapshots, ofGateway] = await Promise.all([answer.promise, metrics.collectGateway()]);
      clearTimeout(timer);
      waiting.delete(id);
      return [...(snapshots ?? [await metrics.collect()]), ofGateway];
    },

    /** Call it before the process ends. */
    async sendLast(): Promise<void> {
      send({ state: "metrics", id: null, families: await metrics.collect() });
    },
  };
}

/** A process as the supervisor sees it. */
export interface MetricsSource {
  send(message: MetricsMessage): void;
}

// Of a process that hangs, its figures of the scrape before are shown.
const collectTimeoutMs = 1_500;

/** The end in the supervisor. */
export function createMetricsCollector<Source extends MetricsSource>(listSources: () => readonly Source[]) {
  const collections = new Map<number, Collection<Source>>();
  const latest = new Map<Source, readonly Family[]>();
  /** The counts of processes that ended: the sum over all processes must never decrease. */
  let ended: readonly Family[] = [];
  let lastId = 0;

  function begin(asker: Source, askerId: number): void {
    const id = ++lastId;
    const sources = new Set(listSources());
    const finish = () => {
      if (!collections.delete(id)) return;
      clearTimeout(timer);
      const snapshots = [...sources].map((source) => latest.get(source) ?? []);
      trySend(asker, { metrics: "all", id: askerId, snapshots: [...snapshots, ended] });
    };
    const timer = setTimeout(finish, collectTimeoutMs);
    const collection: Collection<Source> = { sources, missing: new Set(sources), finish };
    collections.set(id, collection);
    for (const source of sources) if (!trySend(source, { metrics: "collect", id })) collection.missing.delete(source);
    if (collection.missing.size === 0) finish();
  }

  return {
    receive(source: Source, report: MetricsReport): void {
      if (report.state === "wants-metrics") {
        begin(source, report.id);
        return;
      }
      latest.set(source, report.families);
      const collection = report.id === null ? undefined : collections.get(report.id);
      if (collection?.missing.delete(source) === true && collection.missing.size === 0) collection.finish();
    },

    /** The process has ended, so it is not waited for. */
    forget(source: Source): void {
      ended = mergeFamilies([ended, (latest.get(source) ?? []).flatMap(withoutProcess)]);
      latest.delete(source);
      for (const { sources, missing, finish } of collections.values()) {
        sources.delete(source);
        if (missing.delete(source) && missing.size === 0) finish();
      }
    },
  };
}

/** What remains of a process that ended: its counts, without those that carry its name. */
function withoutProcess(family: Family): Family[] {
  if (family.type === "gauge") return [];
  if (family.type === "histogram") return [{ ...family, samples: family.samples.filter(isShared) }];
  return [{ ...family, samples: family.samples.filter(isShared) }];
}

function isShared({ labels }: { readonly labels: Labels }): boolean {
  return labels["process"] === undefined;
}

interface Collection<Source> {
  readonly sources: Set<Source>;
  /** Those that have not answered yet. */
  readonly missing: Set<Source>;
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
