// How good the engines are, as numbers: what a measure of a task looks like.

export type RunTask = (
  task: string,
  input: Readonly<Record<string, unknown>>,
  /** Absent: the one that is meant when none is named. */
  model?: string,
) => Promise<Readonly<Record<string, unknown>>>;

export interface QualityLine {
  readonly task: string;
  /** What was counted. */
  readonly measure: string;
  readonly result: string;
  readonly cases: number;
}

export function share(part: number, whole: number): string {
  return whole === 0 ? "none" : `${((100 * part) / whole).toFixed(1)} %`;
}

export function precisionAndRecall(right: number, given: number, wanted: number): string {
  return `precision ${share(right, given)}, recall ${share(right, wanted)}`;
}
