// text/topic_extraction by a fastText model of news, which knows four topics and no others. It is nearly certain about every text, also about
// a recipe, so its certainty is converted to the probability that the text has the topic at all.

import { lookUp } from "../../../lib/look-up.ts";
import { round } from "../numbers.ts";
import { type Classify, fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";
import { createTextEngine } from "./text-engine.ts";

const topics: Readonly<Record<string, string>> = {
  "1": "World",
  "2": "Sports",
  "3": "Business",
  "4": "Science & Technology",
};
const minImportance = 0.5;
/**
 * Logistic regression on test/quality/text/topics-tune.json and ordinary sentences of the other sets: log odds of the topic by the whole text and by its
 * content words alone, and the number of content words, because the model judges one or two words by chance.
 */
const weights = { whole: 0.468, contentWords: 0.076, count: 0.867, bias: -8.18 };
const enoughContentWords = 6;

export const topicExtraction = createTextEngine({
  task: "text/topic_extraction",
  packages: [fastTextPackage, "fasttextweb", stopWordsPackage],
  englishOnly: "sorts",
  async load() {
    const classify = await loadFastText("fasttextweb", "tests/agNews/agModel.ftz");
    const stopWords = (await loadStopWords())("en");
    return (text) => {
      const prepared = toTrainingForm(text);
      const contentWords = prepared
        .split(" ")
        .filter((word) => word.length > 2 && /\p{L}/u.test(word) && !stopWords.has(word));
      const [best] = contentWords.length === 0 ? [] : classify(prepared, Object.keys(topics).length);
      const importance = best === undefined ? 0 : probabilityOf(best.name, { prepared, contentWords }, classify);
      const items =
        best === undefined || importance < minImportance
          ? []
          : [{ category: lookUp(topics, best.name) ?? best.name, importance: round(importance) }];
      const note =
        "knows four topics of the news; a text without an item has none of them, as far as the model can tell";
      return {
        output: { items },
        original: {
          engine: "fastText: AG News",
          note,
          nearest: best === undefined ? null : lookUp(topics, best.name),
          importance: round(importance),
        },
      };
    };
  },
});

/** The probability that a text has the topic, and not only that it is nearest to it among the four. */
function probabilityOf(
  topic: string,
  { prepared, contentWords }: { readonly prepared: string; readonly contentWords: readonly string[] },
  classify: Classify,
): number {
  const logOddsOf = (text: string) => {
    const labels = classify(text, Object.keys(topics).length);
    const probability = labels.find(({ name }) => name === topic)?.probability ?? 0;
    // The model's probabilities are not more exact than this.
    return Math.log((probability + 1e-6) / (1 - probability + 1e-5));
  };
  const sum =
    weights.whole * logOddsOf(prepared) +
    weights.contentWords * logOddsOf(contentWords.join(" ")) +
    weights.count * Math.min(contentWords.length, enoughContentWords) +
    weights.bias;
  return 1 / (1 + Math.exp(-sum));
}
