// What the output of the task has no member for: the check digits of the zone, and where each value is printed.

import { mapValues } from "../../map-values.ts";
import type { Locator, Place } from "../locator.ts";
import type { IdentityPart } from "./paper.ts";
import { toZoneLines, type Zone } from "./zone.ts";
import type { ZoneField } from "./zone-formats.ts";

/** The fields of the zone that hold a value, in their order of preference. */
const zoneFields: Readonly<Record<string, readonly ZoneField[]>> = {
  last_name: ["names", "lastName"],
  given_names: ["names", "givenNames"],
  birth_date: ["birthDate"],
  expire_date: ["expiryDate"],
  document_id: ["documentNumber"],
  nationality: ["nationality"],
  issuing_state: ["issuingState"],
  gender: ["sex"],
  document_type: ["documentCode"],
};
const printedFields = [
  "last_name",
  "given_names",
  "birth_date",
  "birth_place",
  "issuance_date",
  "expire_date",
  "document_id",
  "nationality",
  "gender",
  "address",
] as const;

/** `values`: the names of the members that have a value. */
export function describeDocument({ zone, visible }: IdentityPart, values: ReadonlySet<string>, locator: Locator) {
  const fields: Record<string, Place> = {};
  for (const [name, candidates] of Object.entries(zoneFields)) {
    const span = candidates.map((field) => zone?.format.spans[field]).find((one) => one !== undefined);
    const place = zone === null || span === undefined ? null : findLine(zone, span.line, locator);
    if (place !== null && values.has(name)) fields[name] = place;
  }
  for (const name of printedFields) {
    const value = visible[name];
    const source = value === null ? undefined : visible.sources.get(value);
    const place = source === undefined || !values.has(name) ? null : locator.findText(source);
    if (place !== null) fields[name] = place;
  }
  return { zone: zone === null ? null : describeZone(zone), fields };
}

function findLine({ asRead }: Zone, line: number, locator: Locator): Place | null {
  return locator.findRow((text) => toZoneLines(text).includes(asRead[line] ?? ""));
}

function describeZone({ format, checks, isRepaired }: Zone) {
  return {
    format: format.name,
    check_digits: mapValues(checks, (isRight) => (isRight ? "right" : "wrong")),
    repaired: isRepaired,
  };
}
