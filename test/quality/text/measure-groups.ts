// The engines of the groups for meaning and grammar, beside those that come with the gateway, over the sets of this folder.

import type { Split } from "../documents/labelled-document.ts";
import { type QualityLine, type RunTask, share } from "../quality.ts";
import customClassification from "./custom-classification.json" with { type: "json" };
import embeddings from "./embeddings.json" with { type: "json" };
import grammarRight from "./grammar-right.json" with { type: "json" };
import grammarWrong from "./grammar-wrong.json" with { type: "json" };
import keywordExtraction from "./keyword-extraction.json" with { type: "json" };
import keywordExtractionSecond from "./keyword-extraction-second.json" with { type: "json" };
import type { OnMiss } from "./measure.ts";
import { measureModeration } from "./measure-held-out.ts";
import questionAnswer from "./question-answer.json" with { type: "json" };
import spellCheckRight from "./spell-check-right.json" with { type: "json" };
import summarize from "./summarize.json" with { type: "json" };
import summarizeHeldOut from "./summarize-held-out.json" with { type: "json" };

type Items = readonly Readonly<Record<string, unknown>>[];

export async function measureMeaning(run: RunTask, split: Split, onMiss: OnMiss): Promise<QualityLine[]> {
  return [
    await measureEmbeddings(run, onMiss),
    await measureClassification(run, onMiss),
    ...(await measureAnswers(run, onMiss)),
    ...(await measureSummaries(run, onMiss)),
    ...(await measureKeywords(run, onMiss)),
    await measureModeration(run, split, onMiss, "minilm"),
  ];
}

async function measureEmbeddings(run: RunTask, onMiss: OnMiss): Promise<QualityLine> {
  const task = "text/embeddings";
  let right = 0;
  for (const texts of embeddings.triplets) {
    const [first = [], same = [], other = []] = itemsOf(await run(task, { texts })).map(
      ({ embedding }) => embedding as readonly number[],
    );
    const similarities = [dot(first, same), dot(first, other)];
    if ((similarities[0] ?? 0) > (similarities[1] ?? 0)) right++;
    else onMiss(task, texts.join(" | "), "the second nearer than the third", similarities);
  }
  const cases = embeddings.triplets.length;
  return {
    task,
    measure: "the same in other words nearer than a trap",
    result: share(right, cases),
    cases,
  };
}

async function measureClassification(run: RunTask, onMiss: OnMiss): Promise<QualityLine> {
  const task = "text/custom_classification";
  const { labels, examples, cases } = customClassification;
  const output = await run(task, { texts: cases.map(({ text }) => text), labels, examples });
  const given = output["classifications"] as readonly { label: string }[];
  let right = 0;
  for (const [index, { text, label }] of cases.entries()) {
    if (given[index]?.label === label) right++;
    else onMiss(task, text, label, given[index]);
  }
  return { task, measure: "accuracy, four labels", result: share(right, cases.length), cases: cases.length };
}

async function measureAnswers(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/question_answer";
  const counts = { first: 0, among: 0, answered: 0, refused: 0, unanswered: 0 };
  for (const { question, answer } of questionAnswer.cases) {
    const given = (await run(task, { texts: questionAnswer.texts, question }))["answers"] as readonly string[];
    if (answer === null) {
      counts.unanswered++;
      if (given.length === 0) counts.refused++;
      else onMiss(task, question, [], given);
      continue;
    }
    counts.answered++;
    if (given[0]?.startsWith(answer)) counts.first++;
    else onMiss(task, question, answer, given);
    if (given.some((one) => one.startsWith(answer))) counts.among++;
  }
  return [
    {
      task,
      measure: "the sentence with the answer first, among three",
      result: `${share(counts.first, counts.answered)}, ${share(counts.among, counts.answered)}`,
      cases: counts.answered,
    },
    {
      task,
      measure: "questions about something else left unanswered",
      result: share(counts.refused, counts.unanswered),
      cases: counts.unanswered,
    },
  ];
}

