// Draws a document: text, columns and tables on one or several pages.

import { box, type FontName, line, type Mark, type PdfPage, type TextMark, text, widthOf } from "../ocr/write-pdf.ts";

export type Style = Partial<Omit<TextMark, "kind" | "text" | "x" | "y">>;

export interface Column {
  readonly x: number;
  readonly align?: TextMark["align"];
  /** Longer texts are broken into several lines. */
  readonly width?: number;
}

export type Sum = readonly [label: string, value: string, style?: Style];

export interface SumPlaces {
  readonly label: number;
  readonly value: number;
  readonly step: number;
  /** Whether labels end at their place instead of beginning there. */
  readonly rightLabels?: true;
}

/** Columns of text, and after them columns of figures, which are aligned at their right edge. */
export function tableColumns(texts: readonly Column[], figures: readonly number[]): Column[] {
  return [...texts, ...figures.map((x) => ({ x, align: "end" }) as const)];
}

export class Sheet {
  readonly #pages: Mark[][] = [[]];
  readonly #size: { readonly width: number; readonly height: number };
  readonly #base: Style;

  constructor({ width = 595, height = 842, ...base }: Style & { width?: number; height?: number } = {}) {
    this.#size = { width, height };
    this.#base = base;
  }

  get pages(): PdfPage[] {
    return this.#pages.map((marks) => ({ ...this.#size, marks }));
  }

  newPage(): this {
    this.#pages.push([]);
    return this;
  }

  add(...marks: readonly Mark[]): this {
    this.#pages.at(-1)?.push(...marks);
    return this;
  }

  text(x: number, y: number, content: string, style: Style = {}): this {
    return content === "" ? this : this.add(text(x, y, content, { ...this.#base, ...style }));
  }

  right(x: number, y: number, content: string, style: Style = {}): this {
    return this.text(x, y, content, { ...style, align: "end" });
  }

  centre(x: number, y: number, content: string, style: Style = {}): this {
    return this.text(x, y, content, { ...style, align: "middle" });
  }

  rule(left: number, y: number, right: number, thickness?: number): this {
    return this.add(line([left, y], [right, y], thickness));
  }

  bar(x: number, top: number, bottom: number, thickness?: number): this {
    return this.add(line([x, top], [x, bottom], thickness));
  }

  box(left: number, top: number, width: number, height: number, grey?: number): this {
    return this.add(box(left, top, width, height, grey));
  }

  /** One text below the other; returns the y after the last. */
  stack(
    x: number,
    y: number,
    texts: readonly string[],
    { step = 13, ...style }: Style & { step?: number } = {},
  ): number {
    let at = y;
    for (const content of texts) {
      if (content === "") continue;
      this.text(x, at, content, style);
      at += step;
    }
    return at;
  }

  /** A paragraph; returns the y after its last line. */
  paragraph(x: number, y: number, width: number, content: string, options: Style & { step?: number } = {}): number {
    const { step = 13, ...style } = options;
    const { font = "sans", size = 10 } = { ...this.#base, ...style };
    return this.stack(x, y, wrap(content, width, font, size), { step, ...style });
  }

  /** A row of a table; returns the y after it. */
  row(
    columns: readonly Column[],
    y: number,
    texts: readonly string[],
    options: Style & { step?: number } = {},
  ): number {
    const { step = 13, ...style } = options;
    const { font = "sans", size = 10 } = { ...this.#base, ...style };
    let below = y + step;
    for (const [index, content] of texts.entries()) {
      const column = columns[index];
      if (column === undefined || content === "") continue;
      const lines = column.width === undefined ? [content] : wrap(content, column.width, font, size);
      for (const [at, one] of lines.entries())
        this.text(column.x, y + at * step, one, { ...style, align: column.align ?? "start" });
      below = Math.max(below, y + lines.length * step);
    }
    return below;
  }

  /** One sum below the other; returns the y after the last. */
  sums(y: number, { label: labelX, value: valueX, step, rightLabels }: SumPlaces, sums: readonly Sum[]): number {
    for (const [index, [label, value, style = {}]] of sums.entries()) {
      const at = y + index * step;
      if (rightLabels) this.right(labelX, at, label, style);
      else this.text(labelX, at, label, style);
      this.right(valueX, at, value, style);
    }
    return y + sums.length * step;
  }

  /** The rules of a table's cells. */
  grid(xs: readonly number[], ys: readonly number[]): this {
    const [left = 0, right = 0] = [xs[0], xs.at(-1)];
    const [top = 0, bottom = 0] = [ys[0], ys.at(-1)];
    for (const y of ys) this.rule(left, y, right);
    for (const x of xs) this.bar(x, top, bottom);
    return this;
  }
}

export function wrap(content: string, width: number, font: FontName, size: number): string[] {
  const lines: string[] = [];
  let current = "";
  // Chinese and Japanese have no spaces: any character may start a line.
  const words = /[\u3040-\u30ff\u4e00-\u9fff]/.test(content) ? [...content] : content.split(/(?<= )/);
  for (const word of words) {
    // A full stop or comma never starts a line.
    if (
      current !== "" &&
      !/^[。、，]/.test(word) &&
      widthOf({ text: (current + word).trimEnd(), font, size }) > width
    ) {
      lines.push(current.trimEnd());
      current = "";
    }
    current += word;
  }
  return current === "" ? lines : [...lines, current.trimEnd()];
}
