// Combines the machine-readable zone with the visible zone into the values of one document.

import { lookUp } from "../../../../lib/look-up.ts";
import { round } from "../../numbers.ts";
import { type Country, findCountry } from "../countries.ts";
import { readZoneDate } from "./dates.ts";
import { findTypeByCode, findTypeByTitle } from "./document-types.ts";
import { isCutName, isSameName, readZoneNames } from "./names.ts";
import { findState } from "./states.ts";
import type { VisibleValues } from "./visible-values.ts";
import type { Zone } from "./zone.ts";

/** A page, or the two sides of a card. */
export interface IdentityPart {
  readonly zone: Zone | null;
  readonly visible: VisibleValues;
  /** The country whose name is printed as a title. */
  readonly issuer: Country | null;
  readonly text: string;
}

interface Value {
  readonly value: string | null;
  readonly confidence: number | null;
}

/** A value of the zone; `isRight` is null if no check digit covers it. */
interface ZoneValue {
  readonly value: string | null;
  readonly isRight: boolean | null;
}

const confidences = {
  checked: 0.99,
  /** Both zones agree on a value without a check digit. */
  agreed: 0.98,
  /** The check digit is right after characters were replaced. */
  repaired: 0.9,
  unchecked: 0.9,
  /** The check digit is wrong, but the visible zone agrees. */
  doubtful: 0.6,
  labelled: 0.5,
  /** The two zones differ. */
  contradicted: 0.4,
};
const nothing: Value = { value: null, confidence: null };

export function toPaper(part: IdentityPart, stateNames: Readonly<Record<string, string>>, today: Date) {
  const { zone, visible } = part;
  if (zone === null && !isIdentityDocument(part)) return null;
  const fields = zone?.fields ?? {};
  const isRepaired = zone?.isRepaired === true;
  const isSame = (first: string, second: string) => normalise(first) === normalise(second);
  const combine = (inZone: ZoneValue, printed: string | null, same = isSame) =>
    combineValues(inZone, printed, same, isRepaired);
  const unchecked = (value: string | null | undefined): ZoneValue => ({ value: value || null, isRight: null });
  const checked = (value: string | null | undefined, field: string): ZoneValue => ({
    value: value || null,
    isRight: zone?.checks[field] === true,
  });
  const names = zone === null ? { last: null, given: null } : readZoneNames(zone);
  const toName = (name: string | null, printed: string | null) => {
    const combined = combine(unchecked(name), printed, isSameName);
    // The zone cuts long names.
    return printed !== null && isCutName(name, printed) ? { ...combined, value: printed } : combined;
  };
  const birthDate = combine(checked(readZoneDate(fields.birthDate, "birth", today), "birthDate"), visible.birth_date);
  const expireDate = combine(
    checked(readZoneDate(fields.expiryDate, "expiry", today), "expiryDate"),
    visible.expire_date,
  );
  const givenNames = toName(names.given, visible.given_names);
  const state = (code: string | undefined) => toStateName(code, stateNames);
  const nationalityCode = fields.nationality ?? (zone?.format.name.startsWith("French") ? "FRA" : undefined);
  const printedNationality =
    visible.nationality === null ? null : (findState(visible.nationality)?.name ?? visible.nationality);
  const printedIssuer = part.issuer ?? (visible.issuing_state === null ? null : findState(visible.issuing_state));
  const country = findCountry(fields.issuingState ?? "") ?? printedIssuer;
  const issuingState = combine(unchecked(state(fields.issuingState)), printedIssuer?.name ?? null);
  return {
    last_name: toName(names.last, visible.last_name),
    given_names:
      givenNames.value?.split(/[\s,]+/).map((name) => ({ value: name, confidence: givenNames.confidence })) ?? [],
    birth_place: toLabelled(visible.birth_place),
    birth_date: birthDate,
    issuance_date: toLabelled(isInOrder(birthDate.value, visible.issuance_date) ? visible.issuance_date : null),
    expire_date: isInOrder(birthDate.value, expireDate.value) ? expireDate : nothing,
    document_id: combine(checked(fields.documentNumber?.replaceAll("<", ""), "documentNumber"), visible.document_id),
    issuing_state: issuingState,
    address: toLabelled(visible.address),
    age: { value: toAge(birthDate.value, today), confidence: birthDate.confidence },
    country: country === null ? null : { ...country, confidence: issuingState.confidence },
    document_type: combine(unchecked(findTypeByCode(fields.documentCode ?? "")), findPrintedType(part)),
    gender: combine(unchecked(/^[MFX]$/.test(fields.sex ?? "") ? fields.sex : null), visible.gender),
    image_id: [],
    image_signature: [],
    mrz: zone === null ? nothing : { value: zone.lines.join("\n"), confidence: shareOfRight(zone) },
    nationality: combine(unchecked(state(nationalityCode)), printedNationality),
  };
}

