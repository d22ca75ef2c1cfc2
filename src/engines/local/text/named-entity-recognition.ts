import { lookUp } from "../../../lib/look-up.ts";
import type { LocalEngine } from "../local-engine.ts";
import { englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { loadNames, namesPackage } from "./names.ts";

/** Entities that have a form of their own. The others of the model (ordinals, emoji …) are no names. */
const formCategories: Readonly<Record<string, string>> = {
  DATE: "DATE",
  TIME: "TIME",
  DURATION: "DURATION",
  MONEY: "MONEY",
  PERCENT: "PERCENT",
  EMAIL: "EMAIL",
  URL: "URL",
  HASHTAG: "HASHTAG",
  MENTION: "MENTION",
};
const mostCharacters = 250_000;

export const engine: LocalEngine = {
  task: "text/named_entity_recognition",
  packages: [namesPackage, ...englishModelPackages, fastTextPackage],
  lane: "light",
  lightCharacters: 5_000,
  async load() {
    const detect = await loadLanguageDetector();
    const model = await loadEnglishModel();
    const findNames = await loadNames();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "finds names in");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const named = findNames(text).map(({ text: entity, kind }) => ({ entity, category: kind as string }));
      const formed = model.read(text).entities.flatMap(({ text: entity, type }) => {
        const category = lookUp(formCategories, type);
        return category === undefined ? [] : [{ entity, category }];
      });
      // Each once, in the order of the text within its kind.
      const distinct = new Map([...named, ...formed].map((item) => [`${item.category} ${item.entity}`, item]));
      const items = [...distinct.values()].map((item) => ({ ...item, importance: null }));
      return {
        output: { items },
        original: { engine: "compromise, winkNLP and rules", note: "basic: word lists and rules, no neural model" },
        units: { char: text.length },
      };
    };
  },
};
