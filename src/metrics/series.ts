// Counters and histograms by label. The families of this file look up their series by the values of the labels: metrics.ts, which counts
// every request, keeps its series itself.

import type { Family, HistogramSample, Labels } from "./family.ts";

export class Counts {
  readonly values = new Map<string, number>();

  add(name: string, amount = 1): void {
    this.values.set(name, (this.values.get(name) ?? 0) + amount);
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index++;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }

  toSample(labels: Labels): HistogramSample {
    return { labels, counts: [...this.counts], sum: this.sum };
  }

  get isEmpty(): boolean {
    return this.counts.every((count) => count === 0);
  }
}

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
  /** Their values must be few. */
  readonly labels: readonly string[];
}

export class CounterFamily {
  readonly #head: FamilyHead;
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(head: FamilyHead) {
    this.#head = head;
  }

  /** `values`: of the labels, in their order. */
  add(values: readonly string[], amount = 1): void {
    const key = values.join("\n");
    const series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, { labels: toLabels(this.#head, values), value: amount });
    else series.value += amount;
  }

  toFamily(): Family {
    const { name, help } = this.#head;
    return { name, help, type: "counter", samples: [...this.#series.values()] };
  }
}

export class HistogramFamily {
  readonly #head: FamilyHead;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly histogram: Histogram }>();

  constructor(head: FamilyHead, bounds: readonly number[]) {
    this.#head = head;
    this.#bounds = bounds;
  }

  observe(values: readonly string[], value: number): void {
    const key = values.join("\n");
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: toLabels(this.#head, values), histogram: new Histogram(this.#bounds) };
      this.#series.set(key, series);
    }
    series.histogram.observe(value);
  }

  toFamily(): Family {
    const { name, help } = this.#head;
    const samples = [...this.#series.values()].map(({ labels, histogram }) => histogram.toSample(labels));
    return { name, help, type: "histogram", bounds: this.#bounds, samples };
  }
}

function toLabels({ labels }: FamilyHead, values: readonly string[]): Labels {
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ""]));
}
