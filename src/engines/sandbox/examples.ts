// Plausible examples for a schema: candidates are chosen by the name of a member, and those that do not match the schema are skipped.

import type { JsonSchema } from "../../contract/tasks.ts";
import { typesOf } from "../../lib/json-schema/schema.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { makeExample } from "../../providers/sandbox/schema-example.ts";

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

function mapMembers(
  properties: Readonly<Record<string, unknown>>,
  path: readonly string[],
): Record<string, JsonSchema> {
  const members = Object.entries(properties) as [string, JsonSchema][];
  return Object.fromEntries(members.map(([name, one]) => [name, withLikelyValues(one, [...path, name])]));
}

function mayBeNull(schema: JsonSchema): boolean {
  return typesOf(schema)?.includes("null") === true;
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

/** Lists of candidates, of which the first that matches the schema is used. A candidate that is a list is nested. */
const likely: Readonly<Record<string, unknown>> = {
  // Scores, boxes, times.
  confidence: 0.93,
  confidence_score: 0.93,
  score: 0.93,
  importance: 0.8,
  "details_per_frame.score": 0.03,
  ai_score: 0.04,
  ai_score_detail: 0.04,
  plagia_score: 0.02,
  deepfake_score: 0.03,
  average_score: 0.03,
  prediction: ["original", "not plagiarized"],
  left: 0.1,
  top: 0.2,
  width: 0.4,
  height: 0.1,
  x_min: 0.1,
  x_max: 0.5,
  y_min: 0.2,
  y_max: 0.6,
  x: [0.1, 12],
  y: [0.2, 34],
  timestamp: 1.5,
  position: 0,
  start: 0,
  end: 2.5,
  start_time: "0.0",
  end_time: "2.5",
  startTimeOffset: 0,
  endTimeOffset: 2.5,
  embedding: [[0.6, 0.8]],
  latitude: 48.8584,
  longitude: 2.2945,
  vertices: [
    [
      { x: 0.1, y: 0.2 },
      { x: 0.5, y: 0.2 },
      { x: 0.5, y: 0.3 },
      { x: 0.1, y: 0.3 },
    ],
  ],
  left_eye: [point],
  right_eye: [point],

  // Names and places.
  name: "Jane Doe",
  raw_name: "Jane Doe",
  first_name: "Jane",
  last_name: "Doe",
  given_names: [[{ value: "Jane", confidence: 0.93 }]],
  image_id: [[]],
  image_signature: [[]],
  author: "Jane Doe",
  "merchant_information.name": "Sandbox Ltd",
  "labels.name": "cup",
  plagiarized_text: "Hello from the sandbox.",
  face_id: "face-1",
  payer_name: "Jane Doe",
  receiver_name: "Sandbox Ltd",
  bank_name: "Sandbox Bank",
  company: "Sandbox Ltd",
  establishment: "Sandbox University",
  email: "jane.doe@example.com",
  mails: [["jane.doe@example.com"]],
  phone: "+44 20 7946 0958",
  phones: [["+44 20 7946 0958"]],
  website: "https://example.com",
  url: "https://example.com/",
  urls: [["https://example.com"]],
  base_url: "https://example.com/",
  favicon: "https://example.com/favicon.ico",
  links: [["https://example.com/about"]],
  address: "1 Sample Street, London",
  billing_address: "1 Sample Street, London",
  formatted_location: "London, United Kingdom",
  street: "Sample Street",
  street_name: "Sample Street",
  street_number: "1",
  house_number: "1",
  city: "London",
  zip_code: "N1 9GU",
  postal_code: "N1 9GU",
  country: ["United Kingdom", { name: "United Kingdom", alpha2: "GB", alpha3: "GBR", confidence: 0.93 }],
  country_code: "GB",
  alpha2: "GB",
  alpha3: "GBR",
  nationality: "British",
  birth_place: "London",
  place_of_birth: "London",
  issuing_state: "GBR",
  gender: "F",
  age: "36",

  // Documents.
  document_type: "passport",
  "document_metadata.document_type": "invoice",
  document_id: "123456789",
  mrz: "P<GBRDOE<<JANE<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\n1234567897GBR9001011F3401012<<<<<<<<<<<<<<06",
  invoice_receipt_id: "INV-2026-001",
  purchase_order: "PO-17",
  date: "2026-01-15",
  time: "09:30",
  invoice_date: "2026-01-15",
  invoice_due_date: "2026-02-14",
  birth_date: "1990-01-01",
  date_of_birth: "1990-01-01",
  issuance_date: "2024-01-01",
  expire_date: "2034-01-01",
  start_date: "2020-01-01",
  end_date: "2024-01-01",
  published_date: "2026-01-15",
  created_at: "2026-01-15T09:30:00Z",
  total: 120,
  amount: 120,
  amount_due: 120,
  amount_paid: 0,
  amount_text: "one hundred and twenty",
  subtotal: 100,
  total_tax: 20,
  tax_rate: 20,
  amount_line: 100,
  unit_price: 50,
  quantity: 2,
  currency: "GBP",
  currency_code: "GBP",
  iban: "GB82WEST12345698765432",
  swift: "WESTGB2L",
  bic: "WESTGB2L",
  sort_code: "12-34-56",
  account_number: "98765432",
  routing_number: "123456",
  check_number: "000123",
  page: 1,
  page_indexes: [[0]],
  number_of_pages: 1,
  num_pages: 1,
  tables: [
    [
      {
        num_rows: 1,
        num_cols: 2,
        rows: [
          {
            cells: ["Item", "Price"].map((text, at) => ({
              text,
              row_index: 0,
              col_index: at,
              row_span: 1,
              col_span: 1,
              confidence: 0.93,
              bounding_box: { left: 0.1 + 0.4 * at, top: 0.2, width: 0.4, height: 0.05 },
              is_header: true,
            })),
          },
        ],
      },
    ],
  ],
  total_years_education: 4,
  total_years_experience: "4",
  current_profession: "Engineer",
  industry: "Software",
  languages: [[{ name: "English", code: "en" }]],
  skills: [[{ name: "TypeScript", type: null }]],
  language: "en",
  key: "Invoice number",
  "fields.value": "INV-2026-001",
  query: "sandbox",

  // Words.
  title: "Sandbox",
  "name.title": "Ms",
  "entries.title": "Engineering",
  fax: [[]],
  description: "Sandbox",
  text: "Hello from the sandbox.",
  raw_text: "Hello from the sandbox.",
  content: "Hello from the sandbox.",
  summary: "Hello from the sandbox.",
  answer: "Hello from the sandbox.",
  snippet: "Hello from the sandbox.",
  raw_html: "<p>Hello from the sandbox.</p>",
  label: "cup",
  kind: "face",
  category: ["Safe", ["Kitchen"], "Sandbox"],
  subcategory: "Safe",
  status: "completed",
  status_code: 200,
  completed: 1,
  finish_reason: "stop",
  failed_results: [[]],
  data: { greeting: "Hello from the sandbox." },
};
