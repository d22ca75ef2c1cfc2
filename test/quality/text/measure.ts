// Runs the text engines over the labelled sets of this folder. Each set says where it comes from.

import type { Split } from "../documents/labelled-document.ts";
import { precisionAndRecall, type QualityLine, type RunTask, share } from "../quality.ts";
import anonymization from "./anonymization.json" with { type: "json" };
import keywordExtraction from "./keyword-extraction.json" with { type: "json" };
import { measureLanguages, measureModeration, measureSentiments, measureTopics } from "./measure-held-out.ts";
import { toPersonalDataLines } from "./measure-personal-data.ts";
import namedEntityRecognition from "./named-entity-recognition.json" with { type: "json" };
import spellCheckRight from "./spell-check-right.json" with { type: "json" };
import spellCheckWrong from "./spell-check-wrong.json" with { type: "json" };
import syntaxAnalysis from "./syntax-analysis.json" with { type: "json" };

/** `onMiss` hears of every case that went wrong. */
export type OnMiss = (task: string, text: string, wanted: unknown, given: unknown) => void;

export async function measureText(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  return [
    ...(await measureLanguages(run, split, onMiss)),
    ...(await measureSentiments(run, split, onMiss)),
    ...(await measureTopics(run, split, onMiss)),
    ...(await measureEntities(run, onMiss)),
    await measureSyntax(run, onMiss),
    await measureKeywords(run, onMiss),
    ...(await measureSpelling(run, onMiss)),
    await measureModeration(run, split, onMiss, "obscenity"),
    ...(await measureAnonymization(run, onMiss)),
  ];
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
  return toPersonalDataLines(task, "exact span and kind", counts);
}

function itemsOf(output: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return output["items"] as readonly Readonly<Record<string, unknown>>[];
}

function withoutTitle(name: string): string {
  return name.replace(/^(?:Mr|Mrs|Ms|Dr|Prof|Captain)\.?\s+/, "");
}
