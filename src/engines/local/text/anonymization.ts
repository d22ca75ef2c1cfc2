// text/anonymization: replaces personal data with asterisks. Numbers and fixed forms are found in every language, names by English rules and
// word lists, which contain many foreign names.

import { characterOffsets, countCharacters } from "./characters.ts";
import { loadNames, namesPackage } from "./names.ts";
import { findPersonalData, kinds, type PersonalDatum } from "./personal-data.ts";
import { loadPhoneNumbers, phonePackage } from "./phone-numbers.ts";
import { selectSpans } from "./sentences.ts";
import { createTextEngine } from "./text-engine.ts";

const phoneConfidence = 0.9;
const nameConfidence = 0.7;

export const anonymization = createTextEngine({
  task: "text/anonymization",
  packages: [namesPackage, phonePackage],
  maxCharacters: 250_000,
  lightCharacters: 5_000,
  unsupported: ["language"],
  async load() {
    const findNames = await loadNames();
    const findPhoneNumbers = await loadPhoneNumbers();
    return (text) => {
      const phones = findPhoneNumbers(text).map(
        (span) => ({ ...span, kind: "PHONE", confidence: phoneConfidence }) as const,
      );
      const people = findNames(text)
        .filter(({ kind }) => kind === "PERSON")
        .map((name) => ({ ...name, kind: "NAME", confidence: nameConfidence }) as const);
      const all = [...findPersonalData(text), ...phones, ...people];
      const found = selectSpans(all, (a, b) => b.confidence - a.confidence || b.text.length - a.text.length);
      return {
        output: { result: redact(text, found), entities: toEntities(text, found) },
        original: { engine: "rules, check digits, numbering plans and name lists", note: "names: English rules" },
      };
    };
  },
});

/** Replaces each character by an asterisk, so that offsets are valid in both texts. */
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
