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

  function isPhoneNumber(number: string, before: string): boolean {
    if (number.startsWith("+")) return isValid(number);
    if (number.startsWith("00") && isValid(`+${number.slice(2)}`)) return true;
    if (aDate.test(number)) return false;
    const isAnnounced = announcement.test(before);
    if (!isAnnounced && !writtenLikeOne.test(number)) return false;
    if (countries.some((country) => isValid(number, country))) return true;
    // The plans keep no numbers that were never given out, and examples are full of them.
    return isAnnounced && number.replace(/\D/g, "").length >= 7;
  }

  return (text) =>
    [...text.matchAll(candidate)].flatMap((match) => {
      const number = match[0].replace(/[\s().-]+$/u, "");
      const before = text.slice(Math.max(0, match.index - 45), match.index);
      return isPhoneNumber(number, before) ? [{ text: number, start: match.index }] : [];
    });
}
