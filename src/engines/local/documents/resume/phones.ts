// Telephone numbers of a curriculum vitae. Years, periods, dates and postal codes are none.

const labels =
  "tel|tel\\.|telephone|phone|ph|mobile|mob|cell|call|téléphone|tél|tél\\.|portable|gsm|telefon|telefonnummer|handy|mobil|mobiltelefon|rufnummer|teléfono|tfno|móvil|celular|telefono|cellulare|cell\\.|telefone|telemóvel|telefoon|mobiel|telefoonnummer|komórka|tlf|mobilnummer|puhelin|telefonszám|тел|телефон|t|m|p";
const number = "\\+?\\(?\\d[\\d ().\\u00a0/-]{5,20}\\d";
const labelled = new RegExp(
  `(?<![\\p{L}])(?:${labels})\\s{0,3}(?:\\(?\\p{L}{1,10}\\)?)?\\s{0,2}[:.\\t]?\\s{0,3}(${number})(?![\\d\\p{L}])`,
  "giu",
);
const international = /(?<![\w+])((?:\+|00)[1-9][\d ().\u00a0/-]{6,20}\d)(?![\d\p{L}])/gu;
const unlabelled = new RegExp(`(?<![\\p{L}\\d.,/+-])(${number})(?![\\d\\p{L}@])`, "gu");
const faxLabelled = new RegExp(`(?<![\\p{L}])(?:tele)?fax\\s{0,3}[:.\\t]?\\s{0,3}(${number})`, "giu");

// Each number is compared with those before it.
const maxNumbers = 20;

export function findPhoneNumbers(text: string, nearText: string): string[] {
  const faxes = findFaxNumbers(text);
  const found = [
    ...[...text.matchAll(labelled)].map(([, phone = ""]) => phone),
    ...[...text.matchAll(international)].map(([, phone = ""]) => phone),
    ...[...nearText.matchAll(unlabelled)].map(([, phone = ""]) => phone).filter((phone) => digitsOf(phone).length >= 8),
  ];
  const distinct = new Map<string, string>();
  for (const phone of found.flatMap((one) => one.split(/\s+\/\s+/)).map((one) => one.trim())) {
    if (distinct.size === maxNumbers) break;
    const digits = digitsOf(phone);
    if (!isPhone(phone, digits) || faxes.some((fax) => digitsOf(fax) === digits)) continue;
    const isPart = [...distinct.keys()].some((known) => known.includes(digits) || digits.includes(known));
    if (!isPart) distinct.set(digits, phone);
  }
  return [...distinct.values()];
}

export function findFaxNumbers(text: string): string[] {
  return [...new Set([...text.matchAll(faxLabelled)].map(([, fax = ""]) => fax.trim()))].slice(0, maxNumbers);
}

function isPhone(phone: string, digits: string): boolean {
  if (digits.length < 7 || digits.length > 15) return false;
  const isPeriod = /(?:19|20)\d{2}\s*[./–-]\s*(?:\d{1,2}[./])?(?:19|20)\d{2}/.test(phone);
  const isDate = /^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}$|^\d{4}[./-]\d{1,2}[./-]\d{1,2}$|^\d{1,2}[./]\d{4}\s?[-–]/.test(
    phone,
  );
  return !isPeriod && !isDate;
}

function digitsOf(phone: string): string {
  return phone.replace(/\D/g, "");
}
