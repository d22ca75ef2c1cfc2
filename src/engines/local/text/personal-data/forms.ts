// Personal data that have a form of their own: addresses of the internet, payment cards, bank accounts, keys, coordinates.

import { trimEndOf } from "../characters.ts";
import { ibanLengthOf, isIban, isVehicleNumber, passesLuhn } from "../check-digits.ts";
import type { PersonalDatum, PersonalKind } from "./datum.ts";
import { otherNumber } from "./identifier.ts";

/** `isValid` gets the match. Every pattern has a bounded length or consists of one run of characters, so that the time is linear. */
type Form = readonly [kind: PersonalKind, confidence: number, pattern: RegExp, isValid?: (text: string) => boolean];

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const degree = String.raw`[°º]\s?\d{1,2}(?:\.\d+)?\s?(?:['’′]\s?(?:\d{1,2}(?:\.\d{1,6})?\s?(?:["”″]|''))?)?`;

const forms: readonly Form[] = [
  ["AWS_KEY", 0.98, /\b(?:AKIA|ASIA|AIDA|AROA)[0-9A-Z]{16}\b/g],
  ["AWS_KEY", 0.95, /(?<=aws_?secret_?(?:access_?)?key["'\s:=]{1,5})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi],
  ["AZURE_KEY", 0.98, /(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}/g],
  [
    "SECRET",
    0.95,
    /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|sy)?[-_]?[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAIza[\w-]{35}|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+/g,
  ],
  ["VEHICLE_NUMBER", 0.96, /(?<![\p{L}\p{N}])[A-HJ-NPR-Z0-9]{17}(?![\p{L}\p{N}])/gu, isVehicleNumber],
  // Indian plates begin with the state: MH 12 AB 4821.
  [
    "LICENSE_PLATE",
    0.9,
    /(?<![\p{L}\p{N}-])(?:AN|AP|AR|AS|BR|CG|CH|DD|DL|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB)[ -]\d{1,2}[A-Z]?[ -][A-Z]{1,3}[ -]\d{4}(?![\p{L}\p{N}])/gu,
  ],
  ["MAC_ADDRESS", 0.97, /(?<![\da-f:-])(?:[\da-f]{2}([:-]))(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\da-f:-])/gi],
  ["MAC_ADDRESS", 0.97, /(?<![\da-f.])[\da-f]{4}\.[\da-f]{4}\.[\da-f]{4}(?![\da-f.])/gi, (text) => /[a-f]/i.test(text)],
  [
    "IP_ADDRESS",
    0.93,
    new RegExp(
      String.raw`(?<![\d.]|(?<!\p{L})(?:v|ver|version|release|build|chapter|section|kapitel|chapitre|abschnitt|firmware|§|§§)[.:]?\s?)(?:${octet}\.){3}${octet}(?![\d.]*\d)`,
      "giu",
    ),
    isNotOwn,
  ],
  [
    "IP_ADDRESS",
    0.93,
    new RegExp(
      String.raw`(?<![\w:.])(?:(?:[\da-f]{1,4}:){1,7}(?::?[\da-f]{1,4}(?![\da-f])){1,7}|::(?:[\da-f]{1,4}:){0,6}(?:[\da-f]{1,4}|(?:${octet}\.){3}${octet}))(?![\w:])`,
      "gi",
    ),
    isIpv6,
  ],
  [
    "COORDINATES",
    0.94,
    /(?<![\d.,])[-+−]?\d{1,2}\.\d{4,15}\s?°?\s?[NSns]?\s{0,2}[,;/|]?\s{0,2}[-+−]?\d{1,3}\.\d{4,15}(?:\s?°?\s?[EWew]\b)?(?![\d.]*\d)/g,
    isInRange,
  ],
  [
    "COORDINATES",
    0.94,
    /(?<=(?<!\p{L})lat(?:itude)?["']?\s?[:=]?\s?)[-+−]?\d{1,2}\.\d{2,15}°?["']?[\s,;]{1,3}["']?lon?g?(?:itude)?["']?\s?[:=]?\s?[-+−]?\d{1,3}\.\d{2,15}(?!\d)/giu,
    isInRange,
  ],
  [
    "COORDINATES",
    0.95,
    new RegExp(
      String.raw`(?<!\d)\d{1,2}${degree}\s?[NSns]\s{0,2}[,;/]?\s{0,2}\d{1,3}${degree}\s?[EWOewo](?!\p{L})`,
      "gu",
    ),
  ],
  [
    "COORDINATES",
    0.95,
    new RegExp(
      String.raw`(?<!\p{L})[NS]\s?(?:\d{1,2}${degree}[,;/]?\s{0,2}[EWO]\s?\d{1,3}${degree}|\d{1,2}\.\d{3,10}°?[,;/]?\s{0,2}[EWO]\s?\d{1,3}\.\d{3,10}°?)`,
      "gu",
    ),
  ],
];

/** The results may overlap. */
export function findForms(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const [kind, confidence, pattern, isValid] of forms)
    for (const match of text.matchAll(pattern)) {
      if (isValid?.(match[0]) === false) continue;
      found.push({ text: match[0].trimEnd(), start: match.index, kind, confidence });
    }
  return [...found, ...findEmails(text), ...findUrls(text), ...findIbans(text), ...findCards(text)];
}

// RFC 5321 limits the part before the @ to 64 characters and a label of the domain to 63.
const email =
  /(?:"[^"\n\\@]{1,62}"|[\p{L}\p{M}\p{N}.!#$%&'’*+/=?^_`{|}~-]{1,64})@(?:\[[\da-f.:]{3,45}\]|[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}){1,8})/gu;
const hiddenEmail =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}\s?[[({]\s?(?:at|@|ät|arroba|chez)\s?[\])}]\s?[\p{L}\p{N}-]{1,63}(?:(?:\.|\s?[[({]\s?(?:dot|punkt|punto|point)\s?[\])}]\s?)[\p{L}\p{N}-]{2,63}){1,4}/giu;
/** Names of fields, which are not part of an address: "user=ann@example.org". */
const field =
  /^(?:.*[?&;/])?(?:user(?:name)?|e-?mail|mail|to|from|cc|bcc|login|account|uid|id|sender|recipient|addr(?:ess)?|reply-?to|contact|name|for|owner|author|customer|principal|sub|upn|rcpt|mailto)=/i;

function findEmails(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  for (const match of text.matchAll(email)) {
    const whole = match[0];
    // A quotation mark or another sign before the address is rarely part of it, although it would be legal.
    const extra = (field.exec(whole)?.[0] ?? /^[.'’*`/|{}~?&=-]+/.exec(whole)?.[0] ?? "").length;
    const address = trimEndOf(whole.slice(extra), /[-.]/);
    const [local = "", domain = ""] = splitAtLast(address, "@");
    const hasTopLevel = domain.startsWith("[") || /\.(?:\p{L}[\p{L}\p{M}]+|xn--[\w-]+)$/u.test(domain);
    if (local === "" || !hasTopLevel) continue;
    found.push({ text: address, start: match.index + extra, kind: "EMAIL", confidence: 0.98 });
  }
  for (const match of text.matchAll(hiddenEmail))
    found.push({ text: match[0], start: match.index, kind: "EMAIL", confidence: 0.9 });
  return found;
}

function splitAtLast(text: string, separator: string): [string, string] {
  const at = text.lastIndexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

const url =
  /(?<![\p{L}\p{N}@])(?:(?:https?|ftps?|sftp|ssh|wss?|git|postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqps?|smb):\/\/|www\.)[^\s<>"'`)\]]{3,2000}|(?<![\p{L}\p{N}@./])(?:[a-z]{2,3}\.)?(?:linkedin\.com\/(?:in|pub)|facebook\.com|instagram\.com|twitter\.com|x\.com|tiktok\.com|github\.com|gitlab\.com|t\.me|wa\.me|vk\.com|xing\.com\/profile|medium\.com|youtube\.com)\/[^\s<>"'`)\]}]{2,200}/giu;
/** Parts of an address that name a person or give access: a profile, a user's number, a password. */
const personalUrl = [
  /^[a-z+]+:\/\/[^/\s@]*@/i,
  /\/(?:u|users?|profiles?|people|person|members?|accounts?|authors?|customers?|clients?|patients?|employees?|staff|candidates?|in|pub|nutzer|benutzer|profil|utilisateurs?|membre|usuarios?|perfil|utenti?|profilo)\/[^/?#\s{<:$%][^/?#\s]*/i,
  /\/[@~][\p{L}\p{N}]/u,
  /[?&#;](?:user(?:name|_?id)?|uid|u|id|e-?mail|mail|login|name|first_?name|last_?name|phone|tel|token|access_token|api_?key|key|session(?:id)?|sid|auth|password|pwd|customer(?:_?id)?|account(?:_?id)?|member|patient|profile)=[^&#\s]/i,
  /^(?:https?:\/\/)?(?:[\w-]{1,20}\.)?(?:facebook|instagram|twitter|x|tiktok|github|gitlab|vk|medium|twitch|pinterest|snapchat|flickr|behance|dribbble|soundcloud|patreon|keybase)\.(?:com|org|tv|io|me)\/(?!(?:[^/?#\s]+\/){3})[\p{L}\p{N}_.@-]{2,}/iu,
  /^(?:https?:\/\/)?(?:t|wa|paypal|about)\.me\/\+?[\w.-]{2,}/i,
];

function findUrls(text: string): PersonalDatum[] {
  return Array.from(text.matchAll(url)).flatMap((match): PersonalDatum[] => {
    const address = trimEndOf(match[0], /[.,;:!?*]/);
    // Braces mark a placeholder in a description of an interface.
    if (/[{<]/.test(address) || !personalUrl.some((pattern) => pattern.test(address))) return [];
    return [{ text: address, start: match.index, kind: "URL", confidence: 0.985 }];
  });
}

const separators = /[ .\u00a0\u2009\u202f\u2010-\u2015-]/u;

/** Of each IBAN that starts there, exactly as many characters are read as its country prescribes, with separators between them. */
function findIbans(text: string): PersonalDatum[] {
  return Array.from(text.matchAll(/(?<![\p{L}\p{N}])[A-Za-z]{2}(?:[ -]?\d){2}/gu)).flatMap((match): PersonalDatum[] => {
    const length = ibanLengthOf(match[0].slice(0, 2).toUpperCase());
    const end = length === null ? null : endOfCharacters(text, match.index, length, /[A-Za-z\d]/);
    if (end === null || /[\p{L}\p{N}]/u.test(text.charAt(end))) return [];
    const iban = text.slice(match.index, end);
    // One of a hundred phrases such as "at 77 Long Street" has the right check digits.
    if (iban.replace(/\D/g, "").length < iban.length / 3 || (/[a-z]/.test(iban) && /[A-Z]/.test(iban))) return [];
    if (!isIban(iban.replace(new RegExp(separators, "gu"), "").toUpperCase())) return [];
    return [{ text: iban, start: match.index, kind: "IBAN", confidence: 0.99 }];
  });
}

/** The end of so many characters, between which one separator is allowed; null if the text ends or continues otherwise. */
function endOfCharacters(text: string, start: number, count: number, character: RegExp): number | null {
  let [at, read] = [start, 0];
  while (read < count) {
    if (character.test(text.charAt(at))) read++;
    else if (read === 0 || !separators.test(text.charAt(at)) || !character.test(text.charAt(at + 1))) return null;
    at++;
  }
  return at;
}

/** The first digits of the issuers' cards, and the numbers of digits. */
const issuers: readonly (readonly [start: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [19, 16, 13]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^3(?:0[0-5]|095|[689])/, [16, 14]],
  [/^35(?:2[89]|[3-8])/, [19, 16]],
  [/^(?:6011|64[4-9]|65|62|60|81|82|508|220[0-4])/, [19, 18, 17, 16]],
  [/^(?:50|5[6-9]|6)/, [19, 18, 16, 13, 12]],
];

const cardWord =
  /(?<!\p{L})(?:\p{L}*card|visa|maestro|\p{L}*karten?|carte|tarjeta|carta|cart[ãa]o|kaart|kort|kortti|kart[ay]?|karty|карт\p{L}*)(?!\p{L})/iu;

function findCards(text: string): PersonalDatum[] {
  const found: PersonalDatum[] = [];
  let readTo = 0;
  for (const match of text.matchAll(/(?<![\p{L}\p{N}])(?<!\d[.,])[2-68]\d{3}/gu)) {
    if (match.index < readTo) continue;
    const start = match.index;
    const lengths = issuers.find(([pattern]) => pattern.test(match[0]))?.[1] ?? [];
    for (const length of lengths) {
      const end = endOfCharacters(text, start, length, /\d/);
      if (end === null || /[\p{L}\p{N}]/u.test(text.charAt(end)) || /^[.,-]\d/.test(text.slice(end, end + 2))) continue;
      const card = text.slice(start, end);
      if (!isGrouped(card) || !passesLuhn(card.replace(/\D/g, ""))) continue;
      if (otherNumber.test(text.slice(Math.max(0, start - 40), start))) continue;
      // Cards of 12 and 13 digits are rare, and codes of products have as many: a word must announce them.
      if (length < 14 && !cardWord.test(text.slice(Math.max(0, start - 40), start))) continue;
      found.push({ text: card, start, kind: "CREDIT_CARD", confidence: length < 14 ? 0.9 : 0.98 });
      readTo = end;
      break;
    }
  }
  return found;
}

/** Numbers of cards are written in one piece or in groups of at least two digits. */
function isGrouped(card: string): boolean {
  return card.split(separators).every((group) => group.length > 1);
}

/** Loopback, unspecified and broadcast addresses do not identify a person. */
function isNotOwn(text: string): boolean {
  return !/^127\.|^0\.0\.0\.0$|^255\.255\.255\.255$/.test(text);
}

function isIpv6(text: string): boolean {
  const groups = text.split(":");
  if (text === "::1") return false;
  return groups.length === 8
    ? !text.includes("::")
    : text.includes("::") && groups.length >= 3 && /\d|[a-f]{3}/i.test(text);
}

function isInRange(text: string): boolean {
  const [latitude = 91, longitude = 181] = Array.from(text.matchAll(/\d+\.\d+/g), ([number]) => Number(number));
  return latitude <= 90 && longitude <= 180 && /[\s,;/|°NSns]/.test(text);
}
