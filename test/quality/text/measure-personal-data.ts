// How much personal data `text/anonymization` finds in the independent sets, in all and by kind.

import type { Split } from "../documents/labelled-document.ts";
import { precisionAndRecall, type QualityLine, type RunTask, share } from "../quality.ts";
import type { OnMiss } from "./measure.ts";
import personalDataTest from "./personal-data-test.json" with { type: "json" };
import personalDataTune from "./personal-data-tune.json" with { type: "json" };
import personalDataTuneSecond from "./personal-data-tune-second.json" with { type: "json" };

interface Span {
  readonly content: string;
  readonly subcategory: string;
}

const task = "text/anonymization";
const sets = {
  tune: [...personalDataTune.cases, ...personalDataTuneSecond.cases],
  test: personalDataTest.cases,
} as const;

export async function measurePersonalData(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  const cases = sets[split];
  const counts = { right: 0, given: 0, wanted: 0, hidden: 0 };
  const kinds = new Map<string, { found: number; all: number }>();
  for (const { text, personal } of cases) {
    const output = await run(task, { text, language: null });
    const given = (output["entities"] as Span[]).map((span) => ({ ...span, content: withoutTitle(span.content) }));
    const isSame = (one: Span) => (other: Span) =>
      one.content === other.content && one.subcategory === other.subcategory;
    const right = given.filter((span) => personal.some(isSame(span)));
    const result = String(output["result"]);
    counts.right += right.length;
    counts.given += given.length;
    counts.wanted += personal.length;
    for (const span of personal) {
      const kind = kinds.get(span.kind) ?? { found: 0, all: 0 };
      kinds.set(span.kind, kind);
      kind.all++;
      if (given.some(isSame(span))) kind.found++;
      if (!result.includes(span.content)) counts.hidden++;
    }
    if (right.length !== given.length || right.length !== personal.length)
      onMiss(
        task,
        text,
        personal,
        given.map(({ content, subcategory }) => ({ content, subcategory })),
      );
  }
  const countries = new Set(cases.flatMap(({ country }) => (country === null ? [] : [country]))).size;
  const complete = [...kinds.values()].filter(({ found, all }) => found === all).length;
  return [
    ...toPersonalDataLines(task, `exact span and kind, ${kinds.size} kinds, ${countries} countries`, counts),
    { task, measure: "kinds of which all were found", result: `${complete} of ${kinds.size}`, cases: counts.wanted },
  ];
}

export function toPersonalDataLines(
  task: string,
  measure: string,
  { right, given, wanted, hidden }: Readonly<Record<"right" | "given" | "wanted" | "hidden", number>>,
): QualityLine[] {
  return [
    { task, measure, result: precisionAndRecall(right, given, wanted), cases: wanted },
    { task, measure: "personal data hidden", result: share(hidden, wanted), cases: wanted },
  ];
}

/** A title is not part of the name in these sets. */
function withoutTitle(name: string): string {
  return name.replace(/^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|M|Sr|Sra|Señor|Señora|Captain)\.?\s+/u, "");
}
