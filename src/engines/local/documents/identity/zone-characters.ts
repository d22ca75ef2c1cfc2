// Characters of a machine-readable zone: their check digits, and those that recognition confuses.

import { lookUp } from "../../../../lib/look-up.ts";

const weights = [7, 3, 1];

/** By ICAO 9303: letters count from ten, fill characters as zero. */
export function computeCheckDigit(text: string): string {
  let sum = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    const value = character === "<" ? 0 : Number.parseInt(character, 36);
    sum += value * (weights[index % 3] ?? 0);
  }
  return String(sum % 10);
}

const digitsOfLetters: Readonly<Record<string, string>> = {
  O: "0",
  Q: "0",
  D: "0",
  I: "1",
  L: "1",
  Z: "2",
  S: "5",
  B: "8",
};
const lettersOfDigits: Readonly<Record<string, string>> = { "0": "O", "1": "I", "2": "Z", "5": "S", "8": "B" };

/** Where only digits can stand. */
export function toDigits(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => lookUp(digitsOfLetters, letter) ?? letter);
}

/** Where only letters can stand. */
export function toLetters(text: string): string {
  return text.replace(/\d/g, (digit) => lookUp(lettersOfDigits, digit) ?? digit);
}

/** Letters as which the fill character is read. */
export const fillLetters = "KLCEXS";

/** The most likely first. Document numbers hardly ever contain O and I. Check digits cannot tell G from 6. */
const confusions: readonly Readonly<Record<string, string>>[] = [
  { O: "0", Q: "0", I: "1", L: "1" },
  { S: "5", B: "8", Z: "2" },
  { "0": "O", "1": "I", "5": "S", "8": "B", "2": "Z" },
];

/**
 * The text with one or two characters replaced by those with which they are confused, so that the check digit is right. Null: there is no such
 * text, or several are equally likely.
 */
export function repair(text: string, digit: string): string | null {
  for (const table of confusions) {
    const options = replaceOne(text, table).filter((option) => computeCheckDigit(option) === digit);
    if (options.length > 0) return options.length === 1 ? (options[0] ?? null) : null;
  }
  // Fill characters only stand at the end.
  const unfilled = text.replace(/[KLCEXS<]+$/, (tail) => "<".repeat(tail.length));
  if (unfilled !== text && computeCheckDigit(unfilled) === digit) return unfilled;
  const [letters = {}] = confusions;
  const pairs = new Set(replaceOne(text, letters).flatMap((option) => replaceOne(option, letters)));
  const options = [...pairs].filter((option) => computeCheckDigit(option) === digit);
  return options.length === 1 ? (options[0] ?? null) : null;
}

function replaceOne(text: string, table: Readonly<Record<string, string>>): string[] {
  return Array.from(text, (character, index) => {
    const other = lookUp(table, character);
    return other === undefined ? [] : [text.slice(0, index) + other + text.slice(index + 1)];
  }).flat();
}
