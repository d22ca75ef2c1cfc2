// The rules by which personal data are found: forms, check digits, and the words that announce them.

import {
  isFrenchSocialNumber,
  isIban,
  isNhsNumber,
  isRoutingNumber,
  isSocialSecurityNumber,
  isSpanishIdentity,
  isVehicleNumber,
  passesLuhn,
} from "./check-digits.ts";
import type { Span } from "./sentences.ts";
import { trimEndOf } from "./trim-end.ts";

export interface PersonalDatum extends Span {
  readonly kind: PersonalKind;
  /** 0..1: by a check digit, a form, or an announcing word. */
  readonly confidence: number;
}

export type PersonalKind = keyof typeof kinds;

/** By our own label: category and subcategory of the task. */
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

interface Rule {
  readonly kind: PersonalKind;
  /** The whole match is the datum, or its group of that name: what stands before it only announces it. */
  readonly pattern: RegExp;
  readonly confidence: number;
  /** Of the match without spaces, dots and dashes. */
  readonly isValid?: (compact: string) => boolean;
}

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const month =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
const date = String.raw`(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+${month}\.?,?\s+\d{4}|${month}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})`;
const street =
  "(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace|Close|Crescent|Quay|Place|Pl|Way|Parkway|Pkwy|Highway|Hwy|Gardens|Grove|Row|Mews|Hill|Walk|Circle|Alley)";
// With a longest length: without one, a rule reads every run of letters to its end from each of its capitals.
const capitalised = String.raw`\p{Lu}[\p{L}'’.-]{0,40}`;
// Not the letters that a postcode begins with.
const town = String.raw`\p{Lu}\p{Ll}[\p{L}'’.-]{0,40}`;
const britishPostcode = String.raw`[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}`;
const americanPlace = String.raw`[A-Z]{2}\s+\d{5}(?:-\d{4})?`;
// "number", "no.", "is", ":" and the like between an announcing word and what it announces.
const link = String.raw`(?:\s{0,8}(?:numbers?|no|nr|num|code|id|#|is|was|of|:|=|-)\.?){0,6}\s{0,8}`;

