// Numbers for value added tax: a prefix of two letters and a number whose form depends on the country. Where we know the check digit, it is
// verified and the number needs no announcing word.

import { passesLuhn, passesMod1110, remainderOf, weightedSum } from "../check-digits.ts";
import { isGreekNumber, isIrishNumber, isNip, isPortugueseNumber, isSpanishIdentity } from "./checks-europe.ts";
import { anyForm, type Identifier } from "./identifier.ts";

type Country = readonly [prefix: string, pattern: string, isValid?: (number: string) => boolean];

const countries: readonly Country[] = [
  ["AT", String.raw`U\d{8}`, (text) => isAustrian(text.slice(1))],
  [
    "BE",
    String.raw`[01]?\d{3}[. ]?\d{3}[. ]?\d{3}`,
    (digits) => 97 - remainderOf(digits.slice(0, -2), 97) === Number(digits.slice(-2)),
  ],
  ["BG", String.raw`\d{9,10}`],
  ["CY", String.raw`\d{8}[A-Z]`],
  ["CZ", String.raw`\d{8,10}`],
  ["DE", String.raw`\d{3}[ ]?\d{3}[ ]?\d{3}`, passesMod1110],
  ["DK", String.raw`\d{2} ?\d{2} ?\d{2} ?\d{2}`, (digits) => weightedSum(digits, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0],
  ["EE", String.raw`\d{9}`, (digits) => weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0],
  ["EL", String.raw`\d{9}`, isGreekNumber],
  ["ES", String.raw`[A-Z]-?\d{7}-?[A-Z0-9]|\d{8}-?[A-Z]`, (text) => isSpanishIdentity(text) || isCif(text)],
  ["FI", String.raw`\d{8}`, (digits) => weightedSum(digits, [7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 0],
  ["FR", String.raw`\d{2} ?\d{3} ?\d{3} ?\d{3}`, isFrench],
  ["GB", String.raw`\d{3} ?\d{4} ?\d{2}(?: ?\d{3})?`, isBritish],
  ["HR", String.raw`\d{11}`, passesMod1110],
  ["HU", String.raw`\d{8}`, (digits) => weightedSum(digits, [9, 7, 3, 1, 9, 7, 3, 1]) % 10 === 0],
  ["IE", String.raw`\d{7}[A-W][A-IW]?`, isIrishNumber],
  ["IT", String.raw`\d{11}`, passesLuhn],
  ["LT", String.raw`\d{9}|\d{12}`],
  ["LU", String.raw`\d{8}`, (digits) => Number(digits.slice(0, 6)) % 89 === Number(digits.slice(6))],
  ["LV", String.raw`\d{11}`],
  ["MT", String.raw`\d{8}`, (digits) => (weightedSum(digits, [3, 4, 6, 7, 8, 9]) + Number(digits.slice(6))) % 37 === 0],
  ["NL", String.raw`\d{9} ?B ?\d{2}`],
  ["PL", String.raw`\d{10}|\d{3}-\d{3}-\d{2}-\d{2}`, isNip],
  ["PT", String.raw`\d{9}`, isPortugueseNumber],
  ["RO", String.raw`\d{2,10}`],
  ["SE", String.raw`\d{12}`, (digits) => passesLuhn(digits.slice(0, 10)) && digits.endsWith("01")],
  [
    "SI",
    String.raw`\d{8}`,
    (digits) => (11 - (weightedSum(digits, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(digits[7]),
  ],
  ["SK", String.raw`\d{10}`, (digits) => Number(digits) % 11 === 0],
];

const words = String.raw`VAT(?: (?:id|reg(?:istration)?))?|US?t-?Id\w*|USt-?IdNr|UID(?:-?nummer|-?nr)?|T\.?V\.?A\.?|I\.?V\.?A\.?|P\.? ?IVA|partita iva|BTW(?:-?(?:nr|nummer))?|MOMS(?:-?nr)?|ALV(?:-?nro)?|NIP|NIF|CIF|DPH|DIČ|IČ DPH|PDV|ДДС|ΦΠΑ|ΑΦΜ|ÁFA|OIB|mva|PVN|PVM|KMKR|umsatzsteuer\w*|ust-id\w*|steuernummer|tax (?:id|number)`;

export const vatNumbers: readonly Identifier[] = [
  ...countries.map(([prefix, pattern, isValid]) => ({
    label: `${prefix}_VAT`,
    kind: "TAX_NUMBER" as const,
    pattern: `${prefix}[ -]?(?:${pattern})`,
    words,
    ...(isValid !== undefined && { isValid: (compact: string) => isValid(compact.slice(2)), aloneIf: anyForm }),
    ...(prefix === "NL" && { aloneIf: anyForm }),
  })),
  {
    label: "CH_UID",
    kind: "TAX_NUMBER",
    pattern: String.raw`CHE-?\d{3}\.?\d{3}\.?\d{3}(?: ?(?:MWST|TVA|IVA))?`,
    isValid: (text) => (11 - (weightedSum(text.slice(3), [5, 4, 3, 2, 7, 6, 5, 4]) % 11)) % 11 === Number(text[11]),
    words,
    aloneIf: anyForm,
  },
  {
    label: "ES_CIF",
    kind: "TAX_NUMBER",
    pattern: String.raw`[ABCDEFGHJNPQRSUVW][ -]?\d{7}[ -]?[0-9A-J]`,
    isValid: isCif,
    words: String.raw`C\.?I\.?F\.?|N\.?I\.?F\.?`,
  },
];

function isAustrian(digits: string): boolean {
  const sum = Array.from(digits.slice(0, 7)).reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + Math.floor(value / 10) + (value % 10);
  }, 4);
  return (10 - (sum % 10)) % 10 === Number(digits[7]);
}

/** The key is computed from the company's number, which has a check digit too. */
function isFrench(digits: string): boolean {
  const company = digits.slice(2);
  return passesLuhn(company) && (12 + 3 * (Number(company) % 97)) % 97 === Number(digits.slice(0, 2));
}

/** Newer numbers have a remainder that is 55 higher. */
function isBritish(digits: string): boolean {
  const sum = weightedSum(digits, [8, 7, 6, 5, 4, 3, 2]) + Number(digits.slice(7, 9));
  return sum % 97 === 0 || (sum + 55) % 97 === 0;
}

/** The Spanish tax number of an organisation. */
function isCif(text: string): boolean {
  const match = /^[ABCDEFGHJNPQRSUVW](\d{7})([0-9A-J])$/.exec(text);
  if (match === null) return false;
  const [, digits = "", check = ""] = match;
  const sum = Array.from(digits).reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + Math.floor(value / 10) + (value % 10);
  }, 0);
  const expected = (10 - (sum % 10)) % 10;
  return check === String(expected) || check === "JABCDEFGHI"[expected];
}
