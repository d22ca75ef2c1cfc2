// Check digits of the numbers that identify people in Europe. Each function takes digits and letters without separators.

import { isOneDigit, isShortDate, passesLuhn, passesMod1110, remainderOf, weightedSum } from "../check-digits.ts";

export function isNhsNumber(digits: string): boolean {
  if (!/^\d{10}$/.test(digits) || isOneDigit(digits)) return false;
  const check = (11 - (weightedSum(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check === Number(digits[9]);
}

/** The Irish personal public service number. */
export function isIrishNumber(text: string): boolean {
  const match = /^(\d{7})([A-W])([A-IW]?)$/.exec(text);
  if (match === null) return false;
  const [, digits = "", check = "", second = ""] = match;
  const alphabet = "WABCDEFGHIJKLMNOPQRSTUV";
  const sum = weightedSum(digits, [8, 7, 6, 5, 4, 3, 2]) + Math.max(0, alphabet.indexOf(second || "W")) * 9;
  return alphabet[sum % 23] === check;
}

/** The French social security number, with its key of two digits. */
export function isFrenchSocialNumber(text: string): boolean {
  if (!/^[1-478]\d{5}[\dAB]\d{8}$/.test(text) || !/^(?:\d{15}|\d{5}2[AB]\d{8})$/.test(text)) return false;
  const digits = text.replace("2A", "19").replace("2B", "18");
  return 97 - remainderOf(digits.slice(0, 13), 97) === Number(digits.slice(13));
}

/** The Spanish identity number: eight digits, or X, Y or Z and seven digits, and a check letter. */
export function isSpanishIdentity(text: string): boolean {
  const match = /^([XYZ]?)(\d{7,8})([A-Z])$/.exec(text);
  if (match === null) return false;
  const [, prefix = "", digits = "", letter = ""] = match;
  if (prefix.length + digits.length !== 8) return false;
  const number = Number((prefix === "" ? "" : String("XYZ".indexOf(prefix))) + digits);
  return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] === letter;
}

/** Of the first ten digits, one occurs twice or three times. */
export function isGermanTaxNumber(digits: string): boolean {
  const different = new Set(digits.slice(0, 10)).size;
  return /^[1-9]\d{10}$/.test(digits) && (different === 9 || different === 8) && passesMod1110(digits);
}

export function isGermanPensionNumber(text: string): boolean {
  const letter = String(text.charCodeAt(8) - 64).padStart(2, "0");
  const digits = text.slice(0, 8) + letter + text.slice(9);
  const weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
  const sum = weights.reduce((total, weight, index) => {
    const product = weight * Number(digits[index]);
    return total + Math.floor(product / 10) + (product % 10);
  }, 0);
  return sum % 10 === Number(digits[12]);
}

export function isDutchNumber(digits: string): boolean {
  return !isOneDigit(digits) && weightedSum(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

export function isBelgianNumber(digits: string): boolean {
  const [number, check] = [digits.slice(0, 9), Number(digits.slice(9))];
  const month = Number(digits.slice(2, 4)) % 20;
  if (month > 12 || Number(digits.slice(4, 6)) > 31) return false;
  return 97 - remainderOf(number, 97) === check || 97 - remainderOf(`2${number}`, 97) === check;
}

/** Spain: a number with less than eight significant digits is not filled with zeros. */
export function withoutZero(digits: string): string {
  return digits[2] === "0" ? digits.slice(0, 2) + digits.slice(3) : digits;
}

export function isPortugueseNumber(digits: string): boolean {
  const check = 11 - (weightedSum(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check > 9 ? 0 : check) === Number(digits[8]);
}

export function isPortugueseCard(text: string): boolean {
  const sum = Array.from(text).reduce((total, character, index) => {
    const value = Number.parseInt(character, 36) * (index % 2 === 0 ? 2 : 1);
    return total + (index % 2 === 0 && value > 9 ? value - 9 : value);
  }, 0);
  return text.length === 12 && sum % 10 === 0;
}

const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

export function isItalianTaxCode(text: string): boolean {
  const sum = Array.from(text.slice(0, 15)).reduce((total, character, index) => {
    const value = /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65;
    return total + (index % 2 === 0 ? (oddValues[value] ?? 0) : value);
  }, 0);
  return text.length === 16 && String.fromCharCode(65 + (sum % 26)) === text[15];
}

/** The day of a coordination number is 60 higher. */
export function isSwedishNumber(text: string): boolean {
  const digits = text.replace(/\D/g, "").slice(-10);
  const day = Number(digits.slice(4, 6));
  return isShortDate(digits.slice(0, 2), digits.slice(2, 4), day > 60 ? day - 60 : day) && passesLuhn(digits);
}

/** The day of a D-number is 40 higher. */
export function isNorwegianNumber(digits: string): boolean {
  const day = Number(digits.slice(0, 2));
  if (!isShortDate(digits.slice(4, 6), Number(digits.slice(2, 4)) % 40, day > 40 ? day - 40 : day)) return false;
  return (
    weightedSum(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
    weightedSum(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0
  );
}

export function isFinnishNumber(text: string): boolean {
  const match = /^(\d{6})[A-Z+]?(\d{3})([0-9A-Z])$/.exec(text);
  if (match === null) return false;
  const [, date = "", serial = "", check = ""] = match;
  const isDate = isShortDate(date.slice(4), date.slice(2, 4), date.slice(0, 2));
  return isDate && "0123456789ABCDEFHJKLMNPRSTUVWXY"[Number(date + serial) % 31] === check;
}

export function isBalticNumber(digits: string): boolean {
  if (!isShortDate(digits.slice(1, 3), digits.slice(3, 5), digits.slice(5, 7))) return false;
  const first = weightedSum(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const check = first < 10 ? first : (weightedSum(digits, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11) % 10;
  return check === Number(digits[10]);
}

/** The month states the century in steps of 20. */
export function isPesel(digits: string): boolean {
  const isDate = isShortDate(digits.slice(0, 2), Number(digits.slice(2, 4)) % 20, digits.slice(4, 6));
  return isDate && weightedSum(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0;
}

export function isNip(digits: string): boolean {
  return weightedSum(digits, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(digits[9]) && !isOneDigit(digits);
}

export function isPolishCard(text: string): boolean {
  const digits = Array.from(text.slice(0, 3), (letter) => letter.charCodeAt(0) - 55);
  const sum = 7 * (digits[0] ?? 0) + 3 * (digits[1] ?? 0) + (digits[2] ?? 0);
  return (sum + weightedSum(text.slice(4), [7, 3, 1, 7, 3])) % 10 === Number(text[3]);
}

/** The month of a woman is 50 higher, and 20 higher when the numbers of a day were used up. Old numbers have no check digit. */
export function isCzechNumber(digits: string): boolean {
  const month = (Number(digits.slice(2, 4)) % 50) % 20;
  if (!isShortDate(digits.slice(0, 2), month, digits.slice(4, 6))) return false;
  if (digits.length === 9) return digits.slice(0, 2) < "54";
  return Number(digits) % 11 === 0 || (Number(digits.slice(0, 9)) % 11 === 10 && digits.endsWith("0"));
}

export function isRomanianNumber(digits: string): boolean {
  const check = weightedSum(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  const isDate = isShortDate(digits.slice(1, 3), digits.slice(3, 5), digits.slice(5, 7));
  return isDate && (check === 10 ? 1 : check) === Number(digits[12]);
}

export function isBulgarianNumber(digits: string): boolean {
  const isDate = isShortDate(digits.slice(0, 2), Number(digits.slice(2, 4)) % 20, digits.slice(4, 6));
  return isDate && (weightedSum(digits, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10 === Number(digits[9]);
}

export function isYugoslavNumber(digits: string): boolean {
  const check = 11 - (weightedSum(digits, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  const isDate = isShortDate(digits.slice(4, 7), digits.slice(2, 4), digits.slice(0, 2)) && /^.{4}[09]/.test(digits);
  return isDate && (check === 11 ? 0 : check) === Number(digits[12]);
}

export function isGreekNumber(digits: string): boolean {
  return (weightedSum(digits, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === Number(digits[8]) && !isOneDigit(digits);
}

export function isRussianTaxNumber(digits: string): boolean {
  const check = (weights: readonly number[]) =>
    (weightedSum(digits, weights) % 11) % 10 === Number(digits[weights.length]);
  if (digits.length === 10) return check([2, 4, 10, 3, 5, 9, 4, 6, 8]);
  return check([7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) && check([3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]);
}

export function isTurkishNumber(digits: string): boolean {
  const odd = weightedSum(digits, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = weightedSum(digits, [0, 1, 0, 1, 0, 1, 0, 1]);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return tenth === Number(digits[9]) && (odd + even + tenth) % 10 === Number(digits[10]);
}
