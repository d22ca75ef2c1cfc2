// The English model of winkNLP: tokens with parts of speech and lemmas, and entities with a fixed form (dates, money, URLs).

import { importPackage } from "../resolve-package.ts";
import { splitWindows } from "./windows.ts";

export const englishModelPackages = ["wink-nlp", "wink-eng-lite-web-model"];

export interface EnglishModel {
  read(text: string): Reading;
}

export interface Reading {
  readonly tokens: readonly Token[];
  readonly entities: readonly Entity[];
}

export interface Entity {
  readonly value: string;
  /** `DATE`, `MONEY` … */
  readonly type: string;
}

export interface Token {
  readonly text: string;
  /** Universal part of speech: NOUN, PROPN, VERB … */
  readonly partOfSpeech: string;
  readonly lemma: string;
  /** It is a hyphen inside a word, as in "lithium-ion". */
  readonly isHyphen: boolean;
}

/** The parts of the package that we call. */
type WinkNlp = (
  model: unknown,
  pipe: readonly string[],
) => {
  readonly its: Readonly<Record<"value" | "pos" | "lemma" | "detail", unknown>>;
  readDoc(text: string): {
    tokens(): { out(property: unknown): string[] };
    entities(): { out(property: unknown): Entity[] };
  };
};

// The library splits words before a hyphen ("lithium-ion" becomes "lithi u m - ion"), so hyphens are replaced by this character between spaces.
const hyphen = "\u2010";

export async function loadEnglishModel(): Promise<EnglishModel> {
  const { default: winkNlp } = await importPackage<{ default: WinkNlp }>("wink-nlp");
  const { default: model } = await importPackage<{ default: unknown }>("wink-eng-lite-web-model");
  const { readDoc, its } = winkNlp(model, ["sbd", "pos", "ner"]);

  function readWindow(text: string): Reading {
    const document = readDoc(text.replaceAll(/(?<=\p{L})-(?=\p{L})/gu, ` ${hyphen} `));
    const values = document.tokens().out(its.value);
    const parts = document.tokens().out(its.pos);
    const lemmas = document.tokens().out(its.lemma);
    return {
      tokens: values.map((value, index) => {
        if (value === hyphen) return { text: "-", partOfSpeech: "PUNCT", lemma: "-", isHyphen: true };
        return { text: value, partOfSpeech: parts[index] ?? "X", lemma: lemmas[index] ?? value, isHyphen: false };
      }),
      entities: document.entities().out(its.detail),
    };
  }

  return {
    read(text) {
      const readings = splitWindows(text).map((window) => readWindow(window.text));
      return {
        tokens: readings.flatMap(({ tokens }) => tokens),
        entities: readings.flatMap(({ entities }) => entities),
      };
    },
  };
}
