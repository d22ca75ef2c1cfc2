// Plausible examples for a schema: candidates are chosen by the name of a member, and those that do not match the schema are skipped.

import type { JsonSchema } from "../../contract/tasks.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { makeExample } from "../../providers/sandbox/schema-example.ts";
import { mayBeNull } from "../llm/answer-schema.ts";

export function makeSensibleExample(schema: JsonSchema): JsonObject {
  return makeExample(withLikelyValues(schema, [])) as JsonObject;
}

function withLikelyValues(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { default: _, items, properties, enum: choices, ...rest } = schema as Record<string, unknown>;
  const examples = findLikely(path);
  // Omit a value that cannot be guessed.
  if (examples.length === 0 && items === undefined && properties === undefined && mayBeNull(schema))
    return { const: null };
  // A candidate for the whole value takes precedence over its parts.
  if (examples.some((one) => typeof one === "object")) return { ...schema, examples };
  return {
    ...rest,
    examples,
    ...(Array.isArray(choices) ? { enum: [...examples.filter((one) => choices.includes(one)), ...choices] } : {}),
    ...(isObject(items) ? { items: withLikelyValues(items, [...path, item]) } : {}),
    ...(isObject(properties) ? { properties: mapMembers(properties, path) } : {}),
  };
}

function mapMembers(properties: JsonObject, path: readonly string[]): Record<string, JsonSchema> {
  const members = Object.entries(properties) as [string, JsonSchema][];
  return Object.fromEntries(members.map(([name, one]) => [name, withLikelyValues(one, [...path, name])]));
}

/** In a path, an entry of a list. */
const item = "[]";

/** The name of the parent is more specific; a member `value` is described by its parent's name. */
function findLikely(path: readonly string[]): readonly unknown[] {
  const name = path.at(-1) ?? "";
  const holder = path.slice(0, -1).findLast((one) => one !== item) ?? "";
  const found = lookUp(likely, `${holder}.${name}`) ?? lookUp(likely, name === "value" ? holder : name);
  return found === undefined ? [] : [found].flat(1);
}

const point = [0.4, 0.4];
const corners = [
  [0.1, 0.2],
  [0.5, 0.2],
  [0.5, 0.3],
  [0.1, 0.3],
];

/** A value, and the members that it is likely for. */
const shared: readonly (readonly [value: unknown, members: readonly string[]])[] = [
  [0.93, ["confidence", "confidence_score", "score"]],
  [0.03, ["details_per_frame.score", "deepfake_score", "average_score"]],
  [0.04, ["ai_score", "ai_score_detail"]],
  [0.1, ["left", "height", "x_min"]],
  [0.2, ["top", "y_min"]],
  [0, ["position", "start", "startTimeOffset", "amount_paid"]],
  [2.5, ["end", "endTimeOffset"]],
  ["Jane Doe", ["name", "raw_name", "author", "payer_name"]],
  ["Sandbox Ltd", ["merchant_information.name", "receiver_name", "company"]],
  ["cup", ["labels.name", "label"]],
  ["Hello from the sandbox.", ["plagiarized_text", "text", "raw_text", "content", "summary", "answer", "snippet"]],
  ["https://example.com/", ["url", "base_url"]],
  ["1 Sample Street, London", ["address", "billing_address"]],
  ["Sample Street", ["street", "street_name"]],
  ["1", ["street_number", "house_number"]],
  ["London", ["city", "birth_place", "place_of_birth"]],
  ["N1 9GU", ["zip_code", "postal_code"]],
  ["GB", ["country_code", "alpha2"]],
  ["GBR", ["alpha3", "issuing_state"]],
  ["INV-2026-001", ["invoice_receipt_id", "fields.value"]],
  ["2026-01-15", ["date", "invoice_date", "published_date"]],
  ["1990-01-01", ["birth_date", "date_of_birth"]],
  ["2024-01-01", ["issuance_date", "end_date"]],
  [120, ["total", "amount", "amount_due"]],
  [100, ["subtotal", "amount_line"]],
  [20, ["total_tax", "tax_rate"]],
  ["GBP", ["currency", "currency_code"]],
  ["WESTGB2L", ["swift", "bic"]],
  [1, ["page", "number_of_pages", "num_pages", "completed"]],
  ["Sandbox", ["title", "description"]],
];

