// text/syntax_analysis: the words of a text with their parts of speech and lemmas.

import { lookUp } from "../../../lib/look-up.ts";
import { universalTags } from "../../../providers/shapes/part-of-speech.ts";
import { englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { createTextEngine } from "./text-engine.ts";

const tags = { ...universalTags, ADJ: "Adjective" };

export const syntaxAnalysis = createTextEngine({
  task: "text/syntax_analysis",
  packages: englishModelPackages,
  englishOnly: "parses",
  maxCharacters: 100_000,
  async load() {
    const model = await loadEnglishModel();
    return (text) => {
      const words = model.read(text).tokens.filter(({ partOfSpeech }) => partOfSpeech !== "SPACE");
      const items = words.map(({ text: word, partOfSpeech, lemma }) => ({
        word,
        importance: null,
        tag: lookUp(tags, partOfSpeech) ?? "Other",
        lemma,
        others: { universal_tag: partOfSpeech },
      }));
      return { output: { items }, original: { engine: "winkNLP, English lite model" } };
    };
  },
});
