// Checks numbers by their check digits. Each function takes digits and letters without spaces.

export function passesLuhn(digits: string): boolean {
  if (!/^\d{12,19}$/.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = digit * 2;
    sum += index % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) return false;
  return remainderOf97(toDigits(text.slice(4) + text.slice(0, 4))) === 1;
}

/** The number of a bank in the United States. */
export function isRoutingNumber(digits: string): boolean {
  if (!/^\d{9}$/.test(digits) || digits === "000000000") return false;
  return weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

/** The number of a patient of the British health service. */
export function isNhsNumber(digits: string): boolean {
  if (!/^\d{10}$/.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  const check = (11 - (weightedSum(digits.slice(0, 9), [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check !== 10 && check === Number(digits[9]);
}

/** The French social security number, with its key of two digits. */
export function isFrenchSocialNumber(digits: string): boolean {
  if (!/^[12]\d{14}$/.test(digits)) return false;
  return 97 - remainderOf97(digits.slice(0, 13)) === Number(digits.slice(13));
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

export function isVehicleNumber(text: string): boolean {
  if (!/^[A-HJ-NPR-Z0-9]{17}$/.test(text) || !/\d/.test(text) || !/[A-Z]/.test(text)) return false;
  const values = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ";
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
  const digits = Array.from(text, (letter) => values.indexOf(letter) % 10).join("");
  return "0123456789X"[weightedSum(digits, weights) % 11] === text[8];
}

export function isSocialSecurityNumber(digits: string): boolean {
  const [area, group, serial] = [digits.slice(0, 3), digits.slice(3, 5), digits.slice(5)];
  return (
    /^\d{9}$/.test(digits) && area !== "000" && area !== "666" && area < "900" && group !== "00" && serial !== "0000"
  );
}

function toDigits(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
}

function remainderOf97(digits: string): number {
  let remainder = 0;
  for (const digit of digits) remainder = (remainder * 10 + Number(digit)) % 97;
  return remainder;
}

function weightedSum(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(digits[index] ?? 0), 0);
}
