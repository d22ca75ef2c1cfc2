// Finds personal data in a text: numbers by their form and check digits, other data by the words that announce them, names by lists and
// context. Nothing here depends on the language of the text.

import { findAddresses } from "./personal-data/addresses.ts";
import { findAnnounced } from "./personal-data/announced.ts";
import { findCryptoAddresses } from "./personal-data/crypto-addresses.ts";
import type { PersonalDatum } from "./personal-data/datum.ts";
import { findForms } from "./personal-data/forms.ts";
import { compileIdentifiers } from "./personal-data/identifier.ts";
import { europeanIdentifiers } from "./personal-data/identifiers-europe.ts";
import { worldIdentifiers } from "./personal-data/identifiers-world.ts";
import { findMentions } from "./personal-data/mentions.ts";
import { createPeopleFinder } from "./personal-data/people.ts";
import { vatNumbers } from "./personal-data/vat-numbers.ts";
import { loadPhoneNumbers } from "./phone-numbers.ts";
import { selectSpans } from "./sentences.ts";

const findIdentifiers = compileIdentifiers([...europeanIdentifiers, ...worldIdentifiers, ...vatNumbers]);

/** Everything that needs no package: all but telephone numbers and names. The results may overlap. */
export function findPersonalData(text: string): PersonalDatum[] {
  return [
    ...findForms(text),
    ...findCryptoAddresses(text),
    ...findIdentifiers(text),
    ...findAnnounced(text),
    ...findAddresses(text),
  ];
}

/** The returned function finds all personal data of a text, in its order and without overlaps, with every mention of a value that was found. */
export async function loadPersonalData(): Promise<(text: string) => PersonalDatum[]> {
  const findPhoneNumbers = await loadPhoneNumbers();
  const findPeople = createPeopleFinder();
  return (text) => {
    const forms = findPersonalData(text);
    const phones = findPhoneNumbers(text, countriesOf(forms));
    const others = selectBest([...forms, ...phones]);
    const people = findPeople(text, others);
    const found = selectBest([...others, ...people, ...findAgesAfter(text, people)]);
    return selectBest([...found, ...findMentions(text, found)]);
  };
}

/** "Ann Lee, 34, from Leeds", "Ann Lee (34)" */
function findAgesAfter(text: string, people: readonly PersonalDatum[]): PersonalDatum[] {
  return people.flatMap((person): PersonalDatum[] => {
    const end = person.start + person.text.length;
    const match = /^(?:,\s(?<plain>\d{1,2})(?=,\s\p{L})|\s\((?<bracketed>\d{1,2})\))/u.exec(text.slice(end, end + 12));
    const age = match?.groups?.["plain"] ?? match?.groups?.["bracketed"];
    if (age === undefined) return [];
    return [{ text: age, start: text.indexOf(age, end), kind: "AGE", confidence: 0.75 }];
  });
}

function selectBest(found: readonly PersonalDatum[]): PersonalDatum[] {
  return selectSpans(found, (a, b) => b.confidence - a.confidence || b.text.length - a.text.length);
}

/** The countries that the numbers of the text state, such as that of an IBAN. */
function countriesOf(found: readonly PersonalDatum[]): ReadonlySet<string> {
  const countries = found.flatMap(({ kind, label, text }) => {
    if (label !== undefined && /^[A-Z]{2}_/.test(label)) return [label.slice(0, 2)];
    if (kind === "IBAN") return [text.slice(0, 2).toUpperCase()];
    const domain = kind === "EMAIL" ? /\.([a-z]{2})$/i.exec(text)?.[1] : undefined;
    return domain === undefined ? [] : [domain.toUpperCase()];
  });
  return new Set(countries.map((country) => (country === "UK" ? "GB" : country)));
}