/** A value whose check digit is wrong is only returned if the visible zone has it, too. */
function combineValues(
  { value, isRight }: ZoneValue,
  printed: string | null,
  isSame: (inZone: string, printed: string) => boolean,
  isRepaired: boolean,
): Value {
  if (value === null) return toLabelled(printed);
  const agrees = printed !== null && isSame(value, printed);
  if (isRight === true)
    return { value, confidence: isRepaired && !agrees ? confidences.repaired : confidences.checked };
  if (isRight === false) {
    if (printed === null) return nothing;
    return agrees
      ? { value, confidence: confidences.doubtful }
      : { value: printed, confidence: confidences.contradicted };
  }
  if (agrees) return { value, confidence: confidences.agreed };
  return { value, confidence: printed === null ? confidences.unchecked : confidences.contradicted };
}

function toLabelled(value: string | null): Value {
  return value === null ? nothing : { value, confidence: confidences.labelled };
}

function shareOfRight({ checks }: Zone): number {
  const all = Object.values(checks);
  return round(all.filter((isRight) => isRight).length / all.length);
}

function normalise(text: string): string {
  return text.toUpperCase().replace(/[\s.-]/g, "");
}

function isInOrder(earlier: string | null, later: string | null): boolean {
  return earlier === null || later === null || earlier <= later;
}

/** Without a zone, the title or several labelled values show that a page is an identity document. */
function isIdentityDocument({ visible, text }: IdentityPart): boolean {
  const { last_name, given_names, birth_date, expire_date, document_id, nationality, gender } = visible;
  const found = [last_name, given_names, birth_date, expire_date, document_id, nationality, gender].filter(
    (value) => value !== null,
  ).length;
  const type = findTypeByTitle(text);
  if (document_id === null && birth_date === null) return false;
  // A receipt may name a card of the same brand.
  if (type === "visa") return found >= 4 && birth_date !== null;
  return found >= (type !== null || visible.isNumbered ? 2 : 4);
}

function findPrintedType({ visible, text }: IdentityPart): string | null {
  return findTypeByTitle(text) ?? (visible.isNumbered ? "driving licence" : null);
}

/** Some codes stand for organisations or persons without a nationality. */
function toStateName(code: string | undefined, stateNames: Readonly<Record<string, string>>): string | null {
  if (code === undefined || code === "") return null;
  const name = findCountry(code)?.name ?? lookUp(stateNames, code)?.split(/[,(]/)[0]?.trim();
  return name ?? (code === "UTO" ? "Utopia" : null);
}

function toAge(birthDate: string | null, today: Date): string | null {
  if (birthDate === null) return null;
  const hadBirthday = today.toISOString().slice(5, 10) >= birthDate.slice(5);
  const years = today.getUTCFullYear() - Number(birthDate.slice(0, 4)) - (hadBirthday ? 0 : 1);
  return years >= 0 && years < 130 ? String(years) : null;
}

/** The two sides of a card may be two pages: one has the zone, and the other one the same person in its visible zone. */
export function mergeParts(parts: readonly IdentityPart[], today: Date): IdentityPart[] {
  const merged: IdentityPart[] = [];
  for (const part of parts) {
    const previous = merged.at(-1);
    if (previous !== undefined && isSameDocument(previous, part, today))
      merged[merged.length - 1] = join(previous, part);
    else merged.push(part);
  }
  return merged;
}

function isSameDocument(first: IdentityPart, second: IdentityPart, today: Date): boolean {
  const zone = first.zone ?? second.zone;
  if (zone === null || (first.zone !== null && second.zone !== null)) return false;
  const { visible } = first.zone === null ? first : second;
  const birthDate = readZoneDate(zone.fields.birthDate, "birth", today);
  const matches = [
    visible.birth_date === null ? null : visible.birth_date === birthDate,
    visible.last_name === null ? null : isSameName(readZoneNames(zone).last, visible.last_name),
  ].filter((match) => match !== null);
  return matches.length > 0 && matches.every((match) => match);
}

function join(first: IdentityPart, second: IdentityPart): IdentityPart {
  const known = Object.entries(first.visible).filter(([, value]) => value !== null && value !== false);
  return {
    zone: first.zone ?? second.zone,
    visible: {
      ...second.visible,
      ...Object.fromEntries(known),
      sources: new Map([...second.visible.sources, ...first.visible.sources]),
    },
    issuer: first.issuer ?? second.issuer,
    text: `${first.text}\n${second.text}`,
  };
}
