// The English model of winkNLP: tokens, parts of speech, lemmas, and entities that have a form (dates, money, addresses of the web).

import { importPackage } from "../resolve-package.ts";
import { splitWindows } from "./windows.ts";

export const englishModelPackages = ["wink-nlp", "wink-eng-lite-web-model"];

export interface EnglishModel {
  read(text: string): Reading;
}

export interface Reading {
  readonly tokens: readonly Token[];
  readonly entities: readonly { readonly text: string; readonly type: string }[];
}

export interface Token {
  readonly text: string;
  /** Universal part of speech: NOUN, PROPN, VERB … */
  readonly partOfSpeech: string;
  readonly lemma: string;
  /** It is the hyphen within a word: "lithium-ion". */
  readonly isJoint: boolean;
}

/** The parts of the package that we call. */
type WinkNlp = (
  model: unknown,
  pipe: readonly string[],
) => {
  readonly its: Readonly<Record<"value" | "pos" | "lemma" | "detail", unknown>>;
  readDoc(text: string): WinkDocument;
};

interface WinkDocument {
  tokens(): { out(what: unknown): string[] };
  entities(): { out(what: unknown): { readonly value: string; readonly type: string }[] };
}

// The library tears words before a hyphen apart ("lithium-ion" becomes "lithi u m - ion"), so it gets another sign between spaces.
const joint = "\u2010";

export async function loadEnglishModel(): Promise<EnglishModel> {
  const { default: winkNlp } = await importPackage<{ default: WinkNlp }>("wink-nlp");
  const { default: model } = await importPackage<{ default: unknown }>("wink-eng-lite-web-model");
  const { readDoc, its } = winkNlp(model, ["sbd", "pos", "ner"]);

  function readWindow(text: string): Reading {
    const document = readDoc(text.replaceAll(/(?<=\p{L})-(?=\p{L})/gu, ` ${joint} `));
    const values = document.tokens().out(its.value);
    const parts = document.tokens().out(its.pos);
    const lemmas = document.tokens().out(its.lemma);
    return {
      tokens: values.map((value, index) => {
        const isJoint = value === joint;
        return {
          text: isJoint ? "-" : value,
          partOfSpeech: isJoint ? "PUNCT" : (parts[index] ?? "X"),
          lemma: isJoint ? "-" : (lemmas[index] ?? value),
          isJoint,
        };
      }),
      entities: document
        .entities()
        .out(its.detail)
        .map(({ value, type }) => ({ text: value, type })),
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
