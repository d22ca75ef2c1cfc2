// A labelled page for text recognition: what is printed on it, in reading order, and what happened to the picture.

import { Sheet } from "../../documents/sheet.ts";
import type { PdfPage } from "../write-pdf.ts";
import type { Fault } from "./faults.ts";

export interface LabelledPage {
  readonly name: string;
  readonly language: string;
  /** What is measured with it: `noise`, `rotation`, `table` … */
  readonly kind: string;
  readonly page: PdfPage;
  /** In reading order; columns one after the other, tables row by row. */
  readonly truth: string;
  /** Of pages that are a table. */
  readonly cells?: readonly (readonly string[])[];
  readonly faults: readonly Fault[];
}

interface PageOptions {
  readonly name: string;
  readonly language: string;
  readonly kind: string;
  readonly faults?: readonly Fault[];
  /** The page ends a little below its text. Otherwise it has the format A4. */
  readonly isCropped?: boolean;
}

type Letters = { readonly font?: "sans" | "serif" | "mono"; readonly size?: number; readonly grey?: number };

/** Paragraphs over the width of the page. */
export function prosePage(
  options: PageOptions,
  title: string,
  paragraphs: readonly string[],
  letters: Letters = {},
): LabelledPage {
  const { font = "serif", size = 11, grey } = letters;
  const style = { font, size, ...(grey === undefined ? {} : { grey }) };
  const sheet = new Sheet();
  sheet.text(70, 80, title, { ...style, size: size + 6 });
  let y = 80 + size * 2.6;
  for (const paragraph of paragraphs)
    y = sheet.paragraph(70, y, 455, paragraph, { ...style, step: size * 1.45 }) + size;
  return finish(options, sheet, [title, ...paragraphs].join("\n"));
}

/** Two or three columns, each read from top to bottom before the next. */
export function columnPage(
  options: PageOptions,
  title: string,
  columns: readonly (readonly string[])[],
  letters: Letters = {},
): LabelledPage {
  const { font = "serif", size = 10 } = letters;
  const sheet = new Sheet();
  const gap = 24;
  const width = (475 - gap * (columns.length - 1)) / columns.length;
  sheet.text(60, 76, title, { font, size: 17 });
  for (const [index, paragraphs] of columns.entries()) {
    let y = 110;
    for (const paragraph of paragraphs)
      y =
        sheet.paragraph(60 + index * (width + gap), y, width, paragraph, { font, size, step: size * 1.4 }) + size * 0.8;
  }
  return finish(options, sheet, [title, ...columns.flat()].join("\n"));
}

export interface TableLook {
  readonly hasRules?: boolean;
  readonly hasOuterRulesOnly?: boolean;
  readonly widths: readonly number[];
  readonly rowHeight?: number;
}

/** A table below a title. Columns of figures are aligned at the end. */
export function tablePage(
  options: PageOptions,
  title: string,
  cells: readonly (readonly string[])[],
  look: TableLook,
): LabelledPage {
  const { hasRules = true, hasOuterRulesOnly = false, widths, rowHeight = 24 } = look;
  const sheet = new Sheet({ size: 10 });
  sheet.text(60, 80, title, { font: "bold", size: 14 });
  const edges = [60];
  for (const width of widths) edges.push((edges.at(-1) ?? 0) + width);
  const top = 104;
  for (const [row, texts] of cells.entries()) {
    for (const [column, content] of texts.entries()) {
      const [left = 0, right = 0] = [edges[column], edges[column + 1]];
      const isFigure = row > 0 && /^[\d\s.,%€$£-]+$/.test(content);
      const y = top + row * rowHeight + rowHeight * 0.65;
      const style = { font: row === 0 ? "bold" : "sans" } as const;
      if (isFigure) sheet.right(right - 8, y, content, style);
      else sheet.text(left + 8, y, content, style);
    }
  }
  const ys = Array.from({ length: cells.length + 1 }, (_, index) => top + index * rowHeight);
  if (hasOuterRulesOnly) for (const y of [ys[0], ys[1], ys.at(-1)]) sheet.rule(60, y ?? 0, edges.at(-1) ?? 0, 1);
  else if (hasRules) sheet.grid(edges, ys);
  return { ...finish(options, sheet, [title, ...cells.map((row) => row.join(" "))].join("\n")), cells };
}

function finish(options: PageOptions, sheet: Sheet, truth: string): LabelledPage {
  const { name, language, kind, faults = [], isCropped = false } = options;
  const [page] = sheet.pages;
  if (page === undefined) throw new Error(`${name} has no page.`);
  const lowest = Math.max(
    ...page.marks.map((mark) => (mark.kind === "text" ? mark.y : mark.kind === "line" ? mark.to[1] : 0)),
  );
  return { name, language, kind, page: isCropped ? { ...page, height: Math.ceil(lowest + 60) } : page, truth, faults };
}
