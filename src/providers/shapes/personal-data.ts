// The output of `text/anonymization`: its categories of personal data, and the text without them.

import type { TaskDraft } from "../../contract/tasks.ts";
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
  /** In code points, as are all offsets of the task. Null: the vendor sent no position. */
  readonly offset: number | null;
  readonly length: number | null;
  /** The vendor's category. */
  readonly label: string;
  readonly subcategory: string;
  readonly score: unknown;
}

/** How many entities may cover a character, on average. It also limits the work of hiding them. */
const maxOverlap = 20;

/** `redacted`: the vendor's anonymized text; null: every character of the personal data becomes an asterisk. */
export function toAnonymization(
  text: string,
  found: readonly FoundData[],
  redacted: string | null,
): TaskDraft<"text/anonymization"> {
  const characters = [...text];
  refuseOverlaps(found, characters.length);
  const entities = found.flatMap(({ offset, length, label, subcategory, score }) => {
    if (offset === null || length === null) {
      // Without a position the gateway cannot hide the entity: the text would look anonymous and would not be.
      if (redacted === null) throw new TypeError("there is personal data without a position in the answer");
      return [];
    }
    const content = characters.slice(offset, offset + length).join("");
    // The schema requires a text and a label.
    if (content === "" || label === "") return [];
    const category = categoryOf(subcategory);
    return [
      { offset, length, category, subcategory, original_label: label, content, confidence_score: asScore(score) },
    ];
  });
  if (redacted !== null) return { result: redacted, entities };
  // Also what cannot be listed, because the vendor sent no label.
  for (const { offset, length } of found)
    if (offset !== null && length !== null) characters.fill("*", offset, offset + length);
  return { result: characters.join(""), entities };
}

/** Every entity repeats its text: without a limit, entities that overlap would cause an output and work of any size. */
function refuseOverlaps(found: readonly FoundData[], textLength: number): void {
  let coveredCharacters = 0;
  for (const { offset, length } of found) {
    if (offset === null || length === null) continue;
    coveredCharacters += Math.max(0, Math.min(length, textLength - offset));
    if (coveredCharacters > maxOverlap * textLength)
      throw new TypeError("there is personal data that overlaps too often in the answer");
  }
}

function categoryOf(subcategory: string): string {
  return Object.entries(groups).find(([, members]) => members.includes(subcategory))?.[0] ?? "Other";
}