/** Lists of candidates, of which the first that matches the schema is used. A candidate that is a list is nested. */
const likely: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(shared.flatMap(([value, members]) => members.map((member) => [member, value]))),

  // Scores, boxes, times.
  importance: 0.8,
  plagia_score: 0.02,
  prediction: ["original", "not plagiarized"],
  width: 0.4,
  x_max: 0.5,
  y_max: 0.6,
  x: [0.1, 12],
  y: [0.2, 34],
  timestamp: 1.5,
  start_time: "0.0",
  end_time: "2.5",
  embedding: [[0.6, 0.8]],
  latitude: 48.8584,
  longitude: 2.2945,
  vertices: [corners.map(([x, y]) => ({ x, y }))],
  left_eye: [point],
  right_eye: [point],

  // Names and places.
  first_name: "Jane",
  last_name: "Doe",
  given_names: [[{ value: "Jane", confidence: 0.93 }]],
  image_id: [[]],
  image_signature: [[]],
  face_id: "face-1",
  bank_name: "Sandbox Bank",
  establishment: "Sandbox University",
  email: "jane.doe@example.com",
  mails: [["jane.doe@example.com"]],
  phone: "+44 20 7946 0958",
  phones: [["+44 20 7946 0958"]],
  website: "https://example.com",
  urls: [["https://example.com"]],
  favicon: "https://example.com/favicon.ico",
  links: [["https://example.com/about"]],
  formatted_location: "London, United Kingdom",
  country: ["United Kingdom", { name: "United Kingdom", alpha2: "GB", alpha3: "GBR", confidence: 0.93 }],
  nationality: "British",
  gender: "F",
  age: "36",

  // Documents.
  document_type: "passport",
  "document_metadata.document_type": "invoice",
  document_id: "123456789",
  mrz: "P<GBRDOE<<JANE<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\n1234567897GBR9001011F3401012<<<<<<<<<<<<<<06",
  purchase_order: "PO-17",
  time: "09:30",
  invoice_due_date: "2026-02-14",
  expire_date: "2034-01-01",
  start_date: "2020-01-01",
  created_at: "2026-01-15T09:30:00Z",
  amount_text: "one hundred and twenty",
  unit_price: 50,
  quantity: 2,
  iban: "GB82WEST12345698765432",
  sort_code: "12-34-56",
  account_number: "98765432",
  routing_number: "123456",
  check_number: "000123",
  page_indexes: [[0]],
  tables: [[{ num_rows: 1, num_cols: 2, rows: [{ cells: ["Item", "Price"].map(toCell) }] }]],
  total_years_education: 4,
  total_years_experience: "4",
  current_profession: "Engineer",
  industry: "Software",
  languages: [[{ name: "English", code: "en" }]],
  skills: [[{ name: "TypeScript", type: null }]],
  language: "en",
  key: "Invoice number",
  query: "sandbox",

  // Words.
  "name.title": "Ms",
  "entries.title": "Engineering",
  fax: [[]],
  raw_html: "<p>Hello from the sandbox.</p>",
  kind: "face",
  category: ["Safe", ["Kitchen"], "Sandbox"],
  subcategory: "Safe",
  status: "completed",
  status_code: 200,
  finish_reason: "stop",
  failed_results: [[]],
  data: { greeting: "Hello from the sandbox." },
};

function toCell(text: string, column: number) {
  const bounding_box = { left: 0.1 + 0.4 * column, top: 0.2, width: 0.4, height: 0.05 };
  const spans = { row_index: 0, col_index: column, row_span: 1, col_span: 1 };
  return { text, ...spans, confidence: 0.93, bounding_box, is_header: true };
}
