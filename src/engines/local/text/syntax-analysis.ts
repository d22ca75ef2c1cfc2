import { lookUp } from "../../../lib/look-up.ts";
import type { LocalEngine } from "../local-engine.ts";
import { englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";

/** The universal parts of speech in the words that the task's other providers use. */
const tags: Readonly<Record<string, string>> = {
  ADJ: "Adjective",
  ADP: "Adposition",
  ADV: "Adverb",
  AUX: "Auxiliary",
  CCONJ: "Coordinating_Conjunction",
  DET: "Determiner",
  INTJ: "Interjection",
  NOUN: "Noun",
  NUM: "Cardinal_number",
  PART: "Particle",
  PRON: "Pronoun",
  PROPN: "Proper_noun",
  PUNCT: "Punctuation",
  SCONJ: "Subordinating_Conjunction",
  SYM: "Symbol",
  VERB: "Verb",
};
const mostCharacters = 100_000;

export const engine: LocalEngine = {
  task: "text/syntax_analysis",
  packages: [...englishModelPackages, fastTextPackage],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    const model = await loadEnglishModel();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "parses");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const items = model
        .read(text)
        .tokens.filter(({ partOfSpeech }) => partOfSpeech !== "SPACE")
        .map((token) => ({
          word: token.text,
          importance: null,
          tag: lookUp(tags, token.partOfSpeech) ?? "Other",
          lemma: token.lemma,
          others: { universal_tag: token.partOfSpeech },
        }));
      return { output: { items }, original: { engine: "winkNLP, English lite model" }, units: { char: text.length } };
    };
  },
};
