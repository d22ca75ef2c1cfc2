// Finds known phrases in printed text, whatever their case, accents and punctuation: "Sub-Total :" and "sous total" are in the tables as plain words.

import { lookUp } from "../../../lib/look-up.ts";

/** A word, number or sign of a text, in its comparable form. */
export interface Token {
  /** Lower case, without accents. */
  readonly text: string;
  /** Offsets in the original text. */
  readonly start: number;
  readonly end: number;
}

export interface PhraseMatch<Kind> {
  readonly kind: Kind;
  /** Null: the phrase occurs in several languages. */
  readonly language: string | null;
  /** The phrase in its comparable form. */
  readonly phrase: string;
  /** The number of tokens that the phrase covers. */
  readonly length: number;
  /** The offset after the phrase in the original text. */
  readonly end: number;
}

/** Phrases separated by "|", by kind and by language. */
export type PhraseData<Kind extends string> = Readonly<Record<Kind, Readonly<Record<string, string>>>>;

const tokenPattern = /[\p{L}\p{M}]+|\d+|[%#№°]/gu;
/** Letters that do not decompose into a base letter and an accent, and the degree sign that stands for º. */
const letters: Readonly<Record<string, string>> = {
  ł: "l",
  ø: "o",
  ß: "ss",
  æ: "ae",
  ı: "i",
  đ: "d",
  œ: "oe",
  "°": "o",
};
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const maxWords = 7;
const maxCharacters = 10;

export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{Mn}/gu, (mark) => (mark === "\u3099" || mark === "\u309a" ? mark : ""))
    .replace(/[łøßæıđœ°]/g, (letter) => lookUp(letters, letter) ?? letter)
    .normalize("NFC");
}

export function toTokens(text: string): Token[] {
  return [...text.matchAll(tokenPattern)].map(({ 0: word, index }) => ({
    text: fold(word),
    start: index,
    end: index + word.length,
  }));
}

export interface PhraseTable<Kind extends string> {
  /** The longest phrase that starts at a token, or null if no phrase does. */
  match(tokens: readonly Token[], at: number): PhraseMatch<Kind> | null;
}

/** A phrase that several kinds contain belongs to the first of them. */
export function createPhraseTable<Kind extends string>(data: PhraseData<Kind>): PhraseTable<Kind> {
  const entries = new Map<string, { kind: Kind; language: string | null; phrase: string }>();
  // Object.entries loses the type of the names.
  for (const [kind, byLanguage] of Object.entries(data) as [Kind, Readonly<Record<string, string>>][]) {
    for (const [language, phrases] of Object.entries(byLanguage)) {
      for (const phrase of phrases.split("|")) {
        const key = toKey(toTokens(phrase));
        const known = entries.get(key);
        if (known === undefined) entries.set(key, { kind, language, phrase: key });
        else if (known.language !== language) entries.set(key, { ...known, language: null });
      }
    }
  }
  return {
    match(tokens, at) {
      for (let length = Math.min(maxWords, tokens.length - at); length > 0; length--) {
        const covered = tokens.slice(at, at + length);
        const found = entries.get(toKey(covered));
        if (found !== undefined) return { ...found, length, end: covered.at(-1)?.end ?? 0 };
      }
      const token = tokens[at];
      return token === undefined || !eastAsian.test(token.text) ? null : matchStart(token);
    },
  };

  /** Chinese and Japanese have no spaces between words. */
  function matchStart(token: Token): PhraseMatch<Kind> | null {
    for (let length = Math.min(maxCharacters, token.text.length); length > 0; length--) {
      const found = entries.get(token.text.slice(0, length));
      if (found !== undefined) return { ...found, length: 1, end: token.start + length };
    }
    return null;
  }
}

function toKey(tokens: readonly Token[]): string {
  return tokens.map((token) => token.text).join(" ");
}
