// Numbers with check digits: one true number of each kind, and every number that differs from it in one digit. The numbers are the examples
// that the institutions publish, or are computed by their rules.

import { expect, test } from "bun:test";
import { isIban, isRoutingNumber, isVehicleNumber, passesLuhn } from "../../src/engines/local/text/check-digits.ts";
import {
  isFrenchSocialNumber,
  isNhsNumber,
  isPortugueseNumber,
  isRussianTaxNumber,
  isSpanishIdentity,
} from "../../src/engines/local/text/personal-data/checks-europe.ts";
import { isSocialSecurityNumber } from "../../src/engines/local/text/personal-data/checks-world.ts";

const kinds: Readonly<Record<string, { check: (text: string) => boolean; valid: string[]; invalid: string[] }>> = {
  "a payment card": {
    check: passesLuhn,
    valid: ["4111111111111111", "5500005555555559", "378282246310005", "6011000990139424"],
    invalid: ["4111111", "00000000000000000000", "1111111111111111", "4111 1111 1111 1111", "411111111111111x"],
  },
  "an IBAN": {
    check: isIban,
    valid: ["DE89370400440532013000", "GB29NWBK60161331926819", "FR1420041010050500013M02606", "NO9386011117947"],
    invalid: [
      "de89370400440532013000",
      "DE8937040044",
      "89DE370400440532013000",
      "DE89 3704 0044 0532 0130 00",
      "DE893704004405320130",
      "XX89370400440532013000",
    ],
  },
  "a routing number": {
    check: isRoutingNumber,
    valid: ["021000021", "011401533", "091000019"],
    invalid: ["000000000", "02100002", "0210000210"],
  },
  "a number of the British health service": {
    check: isNhsNumber,
    valid: ["9434765919", "4010232137"],
    invalid: ["1111111111", "943476591", "94347659190"],
  },
  "a French number of social insurance": {
    check: isFrenchSocialNumber,
    valid: ["255081416802538"],
    invalid: ["555081416802538", "25508141680253", "2550814168025380"],
  },
  "a Spanish identity number": {
    check: isSpanishIdentity,
    valid: ["12345678Z", "X1234567L", "Y1234567X"],
    invalid: ["1234567Z", "XX234567L", "12345678", "A1234567L", "X12345678L"],
  },
  "a vehicle number": {
    check: isVehicleNumber,
    valid: ["1M8GDM9AXKP042788", "1HGCM82633A004352"],
    invalid: ["1M8GDM9AXKP04278", "IM8GDM9AXKP042788", "11111111111111111x", "1M8GDM9AXKP042788A"],
  },
};

for (const [kind, { check, valid, invalid }] of Object.entries(kinds)) {
  test.each(valid)(`${kind}: %s is valid`, (text) => expect(check(text)).toBe(true));
  test.each(invalid)(`${kind}: %s is not`, (text) => expect(check(text)).toBe(false));
  test(`${kind} with one other digit is not valid`, () => {
    const wrong = valid.flatMap((text) => [...changedDigits(text)]);
    expect(wrong.filter(check)).toEqual([]);
    expect(wrong.length).toBeGreaterThan(50);
  });
}

// Remainders for which the digit is not the difference to eleven: 10 and 11 become 0.
test.each([
  "123456789",
  "200000039",
  "200000071",
  "200000080",
  "200000020",
])("a Portuguese number such as %s", (digits) => {
  expect(isPortugueseNumber(digits)).toBe(true);
  const wrong = Array.from({ length: 9 }, (_, more) => `${digits.slice(0, 8)}${(Number(digits[8]) + more + 1) % 10}`);
  expect(wrong.filter(isPortugueseNumber)).toEqual([]);
});

test.each([
  "7707083893",
  "500100732259",
  "774301390193",
  "918765432137",
])("a Russian tax number such as %s", (digits) => {
  expect(isRussianTaxNumber(digits)).toBe(true);
  const last = Number(digits.at(-1));
  expect(isRussianTaxNumber(`${digits.slice(0, -1)}${(last + 1) % 10}`)).toBe(false);
});

test.each([
  ["123456789", true],
  ["899999999", true],
  ["000456789", false],
  ["666456789", false],
  ["900456789", false],
  ["123006789", false],
  ["123450000", false],
  ["12345678", false],
] as const)("a social security number such as %s: %p", (digits, isValid) => {
  expect(isSocialSecurityNumber(digits)).toBe(isValid);
});

function* changedDigits(text: string): Generator<string> {
  for (const [index, digit] of [...text].entries())
    if (/\d/.test(digit))
      for (const other of "0123456789")
        if (other !== digit) yield `${text.slice(0, index)}${other}${text.slice(index + 1)}`;
}
