// The metrics of one process as plain data, which processes send to each other, and their sum as the text that Prometheus reads.
// https://prometheus.io/docs/instrumenting/exposition_formats/

import { GatewayError } from "../errors.ts";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** `counts` has one more entry than there are bounds: the values above the last bound. */
export interface HistogramSample {
  readonly labels: Labels;
  readonly counts: readonly number[];
  readonly sum: number;
}

interface Described {
  /** Without the prefix of the gateway. */
  readonly name: string;
  readonly help: string;
}

/** Several processes may report the same labels: counters and histograms are added, of gauges the sum, the largest or the smallest counts. */
export type Family = Described &
  (
    | { readonly type: "counter"; readonly samples: readonly Sample[] }
    | { readonly type: "gauge"; readonly merge: keyof typeof merges; readonly samples: readonly Sample[] }
    | { readonly type: "histogram"; readonly bounds: readonly number[]; readonly samples: readonly HistogramSample[] }
  );

const merges = {
  sum: (one: number, another: number) => one + another,
  max: Math.max,
  min: Math.min,
};
const prefix = "switchyard_";
export const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** `snapshots`: the families of each process. */
export function toPrometheusText(snapshots: readonly (readonly Family[])[]): string {
  return mergeFamilies(snapshots).map(writeFamily).join("");
}

/** One family of each name, with the figures of all processes. */
export function mergeFamilies(snapshots: readonly (readonly Family[])[]): Family[] {
  const families = Map.groupBy(snapshots.flat(), ({ name }) => name);
  return [...families.values()].map((parts) => parts.reduce(mergeTwo));
}

function mergeTwo(one: Family, other: Family): Family {
  if (one.type === "histogram") {
    if (other.type !== "histogram") throw mixedTypes(one.name);
    return { ...one, samples: mergeSamples([...one.samples, ...other.samples], addHistograms) };
  }
  if (other.type === "histogram") throw mixedTypes(one.name);
  const merge = merges[one.type === "gauge" ? one.merge : "sum"];
  const samples = mergeSamples([...one.samples, ...other.samples], (before, after) => ({
    labels: before.labels,
    value: merge(before.value, after.value),
  }));
  return { ...one, samples };
}

function mergeSamples<Some extends { readonly labels: Labels }>(
  samples: readonly Some[],
  merge: (one: Some, other: Some) => Some,
): Some[] {
  const merged = new Map<string, Some>();
  for (const sample of samples) {
    const key = writeLabels(sample.labels);
    const known = merged.get(key);
    merged.set(key, known === undefined ? sample : merge(known, sample));
  }
  return [...merged.values()];
}

function addHistograms(one: HistogramSample, other: HistogramSample): HistogramSample {
  const counts = one.counts.map((count, index) => count + (other.counts[index] ?? 0));
  return { labels: one.labels, counts, sum: one.sum + other.sum };
}

function writeFamily(family: Family): string {
  if (family.samples.length === 0) return "";
  const name = `${prefix}${family.name}`;
  const lines =
    family.type === "histogram"
      ? family.samples.map((sample) => writeHistogram(name, family.bounds, sample))
      : family.samples.map(({ labels, value }) => `${name}${writeLabels(labels)} ${writeNumber(value)}\n`);
  return `# HELP ${name} ${escapeHelp(family.help)}\n# TYPE ${name} ${family.type}\n${lines.join("")}`;
}

function writeHistogram(name: string, bounds: readonly number[], { labels, counts, sum }: HistogramSample): string {
  let text = "";
  let total = 0;
  for (const [index, count] of counts.entries()) {
    total += count;
    const le = index < bounds.length ? writeNumber(bounds[index] ?? 0) : "+Inf";
    text += `${name}_bucket${writeLabels({ ...labels, le })} ${total}\n`;
  }
  const own = writeLabels(labels);
  return `${text}${name}_sum${own} ${writeNumber(sum)}\n${name}_count${own} ${total}\n`;
}

function writeLabels(labels: Labels): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return written.length === 0 ? "" : `{${written.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"');
}

function escapeHelp(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
}

function writeNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN";
}

/** Two processes of different versions disagree about a metric. */
function mixedTypes(name: string): GatewayError {
  return new GatewayError("internal_error", `The metric ${name} has two types.`);
}
