// text/anonymization: replaces personal data with asterisks, in every language.

import { characterOffsets, countCharacters } from "./characters.ts";
import { kinds, type PersonalDatum } from "./personal-data/datum.ts";
import { phonePackage } from "./phone-numbers.ts";
import { createTextEngine } from "./text-engine.ts";

export const anonymization = createTextEngine({
  task: "text/anonymization",
  packages: [phonePackage],
  maxCharacters: 250_000,
  lightCharacters: 5_000,
  unsupported: ["language"],
  async load() {
    const { loadPersonalData } = await import("./personal-data.ts");
    const findPersonalData = await loadPersonalData();
    return (text) => {
      const found = findPersonalData(text);
      return {
        output: { result: redact(text, found), entities: toEntities(text, found) },
        original: { engine: "rules, check digits, numbering plans and name lists" },
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
      original_label: datum.label ?? datum.kind,
      content: datum.text,
      confidence_score: datum.confidence,
    };
  });
}
