// Finds amounts of money in printed text: the forms of numbers of all countries, signs, and the currency beside the figures.

import { currencyEndPattern, currencyMarkPattern } from "./currencies.ts";

export interface Amount {
  /** Negative with a minus before or after it, in parentheses, or with "CR". */
  readonly value: number;
  /** The currency as printed beside it: signs and codes. */
  readonly marks: readonly string[];
  /** It has decimals or a currency, so it cannot be a mere count or year. */
  readonly isMoney: boolean;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

/** How the numbers of a document are written. */
export interface NumberStyle {
  /** Null: no number of the document shows it. */
  readonly decimal: "." | "," | null;
}

// Every repetition is bounded, so that a long run of digits takes linear time.
const grouped = "\\d{1,3}(?:(?<group>[,.'’])\\d{3})(?:\\k<group>\\d{3}){0,4}(?:[.,]\\d{1,4})?";
const lakh = "\\d{1,2}(?:,\\d{2}){1,4},\\d{3}(?:\\.\\d{1,2})?";
const spaced = "\\d{1,3}(?: \\d{3}){1,4}(?:[.,]\\d{1,2})?";
// Also ".50" without a figure before the point.
const plain = "\\d{1,15}(?:[.,]\\d{1,4})?|[.,]\\d{2}";
const minus = "[-−–▲△]";

function toPattern(number: string): RegExp {
  return new RegExp(
    // Not inside a word, number, date or code.
    "(?<![\\p{L}\\d#_]|[\\p{L}\\d][.'’/-]|\\d[,:])" +
      `(?<open>\\()?(?<before>${minus}\\s?)?(?:(?<mark>${currencyMarkPattern})\\s?(?<between>${minus}\\s?)?)?` +
      `(?<number>${number})` +
      // "100.-" and "100,-" are whole amounts.
      "(?<whole>[.,][-–—]{1,2})?(?<after>-(?![\\p{L}\\d]))?" +
      `(?:\\s?(?<end>${currencyEndPattern})(?![\\p{L}\\d]))?(?<close>\\))?(?<credit>\\s?CR(?!\\p{L}))?` +
      // The letter of a tax class may follow; a percentage, date, time or unit is not an amount.
      "(?:\\s?[A-Z*](?![\\p{L}\\d.]))?(?![\\p{L}\\d]|[.,/:'’-]\\d|\\s?[%‰])",
    "gu",
  );
}

const withSpaces = toPattern(`${lakh}|${grouped}|${spaced}|${plain}`);
const withoutSpaces = toPattern(`${lakh}|${grouped}|${plain}`);
const beside = "[^\\p{L}\\d]{0,3}(?:\\p{L}{1,3}[^\\p{L}\\d]{0,3})?";
/** Words and one number. Chinese and Japanese figures are not grouped by spaces. */
const onlyWithSpaces = new RegExp(
  `^[^\\d\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]{0,80}${spaced}\\D{0,20}$`,
  "u",
);
const wholeWithSpaces = new RegExp(`^${beside}${spaced}${beside}$`, "u");

/** The amounts of a short text, in their order. */
export function findAmounts(text: string, style: NumberStyle): Amount[] {
  // In "2 500.00" the 2 may be a quantity; where the comma is the decimal sign, spaces group.
  const mayHaveSpaces = style.decimal === "," || (style.decimal === "." ? wholeWithSpaces : onlyWithSpaces).test(text);
  return [...text.matchAll(mayHaveSpaces ? withSpaces : withoutSpaces)].flatMap((match) => {
    const { number = "", mark, end, open, close, before, between, after, credit, whole } = match.groups ?? {};
    const size = toNumber(number, style);
    if (size === null) return [];
    // A dash after a word separates: "Total - 500.00".
    const isSeparator = before?.endsWith(" ") === true && match.index > 0;
    const signs = [isSeparator ? undefined : before, between, after, credit, open && close];
    const isNegative = signs.some((sign) => sign !== undefined && sign !== "");
    return [
      {
        value: isNegative && size !== 0 ? -size : size,
        marks: [mark, end].filter((one) => one !== undefined),
        isMoney:
          mark !== undefined ||
          end !== undefined ||
          whole !== undefined ||
          /[.,]\d{2}$|[,.'’ ]\d{3}(?!\d)/.test(number),
        start: match.index,
        end: match.index + match[0].length,
      },
    ];
  });
}

/** The value of a text that is only an amount. */
export function readAmount(text: string, style: NumberStyle): number | null {
  const trimmed = text.trim();
  const [amount, ...others] = findAmounts(trimmed, style);
  if (amount === undefined || others.length > 0) return null;
  const rest = trimmed.slice(0, amount.start) + trimmed.slice(amount.end);
  return /[\p{L}\d]/u.test(rest) ? null : amount.value;
}

/** By the numbers with two decimals; the dots of dates and the points of versions are not counted. */
export function findNumberStyle(text: string): NumberStyle {
  let [points, commas] = [0, 0];
  for (const [, decimal] of text.matchAll(/(?<![\d.,/:-])\d{1,3}(?:[.,'’ ]?\d{3}){0,4}([.,])\d{2}(?![\d.,/:]|\s?%)/g)) {
    if (decimal === ".") points++;
    else commas++;
  }
  return { decimal: points === commas ? null : points > commas ? "." : "," };
}

/** Null: the separators contradict each other, such as in 1.234.56. */
export function toNumber(text: string, style: NumberStyle): number | null {
  const bare = text.replace(/[ '’]/g, "");
  const separators = [...bare.matchAll(/[.,]/g)].map(({ 0: separator, index }) => ({ separator, index }));
  const last = separators.at(-1);
  if (last === undefined) return Number(bare);
  const decimals = bare.length - last.index - 1;
  const kinds = new Set(separators.map(({ separator }) => separator));
  const isDecimal =
    kinds.size === 2 ||
    (separators.length === 1 && (decimals !== 3 || style.decimal === last.separator || bare.startsWith("0")));
  // Only the last separator may be the decimal one, and it occurs once.
  if (isDecimal && separators.slice(0, -1).some(({ separator }) => separator === last.separator)) return null;
  if (!isDecimal && decimals !== 3) return null;
  const whole = bare.slice(0, last.index).replace(/[.,]/g, "");
  return Number(isDecimal ? `${whole}.${bare.slice(last.index + 1)}` : whole + bare.slice(last.index + 1));
}
