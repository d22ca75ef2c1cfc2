// How many fields of labelled documents the parsers find, leave out, and get wrong.

import { loadPdfReader, type PdfReader } from "../../../src/engines/local/documents/pdf.ts";
import type { LocalEngines } from "../../../src/engines/local/index.ts";
import { runLocal } from "../../engines/local-call.ts";
import { MissingFontError } from "../ocr/fonts.ts";
import { type FieldResult, judge, type LabelledDocument, type Split } from "./labelled-document.ts";
import { type Look, type MadeFile, toFile } from "./looks.ts";
import { documentSets, type ParserName } from "./sets.ts";

export interface ParserOptions {
  readonly split: Split;
  readonly looks: readonly Look[];
  /** Only documents whose name contains it. */
  readonly name?: string;
  /** Every field that is not right. */
  readonly onMiss?: (document: string, look: Look, field: FieldResult) => void;
  readonly onFile?: (file: MadeFile, document: LabelledDocument) => Promise<void>;
  readonly log?: (line: string) => void;
}

export interface ParserResult {
  readonly look: Look;
  readonly document: LabelledDocument;
  readonly fields: readonly FieldResult[];
}

/** A photograph shows one page, and a third of the documents is enough to see how it compares with a scan. */
function hasPhoto({ pages }: LabelledDocument, index: number): boolean {
  return pages.length === 1 && index % 3 === 0;
}

export async function measureParser(
  local: LocalEngines,
  parser: ParserName,
  options: ParserOptions,
): Promise<ParserResult[]> {
  const { task, answerOf, input, splits } = documentSets[parser];
  const { split, looks, name = "", onMiss = () => {}, onFile, log = () => {} } = options;
  const pdfs = await loadPdfReader();
  const results: ParserResult[] = [];
  for (const [index, document] of splits[split]().entries()) {
    if (!document.name.includes(name)) continue;
    for (const look of looks) {
      if (look === "photo" && !hasPhoto(document, index)) continue;
      const file = await makeFile(pdfs, document, look, log);
      if (file === null) break;
      await onFile?.(file, document);
      const { bytes } = file;
      const files = { file: { ...file, size: bytes.length, read: async () => bytes } };
      let answer: unknown = null;
      try {
        const { output } = await runLocal(local, task, { file: "https://files.example/x", ...input }, { files });
        answer = answerOf(output);
      } catch (error) {
        log(`${document.name}, ${look}: ${error instanceof Error ? error.message : error}`);
      }
      const fields = judge(document, answer);
      results.push({ look, document, fields });
      for (const field of fields) if (field.verdict !== "right") onMiss(document.name, look, field);
    }
  }
  return results;
}

async function makeFile(
  pdfs: PdfReader,
  document: LabelledDocument,
  look: Look,
  log: (line: string) => void,
): Promise<MadeFile | null> {
  try {
    return await toFile(pdfs, document, look);
  } catch (error) {
    if (!(error instanceof MissingFontError)) throw error;
    log(`${document.name} is skipped: ${error.message}`);
    return null;
  }
}

export interface Counts {
  documents: number;
  fields: number;
  right: number;
  missing: number;
  wrong: number;
  wrongTotals: number;
  wrongCurrencies: number;
  wrongSigns: number;
}

export function countFields(results: readonly ParserResult[]): Counts {
  const counts: Counts = {
    documents: results.length,
    fields: 0,
    right: 0,
    missing: 0,
    wrong: 0,
    wrongTotals: 0,
    wrongCurrencies: 0,
    wrongSigns: 0,
  };
  for (const field of results.flatMap(({ fields }) => fields)) {
    counts.fields++;
    counts[field.verdict]++;
    if (field.verdict !== "wrong") continue;
    if (/\.(?:total|amount_due)$/.test(field.path)) counts.wrongTotals++;
    if (field.path.endsWith("currency_code")) counts.wrongCurrencies++;
    if (hasWrongSign(field)) counts.wrongSigns++;
  }
  return counts;
}

function hasWrongSign({ expected, given }: FieldResult): boolean {
  if (typeof expected !== "number" || typeof given !== "number" || expected === 0) return false;
  return Math.abs(given + expected) < 0.005;
}

/** One row for each look. */
export function tableOfLooks(results: readonly ParserResult[], hasMoney: boolean): string {
  const looks = [...new Set(results.map(({ look }) => look))];
  const money = hasMoney ? " wrong totals | wrong currencies | wrong signs |" : "";
  const head = `| file | documents | fields | right | null | wrong |${money}\n|---|---|---|---|---|---|${hasMoney ? "---|---|---|" : ""}`;
  const rows = looks.map((look) => {
    const counts = countFields(results.filter((one) => one.look === look));
    const { documents, fields, right, missing, wrong } = counts;
    const rest = hasMoney ? ` ${counts.wrongTotals} | ${counts.wrongCurrencies} | ${counts.wrongSigns} |` : "";
    return `| ${look} | ${documents} | ${fields} | ${percent(right, fields)} | ${missing} | ${wrong} |${rest}`;
  });
  return [head, ...rows].join("\n");
}

/** Documents whose core fields are all right, of those that have core fields. */
export function countRead(results: readonly ParserResult[]): { read: number; all: number } {
  const marked = results.filter(({ document }) => document.core !== undefined);
  const read = marked.filter(({ document, fields }) =>
    fields.every(({ path, verdict }) => verdict === "right" || !document.core?.includes(path)),
  );
  return { read: read.length, all: marked.length };
}

/** Of all looks together. Fields of lists are counted under one name. */
export function tableOfFields(results: readonly ParserResult[]): string {
  const rows = new Map<string, { right: number; missing: number; wrong: number }>();
  for (const { path, verdict } of results.flatMap(({ fields }) => fields)) {
    const name = path.replace(/\.\d+(?=\.|$)/g, "").replace(/[|#].*$/, "");
    const row = rows.get(name) ?? { right: 0, missing: 0, wrong: 0 };
    rows.set(name, row);
    row[verdict]++;
  }
  const lines = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { right, missing, wrong }]) => {
      const title = name.startsWith("count:") ? `number of \`${name.slice(6)}\`` : `\`${name.replace("any:", "")}\``;
      return `| ${title} | ${right} | ${missing} | ${wrong} |`;
    });
  return ["| field | right | null | wrong |\n|---|---|---|---|", ...lines].join("\n");
}

/** Shares of right fields by language and by layout, for tuning. */
export function tableOfGroups(
  results: readonly ParserResult[],
  groupOf: (document: LabelledDocument) => string,
): string {
  const names = [...new Set(results.map(({ document }) => groupOf(document)))].sort();
  const rows = names.map((name) => {
    const { documents, fields, right, missing, wrong } = countFields(
      results.filter(({ document }) => groupOf(document) === name),
    );
    return `| ${name} | ${documents} | ${percent(right, fields)} | ${missing} | ${wrong} |`;
  });
  return ["| group | files | right | null | wrong |\n|---|---|---|---|---|", ...rows].join("\n");
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "none" : `${((100 * part) / whole).toFixed(1)} %`;
}
