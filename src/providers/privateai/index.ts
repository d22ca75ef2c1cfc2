import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asCount, asNumber, asString, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { countCharacters, postJson } from "../shapes/inputs.ts";
import { type FoundData, toAnonymization } from "../shapes/personal-data.ts";
import { defineTask } from "../task.ts";

const anonymize = defineTask("text/anonymization", {
  docs: "https://docs.private-ai.com/reference/latest/operation/process_text_v3_process_text_post",
  unsupported: ["language"],
  toRequest: ({ input }) =>
    postJson("/v3/process/text", {
      text: [input.text],
      entity_detection: { accuracy: "high", return_entity: true },
    }),
  fromResponse({ json }, { input: { text }, providerParams }) {
    const processed = at(json, 0, "processed_text");
    if (typeof processed !== "string") throw new TypeError("there is no text in the answer");
    // A caller who sets the vendor's options for the processed text receives that text.
    const redacted = providerParams["processed_text"] === undefined ? null : processed;
    const output = toAnonymization(text, objectsIn(at(json, 0, "entities")).map(toFoundData), redacted);
    const billed = asCount(at(json, 0, "characters_processed"));
    return { output, units: { char: billed || countCharacters(text), request: 1 } };
  },
});

function toFoundData({ best_label, labels, location }: JsonObject): FoundData {
  const [start, end] = [asNumber(at(location, "stt_idx")), asNumber(at(location, "end_idx"))];
  const offset = start === null ? null : Math.max(0, Math.round(start));
  const label = asString(best_label);
  return {
    offset,
    length: offset === null || end === null ? null : Math.max(0, Math.round(end) - offset),
    label,
    subcategory: lookUp(subcategories, label) ?? "Other",
    score: at(labels, label),
  };
}

const subcategories: Readonly<Record<string, string>> = {
  NAME: "Name",
  NAME_GIVEN: "Name",
  NAME_FAMILY: "Name",
  NAME_MEDICAL_PROFESSIONAL: "Name",
  AGE: "Age",
  EMAIL_ADDRESS: "Email",
  PHONE_NUMBER: "Phone",
  GENDER: "Gender",
  GENDER_SEXUALITY: "Gender",
  OCCUPATION: "PersonType",
  CREDIT_CARD: "CreditCard",
  CREDIT_CARD_EXPIRATION: "CardExpiry",
  BANK_ACCOUNT: "BankAccountNumber",
  ROUTING_NUMBER: "BankRoutingNumber",
  SSN: "SocialSecurityNumber",
  PASSPORT_NUMBER: "PassportNumber",
  DRIVER_LICENSE: "DriverLicenseNumber",
  VEHICLE_ID: "VehicleIdentificationNumber",
  URL: "URL",
  IP_ADDRESS: "IP",
  PASSWORD: "Password",
  ORGANIZATION: "CompanyName",
  DATE: "Date",
  DATE_INTERVAL: "Duration",
  DOB: "Date",
  TIME: "Time",
  DURATION: "Duration",
  LOCATION: "Location",
  LOCATION_CITY: "Location",
  LOCATION_STATE: "Location",
  LOCATION_COUNTRY: "Location",
  LOCATION_COORDINATE: "Location",
  LOCATION_ADDRESS: "Address",
  LOCATION_ADDRESS_STREET: "Address",
  LOCATION_ZIP: "Address",
};

export const privateai = defineProvider("privateai", "Private AI", {
  docs: "https://docs.private-ai.com",
  baseUrl: "https://api.private-ai.com/cloud",
  auth: { kind: "header", name: "x-api-key" },
  billedParams: ["text"],
  tasks: [anonymize],
});
