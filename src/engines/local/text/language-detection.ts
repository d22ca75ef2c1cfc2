// translation/language_detection by two models, eld, which is better at its sixty languages, and fastText's lid.176 for all others, and by scripts, letters
// and everyday words, which decide in texts of a few words.

import { lookUp } from "../../../lib/look-up.ts";
import { readModelFile } from "../checksums.ts";
import { round } from "../numbers.ts";
import { importPackage } from "../resolve-package.ts";
import { fastTextPackage } from "./fast-text.ts";
import { type DetectedLanguage, loadLanguageDetector, nameOf } from "./language.ts";
import { findEvidence, type LanguageEvidence } from "./language-evidence.ts";
import { createTextEngine } from "./text-engine.ts";

const eldPackage = "eld";

/** The parts of the package that we call. */
interface EldPackage {
  readonly eld: {
    /** By language, 0 to 1. Languages without a common n-gram are absent. */
    detect(text: string): { getScores(): Readonly<Record<string, number>> };
    info(): { readonly Languages: Readonly<Record<string, string>> };
  };
}

// All figures were chosen on test/quality/text/language-tune.json and fragments of its texts. The largest size of eld was better by one per cent there, but
// needs 180 MB instead of 60.
const eldSize = "small";
/** The scores of eld differ little, so they are multiplied before they are added to logarithms of probabilities. */
const eldWeight = 75;
/** A language that eld lacks gets the score of eld's best one, less this, because eld takes it for a relative. */
const penaltyOfOthers = { widelyUsed: 0.5, rare: 3 };
/** Of the languages that eld lacks. fastText takes short texts for one of the others by chance. */
const widelyUsed = new Set(
  "af as bo bs ceb ckb cy dv eo ga gl id jv kk km ky la lb mg mk mn mt my ne ps sd sh si so su sw tg tk tt ug uz".split(
    " ",
  ),
);
const minProbability = 0.1;
const everydayWeight = 10;
const foreignWeight = 8;
/** With it, the mean confidence is the share of right answers. */
const temperature = 0.9;
// Below these, a text has no language that the models know.
const minEldScore = 0.5;
const minFastTextProbability = 0.15;
const minConfidence = 0.2;
/** With so many everyday words, a text is in the language whatever the models say. */
const sureEverydayShare = 0.2;
/** eld reads the start of a text, which may be code or a table. In a longer text, fastText alone suffices from this probability on. */
const sureProbability = 0.7;
const longTextLetters = 40;
const minOtherConfidence = 0.05;

export const languageDetection = createTextEngine({
  task: "translation/language_detection",
  packages: [fastTextPackage, eldPackage],
  async load() {
    const detect = await loadLanguageDetector();
    await readModelFile(eldPackage, `src/ngrams/${eldSize}.js`);
    const { eld } = await importPackage<EldPackage>(`${eldPackage}/${eldSize}`);
    const knownToEld = new Set(Object.values(eld.info().Languages));

    return (text) => {
      const byFastText = detect(text);
      const byEld = byFastText.length === 0 ? {} : eld.detect(text).getScores();
      const found: Found = { byFastText, byEld, evidence: findEvidence(text) };
      const languages = combine(found);
      const [best, ...others] = languages;
      const original = { engine: "eld, fastText lid.176, everyday words", languages };
      if (best === undefined || !isKnown(best, text, found)) return { output: { items: [unknown] }, original };
      const items: (typeof unknown)[] = [
        best,
        ...others.filter(({ confidence }) => confidence >= minOtherConfidence),
      ].map(({ tag, confidence }) => ({ language: tag, display_name: nameOf(tag), confidence: round(confidence) }));
      return { output: { items }, original };
    };

    function combine({ byFastText, byEld, evidence }: Found): DetectedLanguage[] {
      if (byFastText.length === 0) return [];
      const highest = Math.max(0, ...Object.values(byEld));
      const tags = new Set([...Object.keys(byEld), ...byFastText.map(({ tag }) => tag), ...evidence.languages]);
      const scored = [...tags].map((tag) => {
        const penalty = widelyUsed.has(tag) ? penaltyOfOthers.widelyUsed : penaltyOfOthers.rare;
        const eldScore = knownToEld.has(tag) ? (lookUp(byEld, tag) ?? 0) * eldWeight : highest * eldWeight - penalty;
        const score =
          eldScore +
          Math.log(probabilityOf(tag, byFastText) + minProbability) +
          everydayWeight * evidence.everydayShare(tag) -
          foreignWeight * evidence.foreignShare(tag);
        return { tag, score };
      });
      const best = Math.max(...scored.map(({ score }) => score));
      const powers = scored.map(({ tag, score }) => ({ tag, power: Math.exp((score - best) / temperature) }));
      const total = powers.reduce((sum, { power }) => sum + power, 0);
      return powers
        .map(({ tag, power }): DetectedLanguage => ({ tag, confidence: power / total }))
        .sort((a, b) => b.confidence - a.confidence)
        .slice(0, 5);
    }

    function isKnown({ tag, confidence }: DetectedLanguage, text: string, { byFastText, byEld, evidence }: Found) {
      if (confidence < minConfidence) return false;
      if (tag === evidence.ofScript || evidence.everydayShare(tag) >= sureEverydayShare) return true;
      const probability = probabilityOf(tag, byFastText);
      if (!knownToEld.has(tag)) return probability >= minFastTextProbability;
      if ((lookUp(byEld, tag) ?? 0) >= minEldScore) return true;
      return probability >= sureProbability && (text.match(/\p{L}/gu)?.length ?? 0) >= longTextLetters;
    }
  },
});

interface Found {
  readonly byFastText: readonly DetectedLanguage[];
  readonly byEld: Readonly<Record<string, number>>;
  readonly evidence: LanguageEvidence;
}

const unknown: { language: string; display_name: string; confidence: number | null } = {
  language: "unknown",
  display_name: "Unknown",
  confidence: null,
};

function probabilityOf(tag: string, found: readonly DetectedLanguage[]): number {
  return found.find((one) => one.tag === tag)?.confidence ?? 0;
}
