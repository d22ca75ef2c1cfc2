// JSON whose numbers keep their digits. JavaScript has doubles only: 9007199254740993 becomes ...992, and 1.0 becomes 1.

/** A number that JavaScript would write differently, or cannot represent. */
const oddNumber = /\d[\d.]{15}|\.\d*0(?!\d)|\d[eE]|-0(?![.\d])|0\.0{4}/;

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

// `JSON.rawJSON`, which the types do not declare yet, makes a value that JSON.stringify writes as this text.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

const keepSource: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || context?.source === undefined || context.source === String(value)) return value;
  return rawJSON(context.source);
};

/** As JSON.parse, but JSON.stringify of the result writes every number as it was written. For values that are passed on, not used in calculations. */
export function parseExactJson(text: string): unknown {
  return hasOddNumbers(text) ? JSON.parse(text, keepSource) : JSON.parse(text);
}

/** Whether the text may contain a number that JSON.parse and JSON.stringify would change. */
export function hasOddNumbers(text: string): boolean {
  return oddNumber.test(text);
}

/** The text of a number that `parseExactJson` kept, or null. */
export function exactNumberOf(value: object): string | null {
  const { isRawJSON } = JSON as unknown as { isRawJSON: (value: object) => boolean };
  return isRawJSON(value) ? (value as { readonly rawJSON: string }).rawJSON : null;
}

/** A number that JSON.stringify writes as this text, which must be a JSON number. */
export function toExactNumber(text: string): object {
  return rawJSON(text);
}
