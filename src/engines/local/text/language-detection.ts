// translation/language_detection by the fastText model lid.176.

import { round } from "../numbers.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, nameOf } from "./language.ts";
import { createTextEngine } from "./text-engine.ts";

// Below it, the model names languages at random.
const minConfidence = 0.05;

export const languageDetection = createTextEngine({
  task: "translation/language_detection",
  packages: [fastTextPackage],
  async load() {
    const detect = await loadLanguageDetector();
    return (text) => {
      const found = detect(text);
      const items = found
        .filter(({ confidence }, index) => index === 0 || confidence >= minConfidence)
        .map(({ tag, confidence }) => ({ language: tag, display_name: nameOf(tag), confidence: round(confidence) }));
      return { output: { items }, original: { engine: "fastText lid.176", found } };
    };
  },
});
