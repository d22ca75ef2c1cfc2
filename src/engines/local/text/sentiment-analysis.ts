// text/sentiment_analysis by two models that were trained on reviews: one predicts one to five stars, the other good or bad. Neither has a
// class for plain facts, but the star model is undecided about them. So the stars decide, and the polarity helps where they lean to good.

import { round, roundTo2 } from "../numbers.ts";
import { type Classify, fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { splitSentences } from "./sentences.ts";
import { createTextEngine } from "./text-engine.ts";

interface Sentiment {
  readonly label: "Positive" | "Negative" | "Neutral";
  /** The confidence; null: the text has no letters. */
  readonly rate: number | null;
  /** 0 (bad) to 1 (good), by each model. */
  readonly scores: readonly number[];
}

const positiveLabel = "2";
// Chosen on sentences that are not in the published set. Both models take facts for complaints, so "bad" has the higher threshold.
const minGood = 0.7;
const minBad = 0.9;
const minLeaning = { stars: 0.2, polarity: 0.95 };
const maxSegments = 5_000;

export const sentimentAnalysis = createTextEngine({
  task: "text/sentiment_analysis",
  packages: [fastTextPackage, "fasttextweb"],
  englishOnly: "judges",
  async load() {
    const polarity = await loadFastText("fasttextweb", "tests/yelpReviewPolarity/yelpModel.ftz");
    const stars = await loadFastText("fasttextweb", "tests/amazonReview/amazonModel.ftz");
    return (text) => {
      const whole = judge(text, polarity, stars);
      const segments = splitSentences(text).slice(0, maxSegments);
      const items = segments.map((segment) => {
        const { label, rate } = judge(segment.text, polarity, stars);
        return { segment: segment.text, sentiment: label, sentiment_rate: rate };
      });
      return {
        output: { general_sentiment: whole.label, general_sentiment_rate: whole.rate, items },
        original: { engine: "fastText: Yelp polarity and Amazon stars", goodness: whole.scores.map(round) },
      };
    };
  },
});

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
  const leansToGood = high > bad && high >= minLeaning.stars && good >= minLeaning.polarity;
  if (high >= minGood || leansToGood)
    return { label: "Positive", rate: rateOf(Math.max(high, (high + good) / 2)), scores };
  if (bad >= minBad) return { label: "Negative", rate: rateOf(bad), scores };
  return { label: "Neutral", rate: rateOf(1 - Math.max(high, bad) / 2), scores };
}

function rateOf(probability: number): number {
  return roundTo2(Math.min(1, Math.max(0, probability)));
}