async function measureSummaries(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/summarize";
  const lines: QualityLine[] = [];
  for (const [set, { cases }] of [
    ["", summarize],
    ["held-out texts: ", summarizeHeldOut],
  ] as const) {
    for (const model of [undefined, "minilm"]) {
      const counts = { one: 0, among: 0 };
      for (const { text, best } of cases) {
        const one = String((await run(task, { text, language: "en", output_sentences: 1 }, model))["result"]);
        const two = String((await run(task, { text, language: "en", output_sentences: 2 }, model))["result"]);
        if (one.startsWith(best)) counts.one++;
        else onMiss(nameOf(task, model), text, best, one);
        if (two.includes(best)) counts.among++;
      }
      const result = `${share(counts.one, cases.length)}, ${share(counts.among, cases.length)}`;
      const measure = `${set}the sentence that says it, as one, among two`;
      lines.push({ task: nameOf(task, model), measure, result, cases: cases.length });
    }
  }
  return lines;
}

async function measureKeywords(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/keyword_extraction";
  const lines: QualityLine[] = [];
  for (const [set, { cases }] of [
    ["", keywordExtraction],
    ["second set: ", keywordExtractionSecond],
  ] as const) {
    for (const model of [undefined, "minilm"]) {
      const counts = { six: 0, ten: 0, wanted: 0 };
      for (const { text, keywords } of cases) {
        const items = itemsOf(await run(task, { text, language: "en" }, model));
        const given = items.map(({ keyword }) => String(keyword).toLowerCase());
        counts.six += keywords.filter((keyword) => given.slice(0, 6).includes(keyword)).length;
        counts.ten += keywords.filter((keyword) => given.slice(0, 10).includes(keyword)).length;
        counts.wanted += keywords.length;
        onMiss(nameOf(task, model), text, keywords, given);
      }
      const result = `${share(counts.six, counts.wanted)}, ${share(counts.ten, counts.wanted)}`;
      const measure = `${set}expected phrases among the first six, ten`;
      lines.push({ task: nameOf(task, model), measure, result, cases: counts.wanted });
    }
  }
  return lines;
}

export async function measureGrammar(run: RunTask, onMiss: OnMiss): Promise<QualityLine[]> {
  const task = "text/spell_check";
  const lines: QualityLine[] = [];
  for (const model of [undefined, "harper"]) {
    const name = nameOf(task, model);
    const counts = { found: 0, first: 0, accused: 0 };
    for (const { text, wrong, right } of grammarWrong.cases) {
      const items = itemsOf(await run(task, { text, language: "en" }, model));
      const start = text.indexOf(wrong);
      const item = items.find((one) => {
        const [from, length] = [Number(one["offset"]), Number(one["length"])];
        return from < start + wrong.length && start < from + length;
      });
      if (item !== undefined) counts.found++;
      const [best] = (item?.["suggestions"] ?? []) as readonly { suggestion: string }[];
      const [from, length] = [Number(item?.["offset"]), Number(item?.["length"])];
      const mended = best === undefined ? null : text.slice(0, from) + best.suggestion + text.slice(from + length);
      if (mended === text.replace(wrong, right)) counts.first++;
      else onMiss(name, text, right, mended);
    }
    const cases = grammarWrong.cases.length;
    lines.push({
      task: name,
      measure: "mistakes of grammar found, mended by the first suggestion",
      result: `${share(counts.found, cases)}, ${share(counts.first, cases)}`,
      cases,
    });
    const sentences = [...grammarRight.cases, ...spellCheckRight.cases];
    for (const { text } of sentences) {
      const items = itemsOf(await run(task, { text, language: "en" }, model));
      if (items.length === 0) continue;
      counts.accused++;
      onMiss(name, text, [], items);
    }
    lines.push({
      task: name,
      measure: "right sentences with something marked",
      result: share(counts.accused, sentences.length),
      cases: sentences.length,
    });
  }
  return lines;
}

function itemsOf(output: Readonly<Record<string, unknown>>): Items {
  return output["items"] as Items;
}

function nameOf(task: string, model: string | undefined): string {
  return model === undefined ? task : `${task}/local/${model}`;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}
