import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, nameOf, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";

// Below it the model names languages at random.
const leastConfidence = 0.05;

export const engine: LocalEngine = {
  task: "translation/language_detection",
  packages: [fastTextPackage],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    return async ({ input }) => {
      const text = textOf(input);
      refuseLonger(text);
      const found = detect(text);
      const items = found
        .filter(({ confidence }, index) => index === 0 || confidence >= leastConfidence)
        .map(({ tag, confidence }) => ({ language: tag, display_name: nameOf(tag), confidence: round(confidence) }));
      return { output: { items }, original: { engine: "fastText lid.176", found }, units: { char: text.length } };
    };
  },
};
