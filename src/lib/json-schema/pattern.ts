// Parses a `pattern` of a JSON Schema into a tree, to generate a string that matches it. match-pattern.ts decides whether a string matches.

import { lookUp } from "../look-up.ts";

export type Pattern =
  | { readonly kind: "set"; readonly ranges: readonly Range[]; readonly negated: boolean }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly part: Pattern; readonly least: number; readonly most: number }
  | { readonly kind: "start" | "end" };

type Range = readonly [first: number, last: number];

const maxPatternLength = 1_000;
const maxSampleLength = 5_000;
/** A repeated part may be empty, so the length of the sample does not bound the work. */
const maxSampleSteps = 20_000;

const digits: readonly Range[] = [[48, 57]];
const word: readonly Range[] = [...digits, [65, 90], [95, 95], [97, 122]];
const space: readonly Range[] = [
  [9, 13],
  [32, 32],
  [160, 160],
];
const lineEnds: readonly Range[] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const classes: Readonly<Record<string, readonly Range[]>> = { d: digits, w: word, s: space };
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
const preferred = [..."abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@ +#!?,;"];

/** Null for unsupported syntax: look-around, back-references, word boundaries, Unicode properties. */
export function parsePattern(source: string): Pattern | null {
  if (source.length > maxPatternLength) return null;
  const reader = new PatternReader([...source]);
  try {
    return reader.readAll();
  } catch (error) {
    if (error instanceof UnsupportedPattern) return null;
    throw error;
  }
}

/** `repeats` is how often an open-ended part is repeated; another `variant` chooses other characters. */
export function samplePattern(pattern: Pattern, repeats: number, variant: number): string | null {
  let length = 0;
  let steps = 0;
  const isOver = () => length > maxSampleLength || steps > maxSampleSteps;
  const sample = (node: Pattern): string => {
    steps++;
    if (isOver()) return "";
    switch (node.kind) {
      case "start":
      case "end":
        return "";
      case "set":
        length++;
        return sampleSet(node, variant);
      case "sequence":
        return node.parts.map(sample).join("");
      case "choice":
        return sample(node.parts[variant % node.parts.length] ?? { kind: "start" });
      case "repeat": {
        const count = Math.min(node.most, Math.max(node.least, repeats));
        let text = "";
        for (let done = 0; done < count && !isOver(); done++) text += sample(node.part);
        return text;
      }
    }
  };
  const text = sample(pattern);
  return isOver() ? null : text;
}

function accepts(set: Pattern & { kind: "set" }, point: number): boolean {
  return set.ranges.some(([first, last]) => point >= first && point <= last) !== set.negated;
}

function sampleSet(set: Pattern & { kind: "set" }, variant: number): string {
  const allowed = preferred.filter((character) => accepts(set, character.codePointAt(0) ?? 0));
  if (allowed.length > 0) return allowed[variant % allowed.length] ?? "";
  const [first, last] = set.ranges[0] ?? [97, 97];
  if (!set.negated) return String.fromCodePoint(first + (variant % (last - first + 1)));
  return "é";
}

class UnsupportedPattern extends Error {}

class PatternReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  readAll(): Pattern {
    const pattern = this.#readChoice();
    if (this.#at < this.#characters.length) throw new UnsupportedPattern();
    return pattern;
  }

  #readChoice(): Pattern {
    const parts = [this.#readSequence()];
    while (this.#take("|")) parts.push(this.#readSequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "choice", parts };
  }

  #readSequence(): Pattern {
    const parts: Pattern[] = [];
    for (let next = this.#peek(); next !== undefined && next !== "|" && next !== ")"; next = this.#peek()) {
      parts.push(this.#readRepeat(this.#readAtom()));
    }
    return { kind: "sequence", parts };
  }

  #readRepeat(part: Pattern): Pattern {
    const [least, most] = this.#readQuantifier() ?? [1, 1];
    if (least === 1 && most === 1) return part;
    if (part.kind === "start" || part.kind === "end" || least > most) throw new UnsupportedPattern();
    this.#take("?");
    return { kind: "repeat", part, least, most };
  }

  #readQuantifier(): Range | null {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    const braces = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#characters.slice(this.#at, this.#at + 16).join(""));
    if (braces === null) return null;
    this.#at += braces[0].length;
    const least = Number(braces[1]);
    if (braces[2] === undefined) return [least, least];
    return [least, braces[3] === "" ? Number.POSITIVE_INFINITY : Number(braces[3])];
  }

  #readAtom(): Pattern {
    const character = this.#next();
    if (character === "^") return { kind: "start" };
    if (character === "$") return { kind: "end" };
    if (character === ".") return { kind: "set", ranges: lineEnds, negated: true };
    if (character === "[") return this.#readSet();
    if (character === "(") return this.#readGroup();
    if (character === "\\") return this.#readEscape();
    if ("*+?{".includes(character)) throw new UnsupportedPattern();
    return one(character);
  }

  #readGroup(): Pattern {
    if (this.#take("?")) {
      const marker = this.#next();
      if (marker === "<") {
        if (this.#peek() === "=" || this.#peek() === "!") throw new UnsupportedPattern();
        while (this.#next() !== ">");
      } else if (marker !== ":") throw new UnsupportedPattern();
    }
    const inside = this.#readChoice();
    if (!this.#take(")")) throw new UnsupportedPattern();
    return inside;
  }

  #readSet(): Pattern {
    const negated = this.#take("^");
    const ranges: Range[] = [];
    while (!this.#take("]")) {
      const first = this.#readSetMember();
      const isRange = this.#peek() === "-" && this.#characters[this.#at + 1] !== "]";
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.#next();
      const last = this.#readSetMember();
      ranges.push([first[0]?.[0] ?? 0, last[0]?.[1] ?? 0]);
    }
    if (ranges.length === 0 && !negated) throw new UnsupportedPattern();
    return { kind: "set", ranges, negated };
  }

  #readSetMember(): readonly Range[] {
    const character = this.#next();
    if (character !== "\\") return one(character).ranges;
    const escaped = this.#readEscape();
    if (escaped.negated) throw new UnsupportedPattern();
    return escaped.ranges;
  }

  #readEscape(): Pattern & { kind: "set" } {
    const character = this.#next();
    const ranges = lookUp(classes, character.toLowerCase());
    if (ranges !== undefined) return { kind: "set", ranges, negated: character !== character.toLowerCase() };
    const control = lookUp(controls, character);
    if (control !== undefined) return one(String.fromCodePoint(control));
    if (character === "x" || character === "u") return this.#readCodePoint(character === "x" ? 2 : 4);
    if (/[A-Za-z1-9]/.test(character)) throw new UnsupportedPattern();
    return one(character);
  }

  #readCodePoint(length: number): Pattern & { kind: "set" } {
    let hex = "";
    if (this.#take("{")) for (let next = this.#next(); next !== "}"; next = this.#next()) hex += next;
    else for (let read = 0; read < length; read++) hex += this.#next();
    const point = Number.parseInt(hex, 16);
    if (!/^[0-9a-f]{1,6}$/i.test(hex) || point > 0x10ffff) throw new UnsupportedPattern();
    return one(String.fromCodePoint(point));
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new UnsupportedPattern();
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }
}

function one(character: string): Pattern & { kind: "set" } {
  const point = character.codePointAt(0) ?? 0;
  return { kind: "set", ranges: [[point, point]], negated: false };
}