/** In the order of trust: of two equal matches the first wins. */
const rules: readonly Rule[] = [
  // 64 characters before the sign are the most that an address may have.
  { kind: "EMAIL", pattern: /[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63})+/gu, confidence: 0.98 },
  { kind: "AWS_KEY", pattern: /\b(?:AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b/g, confidence: 0.98 },
  {
    kind: "AWS_KEY",
    pattern: /(?<=aws_?secret_?(?:access_?)?key["'\s:=]{1,5})[A-Za-z0-9/+]{40}\b/gi,
    confidence: 0.95,
  },
  { kind: "AZURE_KEY", pattern: /(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}/g, confidence: 0.98 },
  {
    kind: "SECRET",
    pattern:
      /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|sy)?[-_]?[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+/g,
    confidence: 0.95,
  },
  {
    kind: "SECRET",
    pattern:
      /\b(?:password|passwort|passphrase|passwd|pwd|pin|mot de passe|contraseña)(?:\s{1,8}is|\s{0,8}[:=])\s{0,8}["']?(?<datum>[^\s"',;]{4,})/giu,
    confidence: 0.9,
  },
  {
    kind: "URL",
    pattern: /\bhttps?:\/\/[^\s<>"')\]]+|\bwww\.[\w-]+(?:\.[\w-]+)+(?:\/[^\s<>"')\]]*)?/gi,
    confidence: 0.98,
  },
  {
    kind: "IBAN",
    pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g,
    confidence: 0.99,
    isValid: isIban,
  },
  {
    kind: "CREDIT_CARD",
    pattern: /(?<![\d.,])\d(?:[ -]?\d){12,18}(?![\d.,]\d)/g,
    confidence: 0.98,
    isValid: isCardNumber,
  },
  { kind: "VEHICLE_NUMBER", pattern: /\b[A-HJ-NPR-Z0-9]{17}\b/g, confidence: 0.97, isValid: isVehicleNumber },
  {
    kind: "SOCIAL_SECURITY",
    pattern: /(?<![\d-])\d{3}[- ]\d{2}[- ]\d{4}(?![\d-])/g,
    confidence: 0.9,
    isValid: isSocialSecurityNumber,
  },
  {
    kind: "SOCIAL_SECURITY",
    pattern: announced("(?:SSN|social security)", String.raw`\d{9}`),
    confidence: 0.9,
    isValid: isSocialSecurityNumber,
  },
  {
    kind: "NATIONAL_ID",
    pattern: /\b[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}\b/g,
    confidence: 0.97,
    isValid: isFrenchSocialNumber,
  },
  { kind: "NATIONAL_ID", pattern: /\b(?:[XYZ]-?\d{7}|\d{8})-?[A-Z]\b/g, confidence: 0.95, isValid: isSpanishIdentity },
  {
    kind: "NATIONAL_ID",
    pattern: /\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b/g,
    confidence: 0.93,
  },
  {
    kind: "NATIONAL_ID",
    pattern: announced(
      "(?:national (?:id|insurance)|identity (?:card)?|aadhaar|personal identity)",
      "[A-Z0-9][A-Z0-9 -]{5,16}[A-Z0-9]",
    ),
    confidence: 0.8,
    isValid: hasDigits,
  },
  { kind: "NHS_NUMBER", pattern: /\b\d{3}[ -]\d{3}[ -]\d{4}\b/g, confidence: 0.9, isValid: isNhsNumber },
  {
    kind: "ROUTING_NUMBER",
    pattern: announced("(?:routing|ABA|RTN)", String.raw`\d{9}`),
    confidence: 0.97,
    isValid: isRoutingNumber,
  },
  {
    kind: "SWIFT_CODE",
    pattern: announced("(?:SWIFT|BIC)(?:/BIC)?", "[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?"),
    confidence: 0.95,
  },
  {
    kind: "BANK_ACCOUNT",
    pattern: announced("(?:bank account|account|acct|sort code|konto)", String.raw`\d[\d -]{4,18}\d`),
    confidence: 0.85,
  },
  {
    kind: "TAX_NUMBER",
    pattern: announced(
      "(?:VAT|TIN|EIN|ITIN|tax(?:payer)?(?: id(?:entification)?)?|Steuer(?:nummer|-ID)?)",
      String.raw`[A-Z]{0,3}\d[\d -]{5,14}\d[A-Z]?`,
    ),
    confidence: 0.9,
  },
  { kind: "PASSPORT", pattern: announced("passport", String.raw`[A-Z]{0,2}\d{6,9}`), confidence: 0.93 },
  {
    kind: "DRIVER_LICENSE",
    pattern: announced("(?:driv(?:er|ing)(?:['’]?s)? licen[cs]e|DL)", "[A-Z0-9][A-Z0-9-]{4,17}"),
    confidence: 0.88,
    isValid: hasDigits,
  },
  {
    kind: "LICENSE_PLATE",
    pattern: announced(
      `(?:licen[cs]e plate|number plate|registration|plate)`,
      "[A-Z]{1,3}[ -]?[A-Z0-9]{1,4}(?:[ -]?[A-Z0-9]{1,4})?",
    ),
    confidence: 0.8,
    isValid: hasDigits,
  },
  {
    kind: "CARD_EXPIRY",
    pattern: announced(
      "(?:exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|until)|good thru)",
      String.raw`(?:0[1-9]|1[0-2])\s?/\s?(?:\d{4}|\d{2})`,
    ),
    confidence: 0.9,
  },
  {
    kind: "MAC_ADDRESS",
    pattern: /(?<![\da-f:-])(?:[\da-f]{2}([:-]))(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\da-f:-])/gi,
    confidence: 0.97,
  },
  {
    kind: "IP_ADDRESS",
    pattern: new RegExp(String.raw`(?<![\d.])(?:${octet}\.){3}${octet}(?![\d.]*\d)`, "g"),
    confidence: 0.93,
  },
  {
    kind: "IP_ADDRESS",
    pattern: /(?<![\w:.])(?:[\da-f]{1,4}:){1,7}(?::?[\da-f]{1,4}(?![\da-f])){1,7}(?![\w:])/gi,
    confidence: 0.93,
    isValid: isIpv6,
  },
  {
    kind: "BIRTH_DATE",
    pattern: announced(
      String.raw`(?:born|date of birth|birth ?date|birthday|DOB|d\.o\.b\.?|née?e? le|geboren|geb\.)(?:\s+(?:on|am|le))?`,
      date,
    ),
    confidence: 0.93,
  },
  {
    kind: "AGE",
    pattern: /\b\d{1,3}(?=[ -]years?[ -]old\b)|(?<=\b(?:aged?)[: ]\s?)\d{1,3}\b(?!\s*(?:-|to|%|\d))/gi,
    confidence: 0.85,
    isValid: isAge,
  },
  {
    kind: "ADDRESS",
    pattern: new RegExp(
      String.raw`\b\d{1,5}[A-Za-z]?(?:-\d{1,4})?,?\s+(?:${capitalised}\s+){1,4}${street}\b\.?(?:,?\s+(?:Apt|Apartment|Suite|Unit|Flat|Floor)\.?\s*#?\w+)?(?:,\s*${town}(?:\s${town}){0,2}){0,2}(?:,?\s+(?:${britishPostcode}|${americanPlace}))?`,
      "gu",
    ),
    confidence: 0.9,
  },
  {
    kind: "ADDRESS",
    pattern: new RegExp(
      String.raw`\b${capitalised}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer)\s+\d{1,4}[a-z]?(?:,?\s+\d{5}\s+${capitalised})?|\b\d{1,4}(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|quai|chemin|allée|impasse)\s+(?:(?:de la|de l['’]|du|des|de|d['’])\s*)?${capitalised}(?:[ -]${capitalised}){0,3}(?:,?\s+\d{5}\s+${capitalised})?|\b(?:Calle|Avenida|Plaza|Paseo|Via|Viale|Piazza|Corso|Rua|Praça)\s+(?:(?:de|la|las|los|del|da|do)\s+)*${capitalised}(?:\s${capitalised}){0,3},?\s+\d{1,4}(?:,?\s+\d{5}\s+${capitalised})?`,
      "gu",
    ),
    confidence: 0.88,
  },
  { kind: "ADDRESS", pattern: /\bP\.?\s?O\.?\s?Box\s+\d{1,6}\b/gi, confidence: 0.9 },
  { kind: "POSTCODE", pattern: new RegExp(String.raw`\b${britishPostcode}\b`, "g"), confidence: 0.8 },
  {
    kind: "NAME",
    pattern: new RegExp(
      String.raw`\b(?:[Mm]y name is|[Nn]ame\s{0,8}[:=]|[Ss]igned(?:\s{1,8}by)?\s{0,8}:?|[Pp]atient\s{0,8}:|[Cc]ontact\s{0,8}:|[Aa]ttn\.?\s{0,8}:?|[Dd]ear|[Ii]ch heiße|[Mm]ein Name ist|[Jj]e m['’]appelle|[Mm]e llamo|[Mm]i chiamo)\s{1,8}(?<datum>${capitalised}(?:\s${capitalised}){0,3})`,
      "gu",
    ),
    confidence: 0.85,
    isValid: isNoForm,
  },
];

/** Overlaps are kept: the caller has more to add before it chooses. */
export function findPersonalData(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const { kind, pattern, confidence, isValid } of rules) {
    for (const match of text.matchAll(pattern)) {
      const datum = match.groups?.["datum"] ?? match[0];
      const content = trimEndOf(datum, /[.,;:!?]/);
      if (content === "" || (isValid !== undefined && !isValid(content.replace(/[\s.-]/g, "")))) continue;
      found.push({ text: content, start: match.index + match[0].length - datum.length, kind, confidence });
    }
  }
  return found;
}

/** What follows one of the words, which may be in upper or lower case; the datum itself may not. */
function announced(words: string, datum: string): RegExp {
  return new RegExp(String.raw`\b(?i:${words})${link}(?<datum>${datum})(?![A-Za-z\d])`, "gu");
}

function isCardNumber(digits: string): boolean {
  return /^[2-6]/.test(digits) && passesLuhn(digits);
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

/** "Dear Sir or Madam" is nobody's name. */
function isNoForm(text: string): boolean {
  return !/^(?:Sir|Madam|Sirs|All|Team|Customer|Colleagues?|Friends?|Everyone|Hiring|Ladies|Members?|Editor|Support)/.test(
    text,
  );
}
