// text/named_entity_recognition: names, and expressions that have a fixed form, such as dates and amounts of money.

import { englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { loadNames, namesPackage } from "./names.ts";
import { createTextEngine } from "./text-engine.ts";

/** Other types of the model, such as ordinals and emoji, are not entities. */
const formTypes = new Set("DATE TIME DURATION MONEY PERCENT EMAIL URL HASHTAG MENTION".split(" "));

export const namedEntityRecognition = createTextEngine({
  task: "text/named_entity_recognition",
  packages: [namesPackage, ...englishModelPackages],
  englishOnly: "finds names in",
  maxCharacters: 250_000,
  lightCharacters: 5_000,
  async load() {
    const model = await loadEnglishModel();
    const findNames = await loadNames();
    return (text) => {
      const names = findNames(text).map(({ text: entity, kind }) => ({ entity, category: kind as string }));
      const forms = model.read(text).entities.filter(({ type }) => formTypes.has(type));
      const found = [...names, ...forms.map(({ value: entity, type }) => ({ entity, category: type }))];
      // Each entity once, in the order of the text within its category.
      const distinct = new Map(found.map((item) => [`${item.category} ${item.entity}`, item]));
      const items = [...distinct.values()].map((item) => ({ ...item, importance: null }));
      const note = "basic: word lists and rules, no neural model";
      return { output: { items }, original: { engine: "compromise, winkNLP and rules", note } };
    };
  },
});
