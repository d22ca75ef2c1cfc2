// The canonical form of JSON that is signed: the output of Python's json.dumps(sort_keys=True, indent=2, ensure_ascii=False), because most
// receivers that parse and serialise the body again are written in Python. Numbers are formatted as in Python, and integers keep all digits.

import { exactNumberOf, parseExactJson } from "../lib/exact-json.ts";

type Container = readonly unknown[] | Readonly<Record<string, unknown>>;

interface Open {
  readonly container: Container;
  /** Null: an array. */
  readonly keys: readonly string[] | null;
  readonly length: number;
  next: number;
}

const maxQuotedKeys = 1_000;

/** Accepts the values of JSON.parse and parseExactJson. Like JSON.stringify, it omits undefined members. */
export function toCanonicalJson(value: unknown): string {
  // An explicit stack, because recursion would overflow on a deeply nested value.
  const open: Open[] = [];
  // The same few keys are repeated many times.
  const quotedKeys = new Map<string, string>();
  let text = "";
  let indent = "\n";

  function begin(value: unknown): void {
    const exact = typeof value === "object" && value !== null ? exactNumberOf(value) : null;
    if (typeof value !== "object" || value === null || exact !== null) {
      text += exact === null ? toScalar(value) : toPythonNumber(exact);
      return;
    }
    const container = value as Container;
    const keys = isArray(container) ? null : sortedKeys(container);
    const length = keys === null ? (container as readonly unknown[]).length : keys.length;
    if (length === 0) {
      text += keys === null ? "[]" : "{}";
      return;
    }
    text += keys === null ? "[" : "{";
    indent += "  ";
    open.push({ container, keys, length, next: 0 });
  }

  begin(value);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (top.next === top.length) {
      open.pop();
      indent = indent.slice(0, -2);
      text += indent + (top.keys === null ? "]" : "}");
      continue;
    }
    text += top.next === 0 ? indent : `,${indent}`;
    const index = top.next;
    top.next += 1;
    if (top.keys === null) {
      begin((top.container as readonly unknown[])[index]);
      continue;
    }
    const key = top.keys[index] ?? "";
    let quoted = quotedKeys.get(key);
    if (quoted === undefined) {
      quoted = `${toQuoted(key)}: `;
      if (quotedKeys.size < maxQuotedKeys) quotedKeys.set(key, quoted);
    }
    text += quoted;
    begin((top.container as Readonly<Record<string, unknown>>)[key]);
  }
  return text;
}

/** The canonical form of a JSON text. Throws a SyntaxError. */
export function canonicalizeJsonText(text: string): string {
  return toCanonicalJson(parseExactJson(text));
}

function isArray(value: Container): value is readonly unknown[] {
  return Array.isArray(value);
}

// With these characters, the order of UTF-16 units differs from that of code points.
const beyondUnits = /[\ud800-\uffff]/;

function sortedKeys(container: Readonly<Record<string, unknown>>): readonly string[] {
  const all = Object.keys(container);
  const keys = all.some((key) => container[key] === undefined)
    ? all.filter((key) => container[key] !== undefined)
    : all;
  if (!keys.some((key) => beyondUnits.test(key))) return isSorted(keys) ? keys : keys.sort();
  if (keys.every((key) => key.isWellFormed())) return keys.sort(byCodePoint);
  // Keys that differ only in lone surrogates become the same key. The last one wins, as for duplicate keys in a parser.
  const last = new Map(keys.map((key) => [key.toWellFormed(), key]));
  return Array.from(last.keys())
    .sort(byCodePoint)
    .map((written) => last.get(written) ?? written);
}

/** Checking is much cheaper than sorting. */
function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) if ((keys[index - 1] ?? "") > (keys[index] ?? "")) return false;
  return true;
}

function byCodePoint(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const difference = toCodePointOrder(one.charCodeAt(index)) - toCodePointOrder(other.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Surrogates encode the highest code points, so they sort after all other units. */
function toCodePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function toScalar(value: unknown): string {
  switch (typeof value) {
    case "string":
      return toQuoted(value);
    case "number":
      return Number.isFinite(value) ? toPythonNumber(String(value)) : "null";
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return "null";
  }
}

/** JSON.stringify escapes the same characters as Python, and also lone surrogates, which UTF-8 cannot encode: they are replaced. */
function toQuoted(text: string): string {
  return JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
}

interface Digits {
  readonly sign: string;
  /** The shortest digits that identify the number. */
  readonly digits: string;
  /** The exponent of the first digit. */
  readonly exponent: number;
  readonly plain: string;
}

function toDigits(value: number): Digits {
  const [mantissa = "", power = "0"] = value.toExponential().split("e");
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "");
  const exponent = Number(power);
  if (exponent < 0) return { sign, digits, exponent, plain: `${sign}0.${"0".repeat(-exponent - 1)}${digits}` };
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return { sign, digits, exponent, plain: `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}` };
}

/** Integers keep their digits. Other numbers are the shortest text of their double, with an exponent outside 1e-4 to 1e16. */
function toPythonNumber(source: string): string {
  if (!/[.eE]/.test(source)) return source === "-0" ? "0" : source;
  const value = Number(source);
  // Python would read infinity, which JSON cannot represent.
  if (!Number.isFinite(value)) return source;
  if (Object.is(value, -0)) return "-0.0";
  const { sign, digits, exponent, plain } = toDigits(value);
  if (value === 0) return "0.0";
  if (exponent >= -4 && exponent < 16) return plain.includes(".") ? plain : `${plain}.0`;
  const fraction = digits.length === 1 ? "" : `.${digits.slice(1)}`;
  const power = `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return `${sign}${digits.slice(0, 1)}${fraction}e${power}`;
}
