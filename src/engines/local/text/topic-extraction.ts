// text/topic_extraction by a fastText model of news, which knows four topics and no others.

import { lookUp } from "../../../lib/look-up.ts";
import { round } from "../numbers.ts";
import { fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { createTextEngine } from "./text-engine.ts";

const topics: Readonly<Record<string, string>> = {
  "1": "World",
  "2": "Sports",
  "3": "Business",
  "4": "Science & Technology",
};
const minImportance = 0.05;

export const topicExtraction = createTextEngine({
  task: "text/topic_extraction",
  packages: [fastTextPackage, "fasttextweb"],
  englishOnly: "sorts",
  async load() {
    const classify = await loadFastText("fasttextweb", "tests/agNews/agModel.ftz");
    return (text) => {
      const prepared = toTrainingForm(text);
      const found = /\p{L}/u.test(prepared) ? classify(prepared, Object.keys(topics).length) : [];
      const items = found
        .filter(({ probability }) => probability >= minImportance)
        .map(({ name, probability }) => ({ category: lookUp(topics, name) ?? name, importance: round(probability) }));
      const note = "knows four topics of the news, no others";
      return { output: { items }, original: { engine: "fastText: AG News", note, found } };
    };
  },
});
