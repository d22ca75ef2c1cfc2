// Runs the text engines over the labelled sets of this folder. Each set says where it comes from.

import { precisionAndRecall, type QualityLine, type RunTask, share } from "../quality.ts";
import anonymization from "./anonymization.json" with { type: "json" };
import keywordExtraction from "./keyword-extraction.json" with { type: "json" };
import languageDetection from "./language-detection.json" with { type: "json" };
import moderation from "./moderation.json" with { type: "json" };
import namedEntityRecognition from "./named-entity-recognition.json" with { type: "json" };
import sentimentAnalysis from "./sentiment-analysis.json" with { type: "json" };
import spellCheckRight from "./spell-check-right.json" with { type: "json" };
import spellCheckWrong from "./spell-check-wrong.json" with { type: "json" };
import syntaxAnalysis from "./syntax-analysis.json" with { type: "json" };
import topicExtraction from "./topic-extraction.json" with { type: "json" };

/** `onMiss` hears of every case that went wrong. */
export type OnMiss = (task: string, text: string, wanted: unknown, given: unknown) => void;

export async function measureText(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  return [
    ...(await measureLanguageDetection(run, onMiss)),
    ...(await measureSentiment(run, onMiss)),
    await measureTopics(run, onMiss),
    ...(await measureEntities(run, onMiss)),
    await measureSyntax(run, onMiss),
    await measureKeywords(run, onMiss),
    ...(await measureSpelling(run, onMiss)),
    ...(await measureModeration(run, onMiss)),
    ...(await measureAnonymization(run, onMiss)),
  ];
}

async function measureLanguageDetection(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "translation/language_detection";
  const lines: QualityLine[] = [];
  for (const length of ["long", "short", "greeting"]) {
    const cases = languageDetection.cases.filter((one) => one.length === length);
    let right = 0;
    for (const { text, language } of cases) {
      const given = itemsOf(await run(task, { text }))[0]?.["language"];
      if (given === language) right++;
      else onMiss(task, text, language, given);
    }
    const lengths = cases.map(({ text }) => text.length);
    const measure = `accuracy, ${Math.min(...lengths)} to ${Math.max(...lengths)} characters, 28 languages`;
    lines.push({ task, measure, result: share(right, cases.length), cases: cases.length });
  }
  return lines;
}

async function measureSentiment(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/sentiment_analysis";
  const right = { Positive: 0, Negative: 0, Neutral: 0 };
  for (const { text, sentiment } of sentimentAnalysis.cases) {
    const given = (await run(task, { text, language: "en" }))["general_sentiment"];
    if (given === sentiment) right[sentiment as keyof typeof right]++;
    else onMiss(task, text, sentiment, given);
  }
  const each = sentimentAnalysis.cases.length / 3;
  return [
    {
      task,
      measure: "accuracy, all three classes",
      result: share(right.Positive + right.Negative + right.Neutral, each * 3),
      cases: each * 3,
    },
    {
      task,
      measure: "found: positive, negative",
      result: `${share(right.Positive, each)}, ${share(right.Negative, each)}`,
      cases: each * 2,
    },
    { task, measure: "found: neutral facts", result: share(right.Neutral, each), cases: each },
  ];
}

async function measureTopics(run: RunTask, onMiss: OnMiss): Promise<QualityLine> {
  const task = "text/topic_extraction";
  let right = 0;
  for (const { text, topic } of topicExtraction.cases) {
    const given = itemsOf(await run(task, { text, language: "en" }))[0]?.["category"];
    if (given === topic) right++;
    else onMiss(task, text, topic, given);
  }
  const cases = topicExtraction.cases.length;
  return { task, measure: "accuracy, four topics", result: share(right, cases), cases };
}

async function measureEntities(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/named_entity_recognition";
  const kinds = ["PERSON", "LOCATION", "ORGANIZATION"] as const;
  const counts = {
    PERSON: { right: 0, given: 0, wanted: 0 },
    LOCATION: { right: 0, given: 0, wanted: 0 },
    ORGANIZATION: { right: 0, given: 0, wanted: 0 },
  };
  for (const { text, entities } of namedEntityRecognition.cases) {
    const items = itemsOf(await run(task, { text, language: "en" }));
    for (const kind of kinds) {
      const wanted: readonly string[] = entities[kind];
      const given = items
        .filter((item) => item["category"] === kind)
        .map((item) => withoutTitle(String(item["entity"])));
      const right = given.filter((name) => wanted.includes(name)).length;
      counts[kind].right += right;
      counts[kind].given += given.length;
      counts[kind].wanted += wanted.length;
      if (right !== given.length || right !== wanted.length) onMiss(task, text, wanted, given);
    }
  }
  return kinds.map((kind) => {
    const { right, given, wanted } = counts[kind];
    return { task, measure: kind.toLowerCase(), result: precisionAndRecall(right, given, wanted), cases: wanted };
  });
}

