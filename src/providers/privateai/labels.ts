import { lookUp } from "../../lib/look-up.ts";

type Kind = readonly [category: string, subcategory: string];

const personal = "PersonalInformation";
const financial = "FinancialInformation";
const identification = "IdentificationNumbers";
const place: Kind = ["LocationInformation", "Location"];
const address: Kind = ["LocationInformation", "Address"];

/** The vendor's labels that we have a word for. */
const kinds: Readonly<Record<string, Kind>> = {
  NAME: [personal, "Name"],
  NAME_GIVEN: [personal, "Name"],
  NAME_FAMILY: [personal, "Name"],
  NAME_MEDICAL_PROFESSIONAL: [personal, "Name"],
  AGE: [personal, "Age"],
  EMAIL_ADDRESS: [personal, "Email"],
  PHONE_NUMBER: [personal, "Phone"],
  GENDER: [personal, "Gender"],
  GENDER_SEXUALITY: [personal, "Gender"],
  OCCUPATION: [personal, "PersonType"],
  CREDIT_CARD: [financial, "CreditCard"],
  CREDIT_CARD_EXPIRATION: [financial, "CardExpiry"],
  BANK_ACCOUNT: [financial, "BankAccountNumber"],
  ROUTING_NUMBER: [financial, "BankRoutingNumber"],
  SSN: [identification, "SocialSecurityNumber"],
  PASSPORT_NUMBER: [identification, "PassportNumber"],
  DRIVER_LICENSE: [identification, "DriverLicenseNumber"],
  VEHICLE_ID: [identification, "VehicleIdentificationNumber"],
  URL: ["Miscellaneous", "URL"],
  IP_ADDRESS: ["Miscellaneous", "IP"],
  PASSWORD: ["Miscellaneous", "Password"],
  ORGANIZATION: ["OrganizationInformation", "CompanyName"],
  DATE: ["DateAndTime", "Date"],
  DATE_INTERVAL: ["DateAndTime", "Duration"],
  DOB: ["DateAndTime", "Date"],
  TIME: ["DateAndTime", "Time"],
  DURATION: ["DateAndTime", "Duration"],
  LOCATION: place,
  LOCATION_CITY: place,
  LOCATION_STATE: place,
  LOCATION_COUNTRY: place,
  LOCATION_COORDINATE: place,
  LOCATION_ADDRESS: address,
  LOCATION_ADDRESS_STREET: address,
  LOCATION_ZIP: address,
};

export function kindOf(label: string): Kind {
  return lookUp(kinds, label) ?? ["Other", "Other"];
}
