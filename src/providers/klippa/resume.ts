import type { JsonObject } from "../dialect.ts";
import { asList, asText, at, objectsIn } from "../lenient.ts";

export function toResume(parsed: JsonObject): JsonObject {
  const applicant = (...path: string[]) => at(parsed, "applicant", ...path, "value");
  return {
    personal_infos: {
      name: { raw_name: applicant("name") },
      address: toLocation(at(parsed, "applicant", "address")),
      date_of_birth: applicant("date_of_birth"),
      gender: applicant("gender"),
      nationality: applicant("nationality"),
      phones: textsOf([at(parsed, "applicant", "phone_number")]),
      mails: textsOf([at(parsed, "applicant", "email_address")]),
      urls: textsOf(at(parsed, "applicant", "websites")),
    },
    education: {
      entries: objectsIn(parsed["education"]).map((entry) => ({
        title: at(entry, "program", "value"),
        start_date: at(entry, "start", "value"),
        end_date: at(entry, "end", "value"),
        location: toLocation(entry["address"]),
        establishment: at(entry, "institution", "value"),
        description: at(entry, "description", "value"),
      })),
    },
    work_experience: {
      entries: objectsIn(parsed["work_experience"]).map((entry) => ({
        title: at(entry, "job_title", "value"),
        start_date: at(entry, "start", "value"),
        end_date: at(entry, "end", "value"),
        company: at(entry, "company_name", "value"),
        location: toLocation(entry["address"]),
        description: at(entry, "description", "value"),
      })),
    },
    languages: textsOf(parsed["languages"]).map((name) => ({ name })),
    skills: textsOf(parsed["skills"]).map((name) => ({ name })),
    interests: textsOf(parsed["other_interests"]).map((name) => ({ name })),
  };
}

function toLocation(address: unknown): JsonObject {
  return {
    city: at(address, "city", "value"),
    country: at(address, "country", "value"),
    postal_code: at(address, "post_code", "value"),
    street: at(address, "street", "value"),
  };
}

/** A list of texts, or of objects that have one as their value. */
function textsOf(list: unknown): string[] {
  return asList(list).flatMap((one) => asText(one) ?? asText(at(one, "value")) ?? []);
}
