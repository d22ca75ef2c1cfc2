// What a labelled document is, and how an answer is compared with its labels.

import type { PdfPage } from "../ocr/write-pdf.ts";

export type Split = "tune" | "test";

export type Value = string | number | null;

export interface LabelledDocument {
  readonly name: string;
  /** ISO 639-1. */
  readonly language: string;
  readonly layout: string;
  readonly pages: readonly PdfPage[];
  /**
   * By path into the answer. `a.b|c` accepts the value at `a.b` or `a.c`. Null: the document does not say it, so any value is wrong.
   * `count:a.b` is the length of a list, and `any:a.b` accepts the value at any place of a list. `#1` at the
   * end only tells apart labels of the same path. In a text, `||` separates spellings that are equally right.
   */
  readonly expected: Readonly<Record<string, Value>>;
  /** Fields that must all be right for the document to count as read. */
  readonly core?: readonly string[];
}

export type Verdict = "right" | "missing" | "wrong";

export interface FieldResult {
  readonly path: string;
  readonly expected: Value;
  readonly given: unknown;
  readonly verdict: Verdict;
}

export function judge(document: Pick<LabelledDocument, "expected">, answer: unknown): FieldResult[] {
  return Object.entries(document.expected).map(([path, expected]) => {
    const given = candidatesOf(answer, path);
    const verdict = judgeField(path, expected, given);
    return { path, expected, given: given.length === 1 ? given[0] : given, verdict };
  });
}

function judgeField(path: string, expected: Value, given: readonly unknown[]): Verdict {
  const present = given.filter((value) => value !== null && value !== undefined && value !== "");
  if (expected === null) return present.length === 0 ? "right" : "wrong";
  if (present.some((value) => isSame(path, expected, value))) return "right";
  // A list that is one entry short is not a wrong value: its fields are counted one by one.
  if (path.startsWith("count:")) return Number(present[0] ?? 0) < Number(expected) ? "missing" : "wrong";
  if (path.startsWith("any:")) return "missing";
  return present.length === 0 ? "missing" : "wrong";
}

function candidatesOf(answer: unknown, path: string): unknown[] {
  const [, mode, rest = ""] = /^(?:(count|any):)?(.*?)(?:#\d+)?$/.exec(path) ?? [];
  const cut = rest.lastIndexOf(".") + 1;
  const names = rest.slice(cut).split("|");
  const found = names.map((name) => follow(answer, `${rest.slice(0, cut)}${name}`));
  if (mode === "count") return found.map((value) => (Array.isArray(value) ? value.length : null));
  if (mode === "any") return found.flat();
  return found.map((value) => (Array.isArray(value) ? value.join(" ") : value));
}

/** `*` stands for every entry of a list. */
function follow(value: unknown, path: string): unknown {
  let at: unknown = value;
  for (const [index, name] of path.split(".").entries()) {
    if (name === "*" && Array.isArray(at)) {
      const rest = path
        .split(".")
        .slice(index + 1)
        .join(".");
      return at.map((entry) => (rest === "" ? entry : follow(entry, rest)));
    }
    at = (at as Record<string, unknown> | null | undefined)?.[name];
  }
  return at;
}

/** Numbers to the cent; identifiers without separators; other texts without regard to case and spaces. */
function isSame(path: string, expected: string | number, given: unknown): boolean {
  if (typeof expected === "number") return typeof given === "number" && Math.abs(given - expected) < 0.005;
  if (typeof given !== "string") return false;
  const normalise = isIdentifier(path) ? bare : plain;
  return expected.split("||").some((spelling) => normalise(spelling) === normalise(given));
}

function isIdentifier(path: string): boolean {
  return /(?:_number|_id|iban|bic|swift|phone|phones|fax|purchase_order|sort_code|mrz|tax_id|zip_code|postal_code)\b/.test(
    path,
  );
}

function bare(content: string): string {
  return content.toUpperCase().replace(/[^\p{L}\p{N}<]/gu, "");
}

function plain(content: string): string {
  return content
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/\s+/g, " ")
    .replace(/^[\s,.;:•–-]+|[\s,;:•–-]+$/g, "");
}
