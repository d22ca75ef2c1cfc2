// What `text/anonymization` calls the kinds of personal data, and how it hides them.

import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { asScore } from "../lenient.ts";

const groups: Readonly<Record<string, readonly string[]>> = {
  PersonalInformation: ["Name", "Age", "Email", "Phone", "PersonType", "Gender"],
  FinancialInformation: [
    "CreditCard",
    "CardExpiry",
    "BankAccountNumber",
    "BankRoutingNumber",
    "SwiftCode",
    "TaxIdentificationNumber",
  ],
  IdentificationNumbers: [
    "SocialSecurityNumber",
    "NationalIdentificationNumber",
    "NationalHealthService",
    "ResidentRegistrationNumber",
    "DriverLicenseNumber",
    "PassportNumber",
  ],
  Miscellaneous: [
    "URL",
    "IP",
    "MAC",
    "VehicleIdentificationNumber",
    "LicensePlate",
    "VoterNumber",
    "AWSKeys",
    "AzureKeys",
    "Password",
  ],
  OrganizationInformation: ["CompanyName", "CompanyNumber", "BuisnessNumber"],
  DateAndTime: ["Date", "Time", "DateTime", "Duration"],
  LocationInformation: ["Address", "Location"],
};

export interface FoundData {
  /** In code points, as are all offsets of the task. */
  readonly offset: number;
  readonly length: number;
  /** The vendor's word. */
  readonly label: string;
  readonly subcategory: string;
  readonly score: unknown;
}

/** `redacted`: as the vendor hid it; null: every character of what was found becomes an asterisk. */
export function toAnonymization(text: string, found: readonly FoundData[], redacted: string | null): JsonObject {
  const characters = [...text];
  const entities = found
    .map(({ offset, length, label, subcategory, score }) => ({
      offset,
      length,
      category: categoryOf(subcategory),
      subcategory,
      original_label: label,
      content: characters.slice(offset, offset + length).join(""),
      confidence_score: asScore(score),
    }))
    // The schema has no place for an entity without a text.
    .filter(({ content, original_label }) => content !== "" && original_label !== "");
  if (redacted !== null) return { result: redacted, entities };
  for (const { offset, length } of entities)
    for (let index = offset; index < Math.min(offset + length, characters.length); index++) characters[index] = "*";
  return { result: characters.join(""), entities };
}

function categoryOf(subcategory: string): string {
  return Object.keys(groups).find((category) => lookUp(groups, category)?.includes(subcategory)) ?? "Other";
}
