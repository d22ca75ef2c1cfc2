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
  const families = Map.groupBy(snapshots.flat(), ({ name }) => name);
  return [...families.values()].map(writeFamily).join("");
}

function writeFamily(parts: readonly Family[]): string {
  const [first] = parts;
  if (first === undefined) return "";
  const name = `${prefix}${first.name}`;
  const head = `# HELP ${name} ${escapeHelp(first.help)}\n# TYPE ${name} ${first.type}\n`;
  const lines = first.type === "histogram" ? writeHistograms(name, first.bounds, parts) : writeValues(name, parts);
  return lines === "" ? "" : head + lines;
}

function writeValues(name: string, parts: readonly Family[]): string {
  const merged = new Map<string, number>();
  for (const part of parts) {
    if (part.type === "histogram") throw mixedTypes(name);
    const merge = merges[part.type === "gauge" ? part.merge : "sum"];
    for (const { labels, value } of part.samples) {
      const key = writeLabels(labels);
      const known = merged.get(key);
      merged.set(key, known === undefined ? value : merge(known, value));
    }
  }
  return [...merged].map(([labels, value]) => `${name}${labels} ${writeNumber(value)}\n`).join("");
}

function writeHistograms(name: string, bounds: readonly number[], parts: readonly Family[]): string {
  const merged = new Map<string, { labels: Labels; counts: number[]; sum: number }>();
  for (const part of parts) {
    if (part.type !== "histogram") throw mixedTypes(name);
    for (const { labels, counts, sum } of part.samples) {
      const key = writeLabels(labels);
      const known = merged.get(key);
      if (known === undefined) merged.set(key, { labels, counts: [...counts], sum });
      else {
        for (const [index, count] of counts.entries()) known.counts[index] = (known.counts[index] ?? 0) + count;
        known.sum += sum;
      }
    }
  }
  return [...merged.values()].map((one) => writeHistogram(name, bounds, one)).join("");
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
