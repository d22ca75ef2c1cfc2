// Whether what was answered fits the published descriptions of the formats. They belong to others and are not a part of this
// project: they stand beside the checkout, or where told.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import { readEvents } from "./events.ts";
import type { Exchange } from "./recorder.ts";

const folder = process.env["SWITCHYARD_OPENAI_SCHEMAS"] ?? join(import.meta.dir, "../../../shared/data/openai-schemas");

export const hasPublishedSchemas = existsSync(folder);

type Members = Readonly<Record<string, unknown>>;

// Tools that the open description leaves to those who have them.
const beyondOpenResponses =
  /web_search|file_search|code_interpreter|image_generation|mcp_|custom_tool|computer|shell|apply_patch/;

/** What is wrong with the answers; empty: nothing. Equal answers are looked at once. */
export function findViolations(exchanges: readonly Exchange[]): string[] {
  const checked = new Set<string>();
  const found = exchanges.flatMap((exchange) =>
    violationsOf(exchange, checked).map((what) => `${exchange.method} ${exchange.path} ${exchange.status}: ${what}`),
  );
  return [...new Set(found)];
}

function violationsOf(exchange: Exchange, checked: Set<string>): string[] {
  const { method, path, status, contentType, answer } = exchange;
  if (contentType.startsWith("text/event-stream")) return streamViolations(exchange, checked);
  if (method === "HEAD" || answer === "") return [];
  const [pathname = ""] = path.split("?");
  // Sound is no JSON, and there is no schema of it.
  if (pathname.endsWith("/audio/speech") && status === 200)
    return contentType.startsWith("audio/") ? [] : [`speech is of type ${contentType}`];
  const value: unknown = JSON.parse(answer);
  const violations = namesFor(method, pathname, status).flatMap((name) => fit(name, value, checked));
  const isError = status >= 400 && pathname.includes("/responses");
  return isError ? [...violations, ...fit("openresponses.error", (value as Members)["error"], checked)] : violations;
}

function namesFor(method: string, pathname: string, status: number): string[] {
  if (pathname.includes("/v1/messages")) return [];
  if (status >= 400) return ["openai.error"];
  if (pathname.endsWith("/chat/completions")) return ["openai.chat.response.calibrated"];
  if (pathname.endsWith("/models")) return ["openai.models.list"];
  if (pathname.endsWith("/embeddings")) return ["openai.embeddings.response"];
  if (pathname.endsWith("/input_items")) return ["openai.responses.input_items"];
  if (pathname.includes("/responses") && method !== "DELETE")
    return ["openai.responses.response.calibrated", "openresponses.response"];
  return [];
}

function streamViolations({ path, answer }: Exchange, checked: Set<string>): string[] {
  const { events, rest } = readEvents(answer);
  const payloads = events.filter(({ data }) => data !== "[DONE]");
  const isDone = events.at(-1)?.data === "[DONE]" && rest === "";
  if (path.includes("/chat/completions"))
    return [
      ...(isDone ? [] : ["has no [DONE]"]),
      ...payloads.flatMap(({ data }) => fit("openai.chat.chunk.calibrated", JSON.parse(data), checked)),
    ];
  if (!path.includes("/responses")) return [];
  const violations: string[] = [];
  const start = Number(new URL(path, "http://x").searchParams.get("starting_after") ?? -1) + 1;
  for (const [index, { name, data }] of payloads.entries()) {
    const event = JSON.parse(data) as Members;
    if (event["type"] !== name) violations.push(`the event ${name} is of type ${event["type"]}`);
    if (event["sequence_number"] !== start + index)
      violations.push(`event ${index} has number ${event["sequence_number"]}`);
    for (const schema of ["openai.responses.event.calibrated", "openresponses.event"])
      violations.push(...fit(schema, event, checked));
  }
  const isBroken = payloads.some(({ name }) => name === "error");
  if (isDone === isBroken) violations.push(isBroken ? "is broken and says [DONE]" : "has no [DONE]");
  return violations;
}

function fit(name: string, value: unknown, checked: Set<string>): string[] {
  const text = JSON.stringify(value);
  if (name.startsWith("openresponses") && beyondOpenResponses.test(text)) return [];
  const key = `${name} ${text}`;
  if (checked.has(key)) return [];
  checked.add(key);
  const document = new SchemaDocument(read(name));
  const specified = withPublishedReason(value);
  const told = name.startsWith("openresponses") ? withoutFormatSchema(JSON.stringify(specified)) : specified;
  return fitsSchema(told as Json, document.root, document) ? [] : [`does not fit ${name}: ${text}`];
}

/**
 * A cancelled response is `incomplete` with the reason `cancelled`, because only four statuses are specified; the published list of
 * reasons has two, and the status `cancelled` instead.
 */
function withPublishedReason(value: unknown): unknown {
  const { incomplete_details: details } = (value ?? {}) as { incomplete_details?: { reason?: unknown } | null };
  if (details?.reason !== "cancelled") return value;
  return { ...(value as object), incomplete_details: { ...details, reason: "max_output_tokens" } };
}

/** The open description allows nothing but null for the schema of a format, where the other one demands an object. */
function withoutFormatSchema(text: string): unknown {
  return JSON.parse(text, (key, value) =>
    key === "format" && value?.type === "json_schema" ? { ...value, schema: null } : value,
  );
}

const read = createReader();

function createReader(): (name: string) => unknown {
  const texts = new Map<string, unknown>();
  return (name) => {
    if (!texts.has(name)) texts.set(name, JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
    return texts.get(name);
  };
}
