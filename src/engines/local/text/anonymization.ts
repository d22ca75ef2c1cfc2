// Replaces personal data with asterisks. Forms and numbers are found in every language; names by English rules and lists, which know
// many names of other languages too.

import type { LocalEngine } from "../local-engine.ts";
import { characterOffsets, countCharacters } from "./characters.ts";
import { textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { loadNames, namesPackage } from "./names.ts";
import { findPersonalData, kinds, type PersonalDatum } from "./personal-data.ts";
import { loadPhoneNumbers, phonePackage } from "./phone-numbers.ts";

const phoneConfidence = 0.9;
const nameConfidence = 0.7;
const mostCharacters = 250_000;

export const engine: LocalEngine = {
  task: "text/anonymization",
  packages: [namesPackage, phonePackage],
  lane: "light",
  lightCharacters: 5_000,
  unsupported: ["language"],
  async load() {
    const findNames = await loadNames();
    const findPhoneNumbers = await loadPhoneNumbers();

    return async ({ input }) => {
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const phones = findPhoneNumbers(text).map(
        (span) => ({ ...span, kind: "PHONE", confidence: phoneConfidence }) as const,
      );
      const people = findNames(text)
        .filter(({ kind }) => kind === "PERSON")
        .map(({ text: name, start }) => ({ text: name, start, kind: "NAME", confidence: nameConfidence }) as const);
      const found = withoutOverlaps([...findPersonalData(text), ...phones, ...people]);
      return {
        output: { result: redact(text, found), entities: toEntities(text, found) },
        original: { engine: "rules, check digits, numbering plans and name lists", note: "names: English rules" },
        units: { char: text.length },
      };
    };
  },
};

/** The surest wins, then the longest. What wins swallows whatever it overlaps. */
function withoutOverlaps(found: readonly PersonalDatum[]): PersonalDatum[] {
  const best = [...found].sort((a, b) => b.confidence - a.confidence || b.text.length - a.text.length);
  const kept: PersonalDatum[] = [];
  const taken = new Set<number>();
  for (const datum of best) {
    const end = datum.start + datum.text.length;
    let isFree = true;
    for (let place = datum.start; place < end && isFree; place++) isFree = !taken.has(place);
    if (!isFree) continue;
    for (let place = datum.start; place < end; place++) taken.add(place);
    kept.push(datum);
  }
  return kept.sort((a, b) => a.start - b.start);
}

/** As many asterisks as there were characters, so that offsets hold in both texts. */
function redact(text: string, found: readonly PersonalDatum[]): string {
  let result = "";
  let end = 0;
  for (const datum of found) {
    result += text.slice(end, datum.start) + "*".repeat(countCharacters(datum.text));
    end = datum.start + datum.text.length;
  }
  return result + text.slice(end);
}

function toEntities(text: string, found: readonly PersonalDatum[]) {
  const offsetOf = characterOffsets(text);
  return found.map((datum) => {
    const [category, subcategory] = kinds[datum.kind];
    return {
      offset: offsetOf(datum.start),
      length: countCharacters(datum.text),
      category,
      subcategory,
      original_label: datum.kind,
      content: datum.text,
      confidence_score: datum.confidence,
    };
  });
}
