import type { JsonObject } from "../dialect.ts";
import { asList, asObject, asText, at, objectsIn } from "../lenient.ts";
import { asLanguage } from "../shapes/languages.ts";
import { readPlace, readValue } from "./annotation.ts";

export function toResume(data: JsonObject): JsonObject {
  const name = readPlace(data["name"]);
  const languageCodes = asList(data["languageCodes"]);
  return {
    personal_infos: {
      name: {
        first_name: name["first"],
        last_name: name["last"],
        middle: name["middle"],
        title: name["title"],
        raw_name: name["raw"],
      },
      address: toLocation(data["location"]),
      self_summary: readValue(data["summary"]),
      objective: readValue(data["objective"]),
      date_of_birth: readValue(data["dateOfBirth"]),
      phones: textsOf(data["phoneNumbers"]),
      mails: textsOf(data["emails"]),
      urls: [...new Set([...textsOf(data["websites"]), ...textsOf([data["linkedin"]])])],
      current_profession: readValue(data["profession"]),
    },
    education: { entries: objectsIn(data["education"]).map(toEducation) },
    work_experience: {
      total_years_experience: data["totalYearsExperience"],
      entries: objectsIn(data["workExperience"]).map(toWork),
    },
    languages: textsOf(data["languages"]).map((language, index) => ({
      name: language,
      code: asLanguage(languageCodes[index]),
    })),
    skills: objectsIn(data["skills"]).flatMap((skill) => toSkill(skill)),
    certifications: textsOf(data["certifications"]).map((certification) => ({ name: certification })),
    publications: textsOf(data["publications"]).map((publication) => ({ name: publication })),
  };
}

function toEducation(entry: JsonObject): JsonObject {
  const dates = asObject(entry["dates"]);
  return {
    title: at(entry, "accreditation", "education"),
    start_date: dates["startDate"],
    end_date: dates["completionDate"],
    location: toLocation(entry["location"]),
    establishment: entry["organization"],
    gpa: asText(at(entry, "grade", "value")) ?? at(entry, "grade", "raw"),
    accreditation: asText(at(entry, "accreditation", "inputStr")) ?? at(entry, "accreditation", "education"),
  };
}

function toWork(entry: JsonObject): JsonObject {
  const dates = asObject(entry["dates"]);
  return {
    title: entry["jobTitle"],
    start_date: dates["startDate"],
    end_date: dates["endDate"],
    company: entry["organization"],
    location: toLocation(entry["location"]),
    description: entry["jobDescription"],
    industry: entry["industry"],
  };
}

function toSkill(skill: JsonObject): JsonObject[] {
  const name = asText(skill["name"]) ?? asText(readValue(skill));
  return name === null ? [] : [{ name, type: skill["type"] }];
}

function toLocation(annotation: unknown): JsonObject | null {
  const place = readPlace(annotation);
  if (Object.keys(place).length === 0) return null;
  return {
    formatted_location: place["formatted"],
    postal_code: place["postalCode"],
    region: place["state"],
    country: place["country"],
    country_code: place["countryCode"],
    raw_input_location: place["rawInput"],
    street: place["street"],
    street_number: place["streetNumber"],
    appartment_number: place["apartmentNumber"],
    city: place["city"],
  };
}

function textsOf(list: unknown): string[] {
  return asList(list).flatMap((one) => asText(readValue(one)) ?? []);
}
