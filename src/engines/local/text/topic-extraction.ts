// News topics: the model knows four of them and nothing else, which its labels say.

import { lookUp } from "../../../lib/look-up.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";

const topics: Readonly<Record<string, string>> = {
  "1": "World",
  "2": "Sports",
  "3": "Business",
  "4": "Science & Technology",
};
const leastImportance = 0.05;

export const engine: LocalEngine = {
  task: "text/topic_extraction",
  packages: [fastTextPackage, "fasttextweb"],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    const classify = await loadFastText("fasttextweb", "tests/agNews/agModel.ftz");

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "sorts");
      const text = textOf(input);
      refuseLonger(text);
      const prepared = toTrainingForm(text);
      const found = /\p{L}/u.test(prepared) ? classify(prepared, Object.keys(topics).length) : [];
      const items = found
        .filter(({ probability }) => probability >= leastImportance)
        .map(({ name, probability }) => ({ category: lookUp(topics, name) ?? name, importance: round(probability) }));
      return {
        output: { items },
        original: { engine: "fastText: AG News", note: "knows four topics of the news, no others", found },
        units: { char: text.length },
      };
    };
  },
};
