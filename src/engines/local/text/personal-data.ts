// Finds personal data by its form, its check digits, and the words that announce it.

import { trimEndOf } from "./characters.ts";
import * as checkDigits from "./check-digits.ts";
import type { Span } from "./sentences.ts";

export interface PersonalDatum extends Span {
  readonly kind: PersonalKind;
  /** 0 to 1. A check digit gives more confidence than a form, and a form more than an announcing word. */
  readonly confidence: number;
}

export type PersonalKind = keyof typeof kinds;

/** The category and subcategory of the task, by our own label. */
export const kinds = {
  CREDIT_CARD: ["FinancialInformation", "CreditCard"],
  CARD_EXPIRY: ["FinancialInformation", "CardExpiry"],
  IBAN: ["FinancialInformation", "BankAccountNumber"],
  BANK_ACCOUNT: ["FinancialInformation", "BankAccountNumber"],
  ROUTING_NUMBER: ["FinancialInformation", "BankRoutingNumber"],
  SWIFT_CODE: ["FinancialInformation", "SwiftCode"],
  TAX_NUMBER: ["FinancialInformation", "TaxIdentificationNumber"],
  NAME: ["PersonalInformation", "Name"],
  AGE: ["PersonalInformation", "Age"],
  EMAIL: ["PersonalInformation", "Email"],
  PHONE: ["PersonalInformation", "Phone"],
  SOCIAL_SECURITY: ["IdentificationNumbers", "SocialSecurityNumber"],
  NATIONAL_ID: ["IdentificationNumbers", "NationalIdentificationNumber"],
  NHS_NUMBER: ["IdentificationNumbers", "NationalHealthService"],
  DRIVER_LICENSE: ["IdentificationNumbers", "DriverLicenseNumber"],
  PASSPORT: ["IdentificationNumbers", "PassportNumber"],
  URL: ["Miscellaneous", "URL"],
  IP_ADDRESS: ["Miscellaneous", "IP"],
  MAC_ADDRESS: ["Miscellaneous", "MAC"],
  VEHICLE_NUMBER: ["Miscellaneous", "VehicleIdentificationNumber"],
  LICENSE_PLATE: ["Miscellaneous", "LicensePlate"],
  AWS_KEY: ["Miscellaneous", "AWSKeys"],
  AZURE_KEY: ["Miscellaneous", "AzureKeys"],
  SECRET: ["Miscellaneous", "Password"],
  BIRTH_DATE: ["DateAndTime", "Date"],
  ADDRESS: ["LocationInformation", "Address"],
  POSTCODE: ["LocationInformation", "Address"],
} as const;

/** The datum is the group `datum`, otherwise the whole match. `isValid` gets it without spaces, dots and dashes. */
type Rule = readonly [kind: PersonalKind, confidence: number, pattern: RegExp, isValid?: (compact: string) => boolean];

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const month =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const date = String.raw`(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+${month}\.?,?\s+\d{4}|${month}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})`;
const street =
  "(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace|Close|Crescent|Quay|Place|Pl|Way|Parkway|Pkwy|Highway|Hwy|Gardens|Grove|Row|Mews|Hill|Walk|Circle|Alley)";
// The length is limited, because otherwise every capital letter of a long run would be read to the end of the run.
const capitalised = String.raw`\p{Lu}[\p{L}'’.-]{0,40}`;
// The second letter is in lower case, to exclude the letters of a postcode.
const town = String.raw`\p{Lu}\p{Ll}[\p{L}'’.-]{0,40}`;
const britishPostcode = String.raw`[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}`;
const americanPlace = String.raw`[A-Z]{2}\s+\d{5}(?:-\d{4})?`;
// Words and signs such as "number", "no.", "is" and ":" between an announcing word and the datum.
const link = String.raw`(?:\s{0,8}(?:numbers?|no|nr|num|code|id|#|is|was|of|:|=|-)\.?){0,6}\s{0,8}`;

