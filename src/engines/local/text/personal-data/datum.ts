// Personal data in a text, and the kinds that the task distinguishes.

import type { Span } from "../sentences.ts";

export interface PersonalDatum extends Span {
  readonly kind: PersonalKind;
  /** 0 to 1. A check digit gives more confidence than a form, and a form more than an announcing word. */
  readonly confidence: number;
  /** The exact kind, such as "BR_CPF". Absent: `kind`. */
  readonly label?: string;
}

export type PersonalKind = keyof typeof kinds;

/** The category and subcategory of the task, by our own label. */
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
  RESIDENT_NUMBER: ["IdentificationNumbers", "ResidentRegistrationNumber"],
  HEALTH_NUMBER: ["IdentificationNumbers", "NationalHealthService"],
  DRIVER_LICENSE: ["IdentificationNumbers", "DriverLicenseNumber"],
  PASSPORT: ["IdentificationNumbers", "PassportNumber"],
  URL: ["Miscellaneous", "URL"],
  IP_ADDRESS: ["Miscellaneous", "IP"],
  MAC_ADDRESS: ["Miscellaneous", "MAC"],
  VEHICLE_NUMBER: ["Miscellaneous", "VehicleIdentificationNumber"],
  LICENSE_PLATE: ["Miscellaneous", "LicensePlate"],
  VOTER_NUMBER: ["Miscellaneous", "VoterNumber"],
  AWS_KEY: ["Miscellaneous", "AWSKeys"],
  AZURE_KEY: ["Miscellaneous", "AzureKeys"],
  SECRET: ["Miscellaneous", "Password"],
  BIRTH_DATE: ["DateAndTime", "Date"],
  ADDRESS: ["LocationInformation", "Address"],
  POSTCODE: ["LocationInformation", "Address"],
  COORDINATES: ["LocationInformation", "Location"],
  CRYPTO_ADDRESS: ["Other", "Other"],
  DEVICE_NUMBER: ["Other", "Other"],
} as const;
