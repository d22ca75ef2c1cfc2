// Check digits. Each function takes digits and letters without separators. The numbers of single countries are in `personal-data/`.

export function passesLuhn(digits: string): boolean {
  if (!/^\d{8,19}$/.test(digits) || isOneDigit(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = digit * 2;
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The number of characters of an IBAN, by country. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Null: the country has no IBAN. */
export function ibanLengthOf(country: string): number | null {
  return Object.hasOwn(ibanLengths, country) ? (ibanLengths[country] ?? null) : null;
}

export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  if (text.length !== ibanLengthOf(text.slice(0, 2))) return false;
  return remainderOf(toDigits(text.slice(4) + text.slice(0, 4)), 97) === 1;
}

/** The number of a bank in the United States. */
export function isRoutingNumber(digits: string): boolean {
  if (!/^\d{9}$/.test(digits) || digits === "000000000") return false;
  return weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

export function isVehicleNumber(text: string): boolean {
  if (!/^[A-HJ-NPR-Z0-9]{17}$/.test(text) || !/\d/.test(text) || !/[A-Z]/.test(text)) return false;
  const values = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ";
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
  const digits = Array.from(text, (letter) => values.indexOf(letter) % 10).join("");
  return "0123456789X"[weightedSum(digits, weights) % 11] === text[8];
}

const verhoeffProducts = [
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
];
const verhoeffPermutations = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

export function passesVerhoeff(digits: string): boolean {
  let check = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    check = Number(verhoeffProducts[check]?.[Number(verhoeffPermutations[index % 8]?.[digit])]);
  }
  return check === 0;
}

/** ISO 7064, MOD 11,10: the last digit is the check digit. */
export function passesMod1110(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

/** Of a number of any length, written in decimal digits. */
export function remainderOf(digits: string, divisor: number): number {
  let remainder = 0;
  for (const digit of digits) remainder = (remainder * 10 + Number(digit)) % divisor;
  return remainder;
}

/** The weights apply from the left; digits without a weight do not count. */
export function weightedSum(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(digits[index] ?? 0), 0);
}

/** Replaces letters by 10 to 35. */
export function toDigits(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
}

export function isOneDigit(digits: string): boolean {
  return /^(\d)\1*$/.test(digits);
}

/** Two digits of a year, a month and a day. Numbers with a birth date often state the century elsewhere. */
export function isShortDate(year: string, month: string | number, day: string | number): boolean {
  const [monthNumber, dayNumber] = [Number(month), Number(day)];
  if (!/^\d+$/.test(year) || monthNumber < 1 || monthNumber > 12 || dayNumber < 1) return false;
  return dayNumber <= (monthNumber === 2 ? 29 : [4, 6, 9, 11].includes(monthNumber) ? 30 : 31);
}
