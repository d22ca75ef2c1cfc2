import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { findCountry } from "../shapes/countries.ts";

export function toIdentity(parsed: JsonObject): JsonObject {
  const field = (name: string) => toField(parsed[name]);
  const country = findCountry(at(parsed, "issuing_country", "value"));
  const { value: givenNames, confidence } = field("given_names");
  return {
    last_name: field("surname"),
    given_names: (asText(givenNames) ?? "")
      .split(" ")
      .flatMap((value) => (value === "" ? [] : [{ value, confidence }])),
    birth_place: field("place_of_birth"),
    birth_date: toDate(field("date_of_birth")),
    issuance_date: toDate(field("date_of_issue")),
    expire_date: toDate(field("date_of_expiry")),
    document_id: field("document_number"),
    issuing_state: field("issuing_institution"),
    address: toAddress(parsed["address"]),
    age: field("age"),
    country: country === null ? null : { ...country, confidence: at(parsed, "issuing_country", "confidence") },
    document_type: field("document_type"),
    gender: field("gender"),
    mrz: field("mrz"),
    nationality: field("nationality"),
    image_id: [
      asText(at(parsed, "face", "value")),
      ...objectsIn(parsed["identity_document"]).map(({ image }) => asText(image)),
    ].flatMap((value) => (value === null ? [] : [{ value }])),
    image_signature: [asText(at(parsed, "signature", "value"))].flatMap((value) => (value === null ? [] : [{ value }])),
  };
}

function toField(field: unknown): { readonly value: unknown; readonly confidence: unknown } {
  const { value, confidence } = asObject(field);
  return { value, confidence };
}

/** Dates come with a time that no paper has. */
function toDate({ value, confidence }: { readonly value: unknown; readonly confidence: unknown }): JsonObject {
  return { value: asText(value)?.split("T00:00:00", 1)[0], confidence };
}

function toAddress(field: unknown): JsonObject {
  const { value, confidence } = asObject(field);
  if (typeof value === "string") return { value, confidence };
  const part = (...names: string[]) => names.flatMap((name) => asText(at(value, name)) ?? []).join(" ");
  const lines = [part("street_name", "house_number"), part("post_code", "city"), part("province"), part("country")];
  return { value: lines.filter((line) => line !== "").join(", "), confidence };
}
