// Builds the outputs of document tasks: the parts that many vendors fill in the same way.

import type { KnownOutput, OnlyKnown, TaskDraft } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject, asText } from "../lenient.ts";
import type { ResultOf } from "../task.ts";
import { findCountry } from "./countries.ts";
import { toShape } from "./to-shape.ts";

type DocumentTask = "ocr/financial_parser" | "ocr/identity_parser" | "ocr/resume_parser" | "ocr/bank_check_parsing";

type Documents<Name extends DocumentTask> =
  TaskDraft<Name> extends { readonly extracted_data?: infer Data } ? Data : never;

/** The result of a document task. `pages` is the number of documents by default, and at least one is billed. Null: unknown, so no page is billed. */
export function toDocuments<const Name extends DocumentTask, Data extends Documents<Name>>(
  task: Name,
  extracted_data: Data & OnlyKnown<Data, Documents<Name>>,
  pages: number | null = [extracted_data].flat().length,
): ResultOf<Name> {
  const units = { file: 1, request: 1, ...(pages !== null && { page: Math.max(1, pages) }) };
  // The compiler does not resolve `TaskDraft` while `Name` is a type parameter.
  return { output: toShape(task, { extracted_data } as unknown as KnownOutput<Name, JsonObject>), units };
}

/** Members of the output, each read from the vendor's member of the same name unless `names` states another one. */
export function pick<Member extends string, Value>(
  read: (name: string) => Value,
  members: readonly Member[],
  names?: Readonly<Partial<Record<Member, string>>>,
): Record<Member, Value> {
  const entries = members.map((member) => [member, read(names?.[member] ?? member)]);
  return Object.fromEntries(entries) as Record<Member, Value>;
}

const addressMembers = ["street_name", "house_number", "zip_code", "city", "province", "country"] as const;
type AddressMember = (typeof addressMembers)[number];
type AddressParts = Record<AddressMember, unknown>;

export function readAddress(
  read: (name: string) => unknown,
  names: Readonly<Partial<Record<AddressMember, string>>>,
): AddressParts {
  return pick(read, addressMembers, names);
}

/** The full address in one line, for vendors that send only its parts. */
export function joinAddress({ street_name, house_number, zip_code, city, province, country }: AddressParts): string {
  return [[street_name, house_number], [zip_code, city], [province], [country]]
    .map((parts) => parts.flatMap((part) => asText(part) ?? []).join(" "))
    .filter((line) => line !== "")
    .join(", ");
}

/** The only item of a list. A tax rate, for example, holds for the whole document only if no other one is listed. */
export function soleItem(list: readonly JsonObject[]): JsonObject | undefined {
  return list.length === 1 ? list[0] : undefined;
}

export interface Field {
  readonly value: unknown;
  readonly confidence: unknown;
}

export function toField(field: unknown): Field {
  const { value, confidence } = asObject(field);
  return { value, confidence };
}

/** Splits given names, which spaces separate, into one field for each name. */
export function splitNames({ value, confidence }: Field): readonly Field[] {
  const names = (asText(value) ?? "").split(" ").filter((name) => name !== "");
  return names.map((name) => ({ value: name, confidence }));
}

/** From a country code of two or three letters. */
export function toCountryField({ value, confidence }: Field) {
  const country = findCountry(value);
  return country === null ? null : { ...country, confidence };
}
