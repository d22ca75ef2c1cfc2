import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at } from "../lenient.ts";
import { findCountry } from "../shapes/countries.ts";
import { readRaw, readValue } from "./annotation.ts";

export function toIdentity(data: JsonObject): JsonObject {
  const zone = asObject(at(data, "machineReadableZone", "parsed"));
  const country = findCountry(readValue(data["issuingCode"]) ?? zone["country"]);
  const field = (name: string) => ({ value: readValue(data[name]), confidence: at(data, name, "confidence") });
  const lastName = field("surname").value === undefined ? field("familyName") : field("surname");
  return {
    // What is missing on its own may stand in the machine-readable zone.
    last_name: asText(lastName.value) === null ? { value: zone["surname"] } : lastName,
    given_names: asText(readValue(data["givenName"])) === null ? [] : [field("givenName")],
    birth_place: field("birthPlace"),
    birth_date: field("birthDate"),
    issuance_date: field("issueDate"),
    expire_date: field("expiryDate"),
    document_id: field("documentNumber"),
    issuing_state: field("authority"),
    address: field("address"),
    country: country === null ? null : { ...country, confidence: at(data, "issuingCode", "confidence") },
    document_type: field("type"),
    gender: field("sex"),
    mrz: { value: readRaw(data["machineReadableZone"]), confidence: at(data, "machineReadableZone", "confidence") },
    nationality: field("nationality"),
  };
}
