// Telephone numbers, judged by the numbering plans of the world. A number without a country is believed when it is written like one,
// or announced as one: otherwise every order number would be somebody's telephone.

import { importPackage } from "../resolve-package.ts";
import type { Span } from "./sentences.ts";

export const phonePackage = "libphonenumber-js";

export type FindPhoneNumbers = (text: string) => readonly Span[];

/** The parts of the package that we call. */
interface PhonePackage {
  parsePhoneNumberFromString(text: string, country?: string): { isValid(): boolean } | undefined;
}

const candidate = /(?<![\w.,/@#-])(?:\+|00)?\(?\d(?:[\s().\u00a0-]{0,2}\d){6,14}(?![\w@]|[.,]\d)/gu;
const announcement =
  /(?:phone|tel|telephone|mobile|cell|call|fax|whatsapp|text|ring|dial|number is|reach\w* \w+ (?:at|on)|handy|téléphone|teléfono|móvil|cellulare|portable)\b[^\d\n]{0,25}$/iu;
// Three groups or more, the first in brackets or with a leading zero, or the form that North America uses.
const writtenLikeOne = /^(?:\(?0\d+\)?[\s.-]?\d+[\s.-]\d+|\(\d{2,4}\)[\s.-]?\d+[\s.-]\d+|\d{3}[.-]\d{3}[.-]\d{4}$)/u;
const aDate = /^(?:\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4})/u;
const mostRemembered = 10_000;
const countries = [
  "US",
  "GB",
  "FR",
  "DE",
  "ES",
  "IT",
  "NL",
  "BE",
  "CH",
  "AT",
  "PT",
  "IE",
  "SE",
  "PL",
  "IN",
  "AU",
  "BR",
  "MX",
  "JP",
];

export async function loadPhoneNumbers(): Promise<FindPhoneNumbers> {
  const { parsePhoneNumberFromString: parse } = await importPackage<PhonePackage>(`${phonePackage}/max`);
  const isValid = (number: string, country?: string) => parse(number, country)?.isValid() === true;

  // A number is looked up once, however often a text repeats it: to ask every plan takes most of a millisecond.
  const looked = new Map<string, boolean>();
  function isInAnyPlan(number: string): boolean {
    const known = looked.get(number);
    if (known !== undefined) return known;
    if (looked.size >= mostRemembered) looked.clear();
    const isNumber = countries.some((country) => isValid(number, country));
    looked.set(number, isNumber);
    return isNumber;
  }

  function isPhoneNumber(number: string, before: string): boolean {
    if (number.startsWith("+")) return isValid(number);
    if (number.startsWith("00") && isValid(`+${number.slice(2)}`)) return true;
    if (aDate.test(number)) return false;
    // The plans keep no numbers that were never given out, and examples are full of them: an announced number needs no plan.
    if (announcement.test(before) && number.replace(/\D/g, "").length >= 7) return true;
    return writtenLikeOne.test(number) && isInAnyPlan(number);
  }

  return (text) =>
    [...text.matchAll(candidate)].flatMap((match) => {
      const number = match[0].replace(/[\s().-]+$/u, "");
      const before = text.slice(Math.max(0, match.index - 45), match.index);
      return isPhoneNumber(number, before) ? [{ text: number, start: match.index }] : [];
    });
}
