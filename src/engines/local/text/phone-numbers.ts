// Finds telephone numbers by the numbering plans of the world. A number without a country code counts only if it is written like a telephone
// number or follows a word such as "phone", because order numbers look the same.

import { importPackage } from "../resolve-package.ts";
import type { Span } from "./sentences.ts";

export const phonePackage = "libphonenumber-js";

/** The parts of the package that we call. */
interface PhonePackage {
  parsePhoneNumberFromString(text: string, country?: string): { isValid(): boolean } | undefined;
}

const candidate = /(?<![\w.,/@#-])(?:\+|00)?\(?\d(?:[\s().\u00a0-]{0,2}\d){6,14}(?![\w@]|[.,]\d)/gu;
/** A word before the number that announces it. */
const announcement =
  /(?:phone|tel|telephone|mobile|cell|call|fax|whatsapp|text|ring|dial|number is|reach\w* \w+ (?:at|on)|handy|téléphone|teléfono|móvil|cellulare|portable)\b[^\d\n]{0,25}$/iu;
/** At least three groups, the first in brackets or with a leading zero, or the North American form. */
const phoneForm = /^(?:\(?0\d+\)?[\s.-]?\d+[\s.-]\d+|\(\d{2,4}\)[\s.-]?\d+[\s.-]\d+|\d{3}[.-]\d{3}[.-]\d{4}$)/u;
const dateForm = /^(?:\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ]\d{4})/u;
const maxCached = 10_000;
/** The countries whose plans are tried for numbers without a country code. */
const countries = "US GB FR DE ES IT NL BE CH AT PT IE SE PL IN AU BR MX JP".split(" ");

export async function loadPhoneNumbers(): Promise<(text: string) => readonly Span[]> {
  const { parsePhoneNumberFromString: parse } = await importPackage<PhonePackage>(`${phonePackage}/max`);
  const isValid = (number: string, country?: string) => parse(number, country)?.isValid() === true;

  // Trying every plan takes nearly a millisecond, and texts repeat numbers.
  const cache = new Map<string, boolean>();
  function isInAnyPlan(number: string): boolean {
    const known = cache.get(number) ?? countries.some((country) => isValid(number, country));
    if (cache.size >= maxCached) cache.clear();
    cache.set(number, known);
    return known;
  }

  function isPhoneNumber(number: string, before: string): boolean {
    if (number.startsWith("+")) return isValid(number);
    if (number.startsWith("00") && isValid(`+${number.slice(2)}`)) return true;
    if (dateForm.test(number)) return false;
    // Numbers in examples are often in no plan, so an announced number is not looked up.
    if (announcement.test(before) && number.replace(/\D/g, "").length >= 7) return true;
    return phoneForm.test(number) && isInAnyPlan(number);
  }

  return (text) =>
    [...text.matchAll(candidate)].flatMap((match) => {
      const number = match[0].replace(/[\s().-]+$/u, "");
      const before = text.slice(Math.max(0, match.index - 45), match.index);
      return isPhoneNumber(number, before) ? [{ text: number, start: match.index }] : [];
    });
}