/** Of two matches with the same confidence and length, that of the first rule wins. */
const rules: readonly Rule[] = [
  // An address has at most 64 characters before the @.
  ["EMAIL", 0.98, /[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63})+/gu],
  ["AWS_KEY", 0.98, /\b(?:AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b/g],
  ["AWS_KEY", 0.95, /(?<=aws_?secret_?(?:access_?)?key["'\s:=]{1,5})[A-Za-z0-9/+]{40}\b/gi],
  ["AZURE_KEY", 0.98, /(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}/g],
  [
    "SECRET",
    0.95,
    /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|sy)?[-_]?[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+/g,
  ],
  [
    "SECRET",
    0.9,
    /\b(?:password|passwort|passphrase|passwd|pwd|pin|mot de passe|contraseña)(?:\s{1,8}is|\s{0,8}[:=])\s{0,8}["']?(?<datum>[^\s"',;]{4,})/giu,
  ],
  ["URL", 0.98, /\bhttps?:\/\/[^\s<>"')\]]+|\bwww\.[\w-]+(?:\.[\w-]+)+(?:\/[^\s<>"')\]]*)?/gi],
  ["IBAN", 0.99, /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g, checkDigits.isIban],
  ["CREDIT_CARD", 0.98, /(?<![\d.,])\d(?:[ -]?\d){12,18}(?![\d.,]\d)/g, isCardNumber],
  ["VEHICLE_NUMBER", 0.97, /\b[A-HJ-NPR-Z0-9]{17}\b/g, checkDigits.isVehicleNumber],
  ["SOCIAL_SECURITY", 0.9, /(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])/g, checkDigits.isSocialSecurityNumber],
  ["SOCIAL_SECURITY", 0.9, announced("(?:SSN|social security)", String.raw`\d{9}`), checkDigits.isSocialSecurityNumber],
  ["NATIONAL_ID", 0.97, /\b[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}\b/g, checkDigits.isFrenchSocialNumber],
  ["NATIONAL_ID", 0.95, /\b(?:[XYZ]-?\d{7}|\d{8})-?[A-Z]\b/g, checkDigits.isSpanishIdentity],
  ["NATIONAL_ID", 0.93, /\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b/g],
  [
    "NATIONAL_ID",
    0.8,
    announced(
      "(?:national (?:id|insurance)|identity (?:card)?|aadhaar|personal identity)",
      "[A-Z0-9][A-Z0-9 -]{5,16}[A-Z0-9]",
    ),
    hasDigits,
  ],
  ["NHS_NUMBER", 0.9, /\b\d{3}[ -]\d{3}[ -]\d{4}\b/g, checkDigits.isNhsNumber],
  ["ROUTING_NUMBER", 0.97, announced("(?:routing|ABA|RTN)", String.raw`\d{9}`), checkDigits.isRoutingNumber],
  ["SWIFT_CODE", 0.95, announced("(?:SWIFT|BIC)(?:/BIC)?", "[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?")],
  ["BANK_ACCOUNT", 0.85, announced("(?:bank account|account|acct|sort code|konto)", String.raw`\d[\d -]{4,18}\d`)],
  [
    "TAX_NUMBER",
    0.9,
    announced(
      "(?:VAT|TIN|EIN|ITIN|tax(?:payer)?(?: id(?:entification)?)?|Steuer(?:nummer|-ID)?)",
      String.raw`[A-Z]{0,3}\d[\d -]{5,14}\d[A-Z]?`,
    ),
  ],
  ["PASSPORT", 0.93, announced("passport", String.raw`[A-Z]{0,2}\d{6,9}`)],
  [
    "DRIVER_LICENSE",
    0.88,
    announced("(?:driv(?:er|ing)(?:['’]?s)? licen[cs]e|DL)", "[A-Z0-9][A-Z0-9-]{4,17}"),
    hasDigits,
  ],
  [
    "LICENSE_PLATE",
    0.8,
    announced(
      `(?:licen[cs]e plate|number plate|registration|plate)`,
      "[A-Z]{1,3}[ -]?[A-Z0-9]{1,4}(?:[ -]?[A-Z0-9]{1,4})?",
    ),
    hasDigits,
  ],
  [
    "CARD_EXPIRY",
    0.9,
    announced(
      "(?:exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|until)|good thru)",
      String.raw`(?:0[1-9]|1[0-2])\s?/\s?(?:\d{4}|\d{2})`,
    ),
  ],
  ["MAC_ADDRESS", 0.97, /(?<![\da-f:-])(?:[\da-f]{2}([:-]))(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\da-f:-])/gi],
  ["IP_ADDRESS", 0.93, new RegExp(String.raw`(?<![\d.])(?:${octet}\.){3}${octet}(?![\d.]*\d)`, "g")],
  ["IP_ADDRESS", 0.93, /(?<![\w:.])(?:[\da-f]{1,4}:){1,7}(?::?[\da-f]{1,4}(?![\da-f])){1,7}(?![\w:])/gi, isIpv6],
  [
    "BIRTH_DATE",
    0.93,
    announced(
      String.raw`(?:born|date of birth|birth ?date|birthday|DOB|d\.o\.b\.?|née?e? le|geboren|geb\.)(?:\s+(?:on|am|le))?`,
      date,
    ),
  ],
  ["AGE", 0.85, /\b\d{1,3}(?=[ -]years?[ -]old\b)|(?<=\b(?:aged?)[: ]\s?)\d{1,3}\b(?!\s*(?:-|to|%|\d))/gi, isAge],
  [
    "ADDRESS",
    0.9,
    new RegExp(
      String.raw`\b\d{1,5}[A-Za-z]?(?:-\d{1,4})?,?\s+(?:${capitalised}\s+){1,4}${street}\b\.?(?:,?\s+(?:Apt|Apartment|Suite|Unit|Flat|Floor)\.?\s*#?\w+)?(?:,\s*${town}(?:\s${town}){0,2}){0,2}(?:,?\s+(?:${britishPostcode}|${americanPlace}))?`,
      "gu",
    ),
  ],
  [
    "ADDRESS",
    0.88,
    new RegExp(
      String.raw`\b${capitalised}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer)\s+\d{1,4}[a-z]?(?:,?\s+\d{5}\s+${capitalised})?|\b\d{1,4}(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|quai|chemin|allée|impasse)\s+(?:(?:de la|de l['’]|du|des|de|d['’])\s*)?${capitalised}(?:[ -]${capitalised}){0,3}(?:,?\s+\d{5}\s+${capitalised})?|\b(?:Calle|Avenida|Plaza|Paseo|Via|Viale|Piazza|Corso|Rua|Praça)\s+(?:(?:de|la|las|los|del|da|do)\s+)*${capitalised}(?:\s${capitalised}){0,3},?\s+\d{1,4}(?:,?\s+\d{5}\s+${capitalised})?`,
      "gu",
    ),
  ],
  ["ADDRESS", 0.9, /\bP\.?\s?O\.?\s?Box\s+\d{1,6}\b/gi],
  ["POSTCODE", 0.8, new RegExp(String.raw`\b${britishPostcode}\b`, "g")],
  [
    "NAME",
    0.85,
    new RegExp(
      String.raw`\b(?:[Mm]y name is|[Nn]ame\s{0,8}[:=]|[Ss]igned(?:\s{1,8}by)?\s{0,8}:?|[Pp]atient\s{0,8}:|[Cc]ontact\s{0,8}:|[Aa]ttn\.?\s{0,8}:?|[Dd]ear|[Ii]ch heiße|[Mm]ein Name ist|[Jj]e m['’]appelle|[Mm]e llamo|[Mm]i chiamo)\s{1,8}(?<datum>${capitalised}(?:\s${capitalised}){0,3})`,
      "gu",
    ),
    isNotSalutation,
  ],
];

/** The results may overlap. */
export function findPersonalData(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const [kind, confidence, pattern, isValid] of rules) {
    for (const match of text.matchAll(pattern)) {
      const datum = match.groups?.["datum"] ?? match[0];
      const content = trimEndOf(datum, /[.,;:!?]/);
      if (content === "" || (isValid !== undefined && !isValid(content.replace(/[\s.-]/g, "")))) continue;
      found.push({ text: content, start: match.index + match[0].length - datum.length, kind, confidence });
    }
  }
  return found;
}

/** A datum that follows one of the words. Case is ignored in the words, but not in the datum. */
function announced(words: string, datum: string): RegExp {
  return new RegExp(String.raw`\b(?i:${words})${link}(?<datum>${datum})(?![A-Za-z\d])`, "gu");
}

function isCardNumber(digits: string): boolean {
  return /^[2-6]/.test(digits) && checkDigits.passesLuhn(digits);
}

function hasDigits(text: string): boolean {
  return (text.match(/\d/g)?.length ?? 0) >= 2;
}

function isAge(digits: string): boolean {
  return Number(digits) <= 120;
}

function isIpv6(text: string): boolean {
  const groups = text.split(":");
  return groups.length === 8
    ? !text.includes("::")
    : text.includes("::") && groups.length >= 3 && /\d|[a-f]{3}/i.test(text);
}

/** Excludes salutations such as "Dear Sir or Madam". */
function isNotSalutation(text: string): boolean {
  return !/^(?:Sir|Madam|Sirs|All|Team|Customer|Colleagues?|Friends?|Everyone|Hiring|Ladies|Members?|Editor|Support)/.test(
    text,
  );
}
