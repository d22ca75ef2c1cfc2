// Two models that were trained on reviews: one gives one to five stars, the other knows good and bad. Neither has a class for plain
// facts, but the stars are undecided over them: so the stars lead, and the other helps where they lean to the good.

import type { LocalEngine } from "../local-engine.ts";
import { round, roundTo2 } from "../numbers.ts";
import { type Classify, fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { splitSentences } from "./sentences.ts";

interface Sentiment {
  readonly label: "Positive" | "Negative" | "Neutral";
  /** How sure; null: there was nothing to judge. */
  readonly rate: number | null;
  /** 0 bad .. 1 good, by each model. */
  readonly scores: readonly number[];
}

const positiveLabel = "2";
// Chosen on sentences that are not in the published set. Facts sound like complaints to both models, hence the higher bar.
const surelyGood = 0.7;
const surelyBad = 0.9;
const leaning = { stars: 0.2, polarity: 0.95 };
const maxSegments = 5_000;

export const engine: LocalEngine = {
  task: "text/sentiment_analysis",
  packages: [fastTextPackage, "fasttextweb"],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    const polarity = await loadFastText("fasttextweb", "tests/yelpReviewPolarity/yelpModel.ftz");
    const stars = await loadFastText("fasttextweb", "tests/amazonReview/amazonModel.ftz");

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "judges");
      const text = textOf(input);
      refuseLonger(text);
      const whole = judge(text, polarity, stars);
      const segments = splitSentences(text).slice(0, maxSegments);
      const items = segments.map((segment) => {
        const { label, rate } = judge(segment.text, polarity, stars);
        return { segment: segment.text, sentiment: label, sentiment_rate: rate };
      });
      return {
        output: { general_sentiment: whole.label, general_sentiment_rate: whole.rate, items },
        original: { engine: "fastText: Yelp polarity and Amazon stars", goodness: whole.scores.map(round) },
        units: { char: text.length },
      };
    };
  },
};

function judge(text: string, polarity: Classify, stars: Classify): Sentiment {
  const prepared = toTrainingForm(text);
  if (!/\p{L}/u.test(prepared)) return { label: "Neutral", rate: null, scores: [] };
  const good = polarity(prepared, 2).find(({ name }) => name === positiveLabel)?.probability ?? 0;
  const byStars = stars(prepared, 5);
  const share = (from: number, to: number) =>
    byStars.reduce(
      (sum, { name, probability }) => (Number(name) >= from && Number(name) <= to ? sum + probability : sum),
      0,
    );
  const [bad, high] = [share(1, 2), share(4, 5)];
  const scores = [good, (high - bad + 1) / 2];
  const leansToGood = high > bad && high >= leaning.stars && good >= leaning.polarity;
  if (high >= surelyGood || leansToGood)
    return { label: "Positive", rate: rateOf(Math.max(high, (high + good) / 2)), scores };
  if (bad >= surelyBad) return { label: "Negative", rate: rateOf(bad), scores };
  return { label: "Neutral", rate: rateOf(1 - Math.max(high, bad) / 2), scores };
}

function rateOf(probability: number): number {
  return roundTo2(Math.min(1, Math.max(0, probability)));
}
