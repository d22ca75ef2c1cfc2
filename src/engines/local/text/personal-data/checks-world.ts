// Check digits of the numbers that identify people outside Europe. Each function takes digits and letters without separators.

import { isOneDigit, isShortDate, toDigits, weightedSum } from "../check-digits.ts";

export function isSocialSecurityNumber(digits: string): boolean {
  const [area, group, serial] = [digits.slice(0, 3), digits.slice(3, 5), digits.slice(5)];
  return (
    /^\d{9}$/.test(digits) && area !== "000" && area !== "666" && area < "900" && group !== "00" && serial !== "0000"
  );
}

const curpAlphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ";

export function isCurp(text: string): boolean {
  if (!isShortDate(text.slice(4, 6), text.slice(6, 8), text.slice(8, 10))) return false;
  const sum = Array.from(text.slice(0, 17)).reduce(
    (total, character, index) => total + curpAlphabet.indexOf(character) * (18 - index),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(text[17]);
}

export function isCpf(digits: string): boolean {
  const check = (length: number) => {
    const weights = Array.from({ length }, (_, index) => length + 1 - index);
    return ((weightedSum(digits, weights) * 10) % 11) % 10 === Number(digits[length]);
  };
  return !isOneDigit(digits) && check(9) && check(10);
}

/** The first twelve characters may be letters, whose value is that of their code. */
export function isCnpj(text: string): boolean {
  const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const check = (length: number) => {
    const sum = Array.from(text.slice(0, length)).reduce(
      (total, character, index) => total + (character.charCodeAt(0) - 48) * (weights[index + 13 - length] ?? 0),
      0,
    );
    return (sum % 11 < 2 ? 0 : 11 - (sum % 11)) === Number(text[length]);
  };
  return text.length === 14 && /\d/.test(text.slice(0, 12)) && !isOneDigit(text) && check(12) && check(13);
}

export function isCuit(digits: string): boolean {
  const check = 11 - (weightedSum(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 11 ? 0 : check === 10 ? 9 : check) === Number(digits[10]);
}

export function isRut(text: string): boolean {
  const digits = text.slice(0, -1);
  let sum = 0;
  for (let index = 0; index < digits.length; index++)
    sum += Number(digits[digits.length - 1 - index]) * (2 + (index % 6));
  return "0K987654321"[sum % 11] === text.at(-1);
}

export function isChineseNumber(text: string): boolean {
  const sum = weightedSum(text, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
  return isShortDate(text.slice(6, 10), text.slice(10, 12), text.slice(12, 14)) && "10X98765432"[sum % 11] === text[17];
}

/** A missing first letter has the value 36. */
export function isHongKongNumber(text: string): boolean {
  const padded = text.length === 8 ? ` ${text}` : text;
  const sum = Array.from(padded).reduce((total, character, index) => {
    const value = character === " " ? 36 : Number.parseInt(character, 36);
    return total + value * (9 - index);
  }, 0);
  return padded.length === 9 && sum % 11 === 0;
}

export function isTaiwaneseNumber(text: string): boolean {
  const value = "ABCDEFGHJKLMNPQRSTUVXYWZIO".indexOf(text.charAt(0)) + 10;
  const second = /[A-D]/.test(text.charAt(1)) ? toDigits(text.charAt(1)).slice(1) : text.charAt(1);
  return weightedSum(`${value}${second}${text.slice(2)}`, [1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1]) % 10 === 0;
}

export function isMyNumber(digits: string): boolean {
  const remainder = weightedSum(digits, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return (remainder < 2 ? 0 : 11 - remainder) === Number(digits[11]) && !isOneDigit(digits);
}

export function isSingaporeNumber(text: string): boolean {
  const [first, last] = [text.charAt(0), text.charAt(8)];
  const offset = first === "T" || first === "G" ? 4 : first === "M" ? 3 : 0;
  const remainder = (weightedSum(text.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  const letters = first === "M" ? "XWUTRQPNJLK" : /[ST]/.test(first) ? "JZIHGFEDCBA" : "XWUTRQPNMLK";
  return letters[remainder] === last;
}

export function isKazakhNumber(digits: string): boolean {
  if (!isShortDate(digits.slice(0, 2), digits.slice(2, 4), digits.slice(4, 6))) return false;
  const first = weightedSum(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
  const check = first < 10 ? first : weightedSum(digits, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11;
  return check === Number(digits[11]);
}
