// Runs the text engines over sets that were written by other hands than the rules. The rules are tuned on `…-tune.json` only; the page shows the figures
// of `…-test.json`.

import type { Split } from "../documents/labelled-document.ts";
import { precisionAndRecall, type QualityLine, type RunTask, share } from "../quality.ts";
import languagesTest from "./language-test.json" with { type: "json" };
import languagesTune from "./language-tune.json" with { type: "json" };
import type { OnMiss } from "./measure.ts";
import moderationTest from "./moderation-test.json" with { type: "json" };
import moderationTune from "./moderation-tune.json" with { type: "json" };
import sentimentsTest from "./sentiment-test.json" with { type: "json" };
import sentimentsTune from "./sentiment-tune.json" with { type: "json" };
import topicsTest from "./topics-test.json" with { type: "json" };
import topicsTune from "./topics-tune.json" with { type: "json" };

const languages = { tune: languagesTune, test: languagesTest } as const;
const sentiments = { tune: sentimentsTune, test: sentimentsTest } as const;
const topics = { tune: topicsTune, test: topicsTest } as const;
const moderation = { tune: moderationTune, test: moderationTest } as const;

type Items = readonly Readonly<Record<string, unknown>>[];

export async function measureLanguages(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "translation/language_detection";
  const right: Record<string, number> = {};
  for (const { text, language, length } of languages[split].cases) {
    const given = ((await run(task, { text }))["items"] as Items)[0]?.["language"];
    if (given === language) right[length] = (right[length] ?? 0) + 1;
    else onMiss(task, text, language, given);
  }
  const known = languages[split].cases.filter(({ length }) => length !== "none");
  const count = new Set(known.map(({ language }) => language)).size;
  const lines = ["short", "medium", "long"].map((length) => {
    const lengths = known.filter((one) => one.length === length).map(({ text }) => text.length);
    const measure = `accuracy, ${count} languages, ${Math.min(...lengths)} to ${Math.max(...lengths)} characters`;
    return { task, measure, result: share(right[length] ?? 0, lengths.length), cases: lengths.length };
  });
  const all = (right["short"] ?? 0) + (right["medium"] ?? 0) + (right["long"] ?? 0);
  const none = languages[split].cases.length - known.length;
  return [
    { task, measure: "accuracy, all three lengths", result: share(all, known.length), cases: known.length },
    ...lines,
    { task, measure: "no language: called unknown", result: share(right["none"] ?? 0, none), cases: none },
  ];
}

export async function measureSentiments(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/sentiment_analysis";
  const counts = new Map<string, { all: number; right: number }>();
  let [right, stated] = [0, 0];
  for (const { text, sentiment } of sentiments[split].cases) {
    const output = await run(task, { text, language: "en" });
    const count = counts.get(sentiment) ?? { all: 0, right: 0 };
    counts.set(sentiment, count);
    count.all++;
    stated += Number(output["general_sentiment_rate"]);
    if (output["general_sentiment"] === sentiment) [count.right, right] = [count.right + 1, right + 1];
    else onMiss(task, text, sentiment, output["general_sentiment"]);
  }
  const cases = sentiments[split].cases.length;
  const each = ["Positive", "Negative", "Neutral"].map((kind) => counts.get(kind) ?? { all: 0, right: 0 });
  return [
    { task, measure: "accuracy, all three classes", result: share(right, cases), cases },
    { task, measure: "the confidence that it states, in the mean", result: share(stated, cases), cases },
    {
      task,
      measure: "found: positive, negative, neutral",
      result: each.map((count) => share(count.right, count.all)).join(", "),
      cases,
    },
  ];
}

export async function measureTopics(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/topic_extraction";
  const counts = { topical: 0, right: 0, wrong: 0, ordinary: 0, none: 0 };
  for (const { text, topic } of topics[split].cases) {
    const given = ((await run(task, { text, language: "en" }))["items"] as Items)[0]?.["category"] ?? null;
    if (topic === null) {
      counts.ordinary++;
      if (given === null) counts.none++;
    } else {
      counts.topical++;
      if (given === topic) counts.right++;
      else if (given !== null) counts.wrong++;
    }
    if (given !== topic) onMiss(task, text, topic, given);
  }
  return [
    {
      task,
      measure: "news: right topic, wrong topic",
      result: `${share(counts.right, counts.topical)}, ${share(counts.wrong, counts.topical)}`,
      cases: counts.topical,
    },
    { task, measure: "other texts: no topic", result: share(counts.none, counts.ordinary), cases: counts.ordinary },
  ];
}

export async function measureModeration(
  run: RunTask,
  split: Split,
  onMiss: OnMiss,
  model: string,
): Promise<QualityLine> {
  const task = "text/moderation";
  const name = `${task}/local/${model}`;
  const counts = { bad: 0, flagged: 0, right: 0 };
  for (const { text, isBad } of moderation[split].cases) {
    const output = await run(task, { text, language: "en" }, model);
    const isFlagged = Number(output["nsfw_likelihood"]) > 0;
    if (isBad) counts.bad++;
    if (isFlagged) counts.flagged++;
    if (isBad && isFlagged) counts.right++;
    if (isBad !== isFlagged) onMiss(name, text, isBad, output["items"]);
  }
  const result = precisionAndRecall(counts.right, counts.flagged, counts.bad);
  return { task: name, measure: "harmful sentences", result, cases: moderation[split].cases.length };
}
