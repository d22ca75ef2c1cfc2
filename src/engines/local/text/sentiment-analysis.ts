// text/sentiment_analysis by two models that were trained on reviews: one predicts one to five stars, the other good or bad. Neither has a
// class for plain facts, so their answers and the number of opinion words are converted to the probabilities of three classes.

import { round, roundTo2 } from "../numbers.ts";
import { type Classify, fastTextPackage, loadFastText, toTrainingForm } from "./fast-text.ts";
import { countOpinionWords } from "./opinion-words.ts";
import { splitSentences } from "./sentences.ts";
import { createTextEngine } from "./text-engine.ts";

type Label = "Positive" | "Negative" | "Neutral";

interface Sentiment {
  readonly label: Label;
  /** The probability of the label; null: the text has no letters. */
  readonly rate: number | null;
  readonly probabilities: Readonly<Partial<Record<Label, number>>>;
}

const positiveLabel = "2";
const starLabels = ["1", "2", "3", "4", "5"];
/**
 * Multinomial logistic regression on test/quality/text/sentiment-tune.json and plain sentences of the other sets. The inputs: the probabilities of one to five
 * stars, the log odds of "good", the positive and the negative opinion words, and 1.
 */
const weights: Readonly<Record<Label, readonly number[]>> = {
  Negative: [1.7, 0.37, -0.72, -0.74, -0.61, -0.69, -0.7, 2.54, -1.13],
  Neutral: [-0.88, -0.08, 1.76, 0.68, -1.48, 0.33, -2.37, -2.84, 1.09],
  Positive: [-0.82, -0.28, -1.04, 0.06, 2.09, 0.36, 3.07, 0.29, 0.04],
};
// With a lower probability, neither feeling is known.
const minProbability = 0.5;
/** Limits of inputs of the regression. */
const maxInput = { logOdds: 4, opinionWords: 2 };
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
        original: { engine: "fastText: Yelp polarity and Amazon stars", probabilities: whole.probabilities },
      };
    };
  },
});

function judge(text: string, polarity: Classify, stars: Classify): Sentiment {
  const prepared = toTrainingForm(text);
  if (!/\p{L}/u.test(prepared)) return { label: "Neutral", rate: null, probabilities: {} };
  const good = polarity(prepared, 2).find(({ name }) => name === positiveLabel)?.probability ?? 0;
  const byStars = stars(prepared, starLabels.length);
  const logOdds = Math.log((good + 1e-3) / (1 - good + 1e-3));
  const { positive, negative } = countOpinionWords(prepared.split(" "));
  // In a long text, their proportion counts.
  const share = Math.min(1, maxInput.opinionWords / Math.max(1, positive + negative)) / maxInput.opinionWords;
  const inputs = [
    ...starLabels.map((star) => byStars.find(({ name }) => name === star)?.probability ?? 0),
    Math.min(maxInput.logOdds, Math.max(-maxInput.logOdds, logOdds)) / maxInput.logOdds,
    positive * share,
    negative * share,
    1,
  ];
  const powers = Object.entries(weights).map(([label, row]): [Label, number] => [
    // The keys are those of the type.
    label as Label,
    Math.exp(row.reduce((sum, weight, index) => sum + weight * (inputs[index] ?? 0), 0)),
  ]);
  const total = powers.reduce((sum, [, power]) => sum + power, 0);
  const probabilities = Object.fromEntries(powers.map(([label, power]) => [label, round(power / total)]));
  const [best, power] = powers.reduce((one, other) => (other[1] > one[1] ? other : one));
  const label = power / total < minProbability ? "Neutral" : best;
  return { label, rate: roundTo2(probabilities[label] ?? 0), probabilities };
}
