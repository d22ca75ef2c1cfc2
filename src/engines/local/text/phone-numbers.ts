// Finds telephone numbers by the numbering plans of the world. A number without a country code counts only if it is written like a telephone
// number, follows a word such as "phone", or belongs to a country that the text states, because order numbers look the same.

import { importPackage } from "../resolve-package.ts";
import type { PersonalDatum } from "./personal-data/datum.ts";

export const phonePackage = "libphonenumber-js";

/** The parts of the package that we call. */
interface PhonePackage {
  parsePhoneNumberFromString(text: string, country?: string): { isValid(): boolean; isPossible(): boolean } | undefined;
  isSupportedCountry(country: string): boolean;
}

const candidate =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_./@#-])(?:(?=\+)|(?<!\d,))(?:\+|00)?[ ]?\(?\d(?:[ \t().\u00a0/\u2010-\u2015-]{0,3}\d){6,14}(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_@]|[.,/-]\d)/gu;
/** A word before the number that announces it. */
const announcement =
  /(?<![\p{L}])(?:(?:tele|smart|mobil|i)?phones?(?: no)?|ph|tel(?:e(?:phone|fon|foon(?:nummer|nr)?|fono|fone|fón|fonszám|fonnummer|fonnr))?|mobile?(?:nr|nummer|telefon)?|mob|cell(?:ulare|ulaire|phone)?|celular|cel|gsm|call(?:s|ing)?|fax|whatsapp|viber|signal|telegram|sms|text|ring|dial|number is|(?:my|his|her|our|their) (?:new |work |home |private )?number|nummer|meine nummer|mon numéro|mi número|mio numero|meu número|mijn nummer|mój numer|moje číslo|numărul meu|numaram|numeroni|мой номер|мій номер|моят номер|handy|téléphone|tél|teléfono|tfno|móvil|movil|telemóvel|telem|portable|appelez|appeler|joindre|joignable|llam[aeo]r?|llámame|ligue|ligar|chiam[aio]|chiamare|bel(?:len)?|ringe?r? på|ringe?r?|sími|gsm-nummer|zadzwoń|zadzwonić|dzwonić|volejte|volajte|zavolejte|hívjon|sunați|ara(?:yın|yabilirsiniz)|kontakttelefon|hotline|(?:phone|contact|mobile|telephone|cell) (?:number|no)|h\/p|natel|reach\p{L}* \p{L}+ (?:at|on)|puhelin|puh|matkapuhelin|mobil|mobilnummer|tlf|tfn|komórka|kom|numer telefonu|mobilní|szám|mobilszám|telefonszám|mobilul|cep|cep tel|telefonu|тел|телефон\p{L}*|моб|мобильный|звоните|звонить|дзвоніть|τηλ|τηλέφωνο|κινητό|電話(?:番号)?|携帯(?:電話)?|电话|手机(?:号码?)?|聯絡電話|전화(?:번호)?|휴대폰|연락처|هاتفي?|جوالي?|الهاتف|الجوال|رقمي|تلفن|موبایل|טלפון|טל['׳]|נייד|फ़ोन|मोबाइल|โทร(?:ศัพท์)?|điện thoại|sđt|telepon|hp|simu|no\\. telefon|no\\. hp|फोन|मोबाइल नंबर|নম্বর|মোবাইল|ফোন|เบอร์)(?:$|[^\p{L}\d\n][^\d\n]{0,25}$|[:：는은は是][^\d\n]{0,10}$)/iu;
/** Words before a number that say that it is something else. */
const otherNumber =
  /(?:order|invoice|ref(?:erence)?|ticket|tracking|parcel|part|serial|sku|ean|isbn|issn|article|item|model|version|build|batch|contract|policy|account|konto|iban|imei|uuid|bestell\p{L}*|rechnung\p{L}*|liefer\p{L}*|auftrag\p{L}*|artikel\p{L}*|vertrag\p{L}*|facture|commande|pedido|factura|ordine|fattura|zamówienie|faktura|kd-?nr|kundennummer|grant|case|id|nr|no)\b[^\p{L}\d\n]{0,6}$/iu;
/** At least three groups, the first in brackets or with a leading zero, or the North American or the Russian form. */
const phoneForm =
  /^(?:\(?0\d+\)?[\s./-]?\d+[\s.-]\d+|\(\d{2,4}\)[\s.-]?\d+[\s.-]\d+|\d{3}[.-]\d{3}[.-]\d{4}$|8[\s-]?\(?\d{3}\)?[\s-]\d{3}[\s-]\d{2}[\s-]\d{2}$)/u;
/** North American numbers of examples, which are in no plan. */
const fictionForm = /^\(?(?:555\)?[-. ]\d{3}|\d{3}\)?[-. ]555)[-.]\d{4}$/;
const dateForm =
  /^(?:[012]\d{3}-[012]\d{3}$|(?:1[89]|20)\d{2}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:1[89]|20)\d{2})(?!\d)/u;
const maxCached = 10_000;
/** The countries whose plans are tried for numbers without a country code. */
const countries = "US GB FR DE ES IT NL BE CH AT PT IE SE PL IN AU BR MX JP RU NZ ZA TR".split(" ");

/** `stated`: the countries that other data of the text state. */
type FindPhoneNumbers = (text: string, stated: ReadonlySet<string>) => readonly PersonalDatum[];

export async function loadPhoneNumbers(): Promise<FindPhoneNumbers> {
  const phones = await importPackage<PhonePackage>(`${phonePackage}/max`);
  const parse = phones.parsePhoneNumberFromString;
  const isValid = (number: string, country?: string) => parse(number, country)?.isValid() === true;

  // Trying every plan takes nearly a millisecond, and texts repeat numbers.
  const cache = new Map<string, boolean>();
  function isInAnyPlan(number: string): boolean {
    const known = cache.get(number) ?? countries.some((country) => isValid(number, country));
    if (cache.size >= maxCached) cache.clear();
    cache.set(number, known);
    return known;
  }

  /** Null: no telephone number. */
  function confidenceOf(number: string, before: string, stated: readonly string[]): number | null {
    // Numbers in examples are often in no plan, but have the length that their country prescribes.
    if (number.startsWith("+")) return parse(number)?.isPossible() === true ? 0.96 : null;
    if (dateForm.test(number)) return null;
    if (number.startsWith("00") && !otherNumber.test(before) && isValid(`+${number.slice(2)}`)) return 0.95;
    const digits = number.replace(/\D/g, "").length;
    if (announcement.test(before) && digits >= 7) return 0.93;
    if (otherNumber.test(before)) return null;
    if (phoneForm.test(number) && (fictionForm.test(number) || isInAnyPlan(number))) return 0.88;
    const isGrouped = /\d[\s.()-]+\d/.test(number) || number.startsWith("0");
    return isGrouped && digits >= 9 && stated.some((country) => isValid(number, country)) ? 0.85 : null;
  }

  return (text, stated) => {
    const known = [...stated].filter((country) => phones.isSupportedCountry(country)).slice(0, 5);
    return Array.from(text.matchAll(candidate)).flatMap((match): PersonalDatum[] => {
      // A bracket that is not closed is not part of the number.
      const lead = (match[0].includes(")") ? /^\s*/ : /^[\s(]*/).exec(match[0])?.[0].length ?? 0;
      const number = match[0].slice(lead).replace(/[\s().-]+$/u, "");
      const start = match.index + lead;
      const confidence = confidenceOf(number, text.slice(Math.max(0, start - 45), start), known);
      return confidence === null ? [] : [{ text: number, start, kind: "PHONE", confidence }];
    });
  };
}