async function measureSyntax(run: RunTask, onMiss: OnMiss): Promise<QualityLine> {
  const task = "text/syntax_analysis";
  let right = 0;
  let all = 0;
  for (const { text, tags } of syntaxAnalysis.cases) {
    const given = itemsOf(await run(task, { text, language: "en" })).map(
      ({ others }) => (others as { universal_tag: string }).universal_tag,
    );
    const hits = tags.filter((tag, index) => tag === given[index]).length;
    right += hits;
    all += tags.length;
    if (hits < tags.length) onMiss(task, text, tags.join(" "), given.join(" "));
  }
  return { task, measure: "accuracy of parts of speech, by token", result: share(right, all), cases: all };
}

async function measureKeywords(run: RunTask, onMiss: OnMiss): Promise<QualityLine> {
  const task = "text/keyword_extraction";
  let right = 0;
  let wanted = 0;
  for (const { text, keywords } of keywordExtraction.cases) {
    const given = itemsOf(await run(task, { text, language: "en" }))
      .slice(0, 10)
      .map(({ keyword }) => String(keyword).toLowerCase());
    const found = keywords.filter((keyword) => given.includes(keyword));
    right += found.length;
    wanted += keywords.length;
    if (found.length < keywords.length)
      onMiss(
        task,
        text,
        keywords.filter((keyword) => !found.includes(keyword)),
        given,
      );
  }
  return { task, measure: "expected phrases among the first ten", result: share(right, wanted), cases: wanted };
}

async function measureSpelling(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/spell_check";
  let found = 0;
  let first = 0;
  let among = 0;
  for (const { wrong, right } of spellCheckWrong.cases) {
    const text = `I wrote ${wrong} in the letter.`;
    const item = itemsOf(await run(task, { text, language: "en" })).find((one) => one["text"] === wrong);
    const suggestions = ((item?.["suggestions"] ?? []) as { suggestion: string }[]).map(({ suggestion }) => suggestion);
    if (item !== undefined) found++;
    if (suggestions[0] === right) first++;
    if (suggestions.includes(right)) among++;
    if (suggestions[0] !== right) onMiss(task, wrong, right, suggestions);
  }
  let words = 0;
  let accused = 0;
  for (const { text } of spellCheckRight.cases) {
    const items = itemsOf(await run(task, { text, language: "en" }));
    words += text.split(/\s+/).length;
    accused += items.length;
    if (items.length > 0)
      onMiss(
        task,
        text,
        [],
        items.map((item) => item["text"]),
      );
  }
  const cases = spellCheckWrong.cases.length;
  return [
    { task, measure: "misspelt words found", result: share(found, cases), cases },
    {
      task,
      measure: "right word suggested first, among five",
      result: `${share(first, cases)}, ${share(among, cases)}`,
      cases,
    },
    { task, measure: "right words called wrong", result: share(accused, words), cases: words },
  ];
}

async function measureModeration(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/moderation";
  const counts = { bad: 0, found: 0, harmless: 0, accused: 0 };
  for (const { text, isBad } of moderation.cases) {
    const isFlagged = Number((await run(task, { text, language: "en" }))["nsfw_likelihood"]) > 0;
    if (isBad) counts.bad++;
    else counts.harmless++;
    if (isBad && isFlagged) counts.found++;
    if (!isBad && isFlagged) counts.accused++;
    if (isBad !== isFlagged) onMiss(task, text, isBad, isFlagged);
  }
  return [
    { task, measure: "bad sentences found", result: share(counts.found, counts.bad), cases: counts.bad },
    {
      task,
      measure: "harmless sentences flagged",
      result: share(counts.accused, counts.harmless),
      cases: counts.harmless,
    },
  ];
}

async function measureAnonymization(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/anonymization";
  const counts = { right: 0, given: 0, wanted: 0, hidden: 0 };
  for (const { text, personal } of anonymization.cases) {
    const output = await run(task, { text, language: null });
    const given = (output["entities"] as { content: string; subcategory: string }[]).map((entity) => ({
      content: withoutTitle(entity.content),
      subcategory: entity.subcategory,
    }));
    const right = given.filter((entity) =>
      personal.some((one) => one.content === entity.content && one.subcategory === entity.subcategory),
    );
    counts.right += right.length;
    counts.given += given.length;
    counts.wanted += personal.length;
    const result = String(output["result"]);
    counts.hidden += personal.filter(({ content }) => !result.includes(content)).length;
    if (right.length !== given.length || right.length !== personal.length) onMiss(task, text, personal, given);
  }
  return [
    {
      task,
      measure: "exact span and kind",
      result: precisionAndRecall(counts.right, counts.given, counts.wanted),
      cases: counts.wanted,
    },
    {
      task,
      measure: "personal data not readable any more",
      result: share(counts.hidden, counts.wanted),
      cases: counts.wanted,
    },
  ];
}

function itemsOf(output: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return output["items"] as readonly Readonly<Record<string, unknown>>[];
}

function withoutTitle(name: string): string {
  return name.replace(/^(?:Mr|Mrs|Ms|Dr|Prof|Captain)\.?\s+/, "");
}
