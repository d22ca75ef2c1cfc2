// Invented tax numbers and bank accounts whose check digits are right, because a reader may verify them.

import type { Random } from "./random.ts";

/** A VAT number as the country writes it; without the prefix where it is not usual at home. */
export function inventVatNumber(country: string, random: Random): string {
  const invent = vatNumbers[country];
  if (invent === undefined) throw new Error(`No rule for tax numbers of ${country}.`);
  return invent(random);
}

/** In groups of four. */
export function inventIban(country: string, random: Random): string {
  const bank = banks[country];
  if (bank === undefined) throw new Error(`No rule for accounts of ${country}.`);
  const account = bank.prefix + random.digits(bank.digits);
  const check = 98 - modulo(`${toDigits(account)}${toDigits(country)}00`, 97);
  const whole = `${country}${String(check).padStart(2, "0")}${account}`;
  return whole.replace(/(.{4})(?=.)/g, "$1 ");
}

const banks: Readonly<Record<string, { readonly prefix: string; readonly digits: number }>> = {
  AT: { prefix: "", digits: 16 },
  BE: { prefix: "", digits: 12 },
  CH: { prefix: "0", digits: 16 },
  CZ: { prefix: "", digits: 20 },
  DE: { prefix: "", digits: 18 },
  DK: { prefix: "", digits: 14 },
  ES: { prefix: "", digits: 20 },
  FR: { prefix: "", digits: 23 },
  GB: { prefix: "LOYD", digits: 14 },
  IE: { prefix: "AIBK", digits: 14 },
  IT: { prefix: "X0", digits: 21 },
  NL: { prefix: "INGB0", digits: 9 },
  PL: { prefix: "", digits: 24 },
  PT: { prefix: "", digits: 21 },
  SE: { prefix: "", digits: 20 },
};

