// A kind of number that identifies a person, and how it is found in a text.

import type { PersonalDatum, PersonalKind } from "./datum.ts";

export interface Identifier {
  /** The country and the number's name, such as "BR_CPF". */
  readonly label: string;
  readonly kind: PersonalKind;
  /** Source of a pattern of bounded length. Text that continues with a letter or digit is not matched. */
  readonly pattern: string;
  /** Gets the number without spaces, dots, dashes, slashes and brackets, in capitals. */
  readonly isValid?: (compact: string) => boolean;
  /** Words that announce the number, as the source of a pattern that ignores case. */
  readonly words: string;
  /** A form that no other number has, so that the words are not needed. Absent: the words are needed. */
  readonly aloneIf?: RegExp;
}

/** Every form is enough. */
export const anyForm = /^/;

const announcedConfidence = 0.97;
const aloneConfidence = 0.92;
/** Characters between an announcing word and the number. */
const maxBefore = 60;
const maxAfter = 15;

const letters = String.raw`\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}`;
/** Words before a number that say that it is something else. For the 40 characters before it. */
export const otherNumber =
  /(?<![\p{L}\d])(?:orders?|invoices?|bills?|ref(?:erence)?|tickets?|tracking|parcel|shipment|part|serial|s\/n|sku|ean|gtin|upc|isbn|issn|doi|article|item|product|model|version|build|batch|lot|case|contract|policy|grant|transaction|bestell\w*|rechnungs?\w*|auftrags?\w*|artikel\w*|vertrags?\w*|commande|facture|colis|contrat|pedido|factura|fatura|encomenda|ordine|fattura|zamówieni\w*|faktur\w*|objednávk\w*|ordre|tilaus|заказ\w*|счет\w*|sipariş|fiş)(?![\p{L}])[^\p{L}\d\n]{0,4}(?:(?:no|nr|num|number|numbers|nummer|numero|número|numéro|n°|nº|№|id|code)\b\.?[^\p{L}\d\n]{0,4})?$/iu;

interface Compiled extends Identifier {
  readonly find: RegExp;
  readonly announce: RegExp;
}

export function compileIdentifiers(identifiers: readonly Identifier[]): (text: string) => PersonalDatum[] {
  const compiled = identifiers.map((identifier) => ({
    ...identifier,
    find: new RegExp(
      String.raw`(?<![${letters}\p{N}])(?<!\p{N}[-./])(?:${identifier.pattern})(?![${letters}\p{N}]|[-./]\p{N})`,
      "gu",
    ),
    announce: new RegExp(`(?<![${letters}\\d])(?:${identifier.words})(?![${letters}])`, "giu"),
  }));
  return (text) => compiled.flatMap((identifier) => findIdentifier(text, identifier));
}

function findIdentifier(text: string, identifier: Compiled): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  // The words are searched for at most once in each text, so the time is linear however many numbers there are.
  let distanceOf: ((start: number, end: number) => number | null) | undefined;
  for (const match of text.matchAll(identifier.find)) {
    const number = match[0];
    const compact = number.replace(/[\s./()\u2010-\u2015-]/gu, "").toUpperCase();
    if (identifier.isValid?.(compact) === false) continue;
    distanceOf ??= measureDistances(text, identifier.announce);
    const distance = distanceOf(match.index, match.index + number.length);
    const isAlone = distance === null;
    if (isAlone && identifier.aloneIf?.test(number) !== true) continue;
    if (isAlone && otherNumber.test(text.slice(Math.max(0, match.index - 40), match.index))) continue;
    found.push({
      text: number,
      start: match.index,
      kind: identifier.kind,
      label: identifier.label,
      // Of two announced numbers in the same place, the one with the nearer word is right.
      confidence: isAlone ? aloneConfidence : announcedConfidence - distance / 10_000,
    });
  }
  return found;
}

/** The distance from a span to the nearest announcing word; null if none is near. The starts of the spans must not decrease. */
function measureDistances(text: string, announce: RegExp): (start: number, end: number) => number | null {
  const words = Array.from(text.matchAll(announce), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  let next = 0;
  return (start, end) => {
    while (next < words.length && (words[next]?.start ?? 0) < start) next++;
    const [before, after] = [words[next - 1], words[next]];
    const gap = before === undefined ? Number.POSITIVE_INFINITY : Math.max(0, start - before.end);
    if (gap <= maxBefore) return gap;
    const gapAfter = after === undefined ? Number.POSITIVE_INFINITY : after.start - end;
    return gapAfter >= 0 && gapAfter <= maxAfter ? gapAfter + maxBefore : null;
  };
}