const vatNumbers: Readonly<Record<string, (random: Random) => string>> = {
  AT: (random) => {
    const body = random.digits(7);
    const sum = weighted(body, [1, 2, 1, 2, 1, 2, 1], crossSum);
    return `ATU${body}${(10 - ((sum + 4) % 10)) % 10}`;
  },
  BE: (random) => {
    const body = `0${random.digits(7)}`;
    return `BE${body}${String(97 - (Number(body) % 97)).padStart(2, "0")}`;
  },
  CH: (random) => {
    const { body, check } = withCheck(random, 8, (one) => 11 - (weighted(one, [5, 4, 3, 2, 7, 6, 5, 4]) % 11), 11);
    return `CHE-${`${body}${check}`.replace(/(\d{3})(?=\d)/g, "$1.")} MWST`;
  },
  CZ: (random) => {
    const { body, check } = withCheck(random, 7, (one) => 11 - (weighted(one, [8, 7, 6, 5, 4, 3, 2]) % 11), 10);
    return `CZ${body}${check}`;
  },
  DE: (random) => {
    const body = random.digits(8);
    let product = 10;
    for (const digit of body) {
      const sum = (Number(digit) + product) % 10;
      product = (2 * (sum === 0 ? 10 : sum)) % 11;
    }
    return `DE${body}${(11 - product) % 10}`;
  },
  DK: (random) => {
    const { body, check } = withCheck(random, 7, (one) => 11 - (weighted(one, [2, 7, 6, 5, 4, 3, 2]) % 11), 10);
    return `DK${body}${check}`;
  },
  ES: (random) => {
    const body = random.digits(7);
    const sum = weighted(body, [2, 1, 2, 1, 2, 1, 2], crossSum);
    return `B${body}${(10 - (sum % 10)) % 10}`;
  },
  FR: (random) => {
    const siren = withLuhn(random.digits(8));
    return `FR${String((12 + 3 * (Number(siren) % 97)) % 97).padStart(2, "0")}${siren}`;
  },
  GB: (random) => {
    const body = random.digits(7);
    const sum = weighted(body, [8, 7, 6, 5, 4, 3, 2]);
    return `GB${body}${String(97 - (sum % 97)).padStart(2, "0")}`;
  },
  IE: (random) => {
    const body = random.digits(7);
    return `IE${body}${"WABCDEFGHIJKLMNOPQRSTUV"[weighted(body, [8, 7, 6, 5, 4, 3, 2]) % 23]}`;
  },
  IT: (random) => `IT${withLuhn(random.digits(10))}`,
  NL: (random) => {
    const { body, check } = withCheck(random, 8, (one) => weighted(one, [9, 8, 7, 6, 5, 4, 3, 2]) % 11, 10);
    return `NL${body}${check}B01`;
  },
  PL: (random) => {
    const { body, check } = withCheck(random, 9, (one) => weighted(one, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11, 10);
    return `PL${body}${check}`;
  },
  PT: (random) => {
    const body = `5${random.digits(7)}`;
    const check = 11 - (weighted(body, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
    return `PT${body}${check >= 10 ? 0 : check}`;
  },
  SE: (random) => `SE${withLuhn(random.digits(9))}01`,
  /** GSTIN: state, PAN, entity, Z, check character. */
  IN: (random) => {
    const letters = Array.from({ length: 5 }, () => random.pick([..."ABCDEFGHJKLMNPRSTUVW"])).join("");
    const body = `27${letters}${random.digits(4)}${random.pick([..."ABCDEFGHK"])}1Z`;
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const sum = [...body].reduce((total, character, index) => {
      const value = alphabet.indexOf(character) * (index % 2 === 0 ? 1 : 2);
      return total + Math.floor(value / 36) + (value % 36);
    }, 0);
    return `${body}${alphabet[(36 - (sum % 36)) % 36]}`;
  },
  /** CNPJ. */
  BR: (random) => {
    const digit = (body: string, weights: readonly number[]) => {
      const rest = weighted(body, weights) % 11;
      return rest < 2 ? 0 : 11 - rest;
    };
    const body = `${random.digits(8)}0001`;
    const first = digit(body, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
    const second = digit(`${body}${first}`, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
    return `${body}${first}${second}`.replace(/^(\d{2})(\d{3})(\d{3})(\d{4})(\d{2})$/, "$1.$2.$3/$4-$5");
  },
  /** ABN. */
  AU: (random) => {
    const body = random.digits(9);
    const sum = weighted(body, [3, 5, 7, 9, 11, 13, 15, 17, 19]);
    // The two leading digits, less one, count 10 and 1.
    for (let lead = 11; lead < 100; lead++) {
      const total = sum + (Math.floor(lead / 10) - 1) * 10 + (lead % 10);
      if (total % 89 === 0) return `${lead}${body}`.replace(/^(\d{2})(\d{3})(\d{3})(\d{3})$/, "$1 $2 $3 $4");
    }
    return inventVatNumber("AU", random);
  },
  US: (random) => `${random.between(10, 95)}-${random.digits(7)}`,
  /** The number of a qualified invoice issuer: T and a corporate number, which starts with its check digit. */
  JP: (random) => {
    const body = random.digits(12);
    return `T${9 - (weighted(body, [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]) % 9)}${body}`;
  },
  /** RFC of a company. */
  MX: (random) => {
    const alphabet = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";
    const initials = Array.from({ length: 3 }, () => random.pick([..."ACDEFGLMNPRST"])).join("");
    const body = `${initials}${random.between(70, 99)}0${random.between(1, 9)}${random.between(10, 28)}${random.pick([..."ABCHKT"])}${random.between(1, 9)}`;
    const sum = [...` ${body}`].reduce((total, letter, index) => total + alphabet.indexOf(letter) * (13 - index), 0);
    return `${body}${sum % 11 === 0 ? "0" : sum % 11 === 1 ? "A" : 11 - (sum % 11)}`;
  },
};

/** Draws until the check digit is a digit. */
function withCheck(random: Random, length: number, checkOf: (body: string) => number, limit: number) {
  for (;;) {
    const body = random.digits(length);
    const check = checkOf(body);
    const digit = check === limit && limit === 11 ? 0 : check;
    if (digit < 10) return { body, check: digit };
  }
}

function weighted(body: string, weights: readonly number[], change = (value: number) => value): number {
  return [...body].reduce((total, digit, index) => total + change(Number(digit) * (weights[index] ?? 0)), 0);
}

function crossSum(value: number): number {
  return value > 9 ? value - 9 : value;
}

export function withLuhn(body: string): string {
  const sum = [...body]
    .reverse()
    .reduce((total, digit, index) => total + crossSum(Number(digit) * (index % 2 === 0 ? 2 : 1)), 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

function toDigits(content: string): string {
  return content.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
}

function modulo(digits: string, divisor: number): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % divisor;
  return rest;
}
