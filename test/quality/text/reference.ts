// What reference programs of Python answer for the same labelled texts, where they are installed. None of them is a dependency.

import { join } from "node:path";
import { type QualityLine, share } from "../quality.ts";
import keywordExtraction from "./keyword-extraction.json" with { type: "json" };
import personalData from "./personal-data-test.json" with { type: "json" };
import sentiment from "./sentiment-test.json" with { type: "json" };

interface ProgramAnswer {
  readonly program: string;
  readonly answers?: readonly unknown[];
  readonly missing?: string;
}

/** `python` is the interpreter that has the packages. What is missing is told to `log`. */
export async function measureTextReferences(
  log: (line: string) => void,
  python: string | null = Bun.which("python3"),
): Promise<QualityLine[]> {
  if (python === null) {
    log("Python is not installed, so VADER, YAKE and Presidio are not compared.");
    return [];
  }
  const input = JSON.stringify({
    sentiment: sentiment.cases.map(({ text }) => text),
    keywords: keywordExtraction.cases.map(({ text }) => text),
    personal: personalData.cases.map(({ text }) => text),
  });
  const child = Bun.spawn([python, join(import.meta.dir, "reference.py")], {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: 300_000,
  });
  const lines: QualityLine[] = [];
  for (const line of (await child.stdout.text()).split("\n").filter((one) => one.startsWith("{"))) {
    const { program, answers, missing } = JSON.parse(line) as ProgramAnswer;
    if (answers === undefined) log(`${program} is not compared: ${missing} (pip install ${program}).`);
    else lines.push(score(program, answers));
  }
  return lines;
}

function score(program: string, answers: readonly unknown[]): QualityLine {
  if (program === "vaderSentiment") {
    const right = sentiment.cases.filter((one, index) => one.sentiment === answers[index]).length;
    const cases = sentiment.cases.length;
    return {
      task: "text/sentiment_analysis",
      measure: "VADER: accuracy, all three classes",
      result: share(right, cases),
      cases,
    };
  }
  if (program === "yake") {
    const wanted = keywordExtraction.cases.flatMap(({ keywords }) => keywords).length;
    const found = keywordExtraction.cases.flatMap(({ keywords }, index) =>
      keywords.filter((keyword) => (answers[index] as string[]).includes(keyword)),
    ).length;
    return {
      task: "text/keyword_extraction",
      measure: "YAKE: expected phrases among the first ten",
      result: share(found, wanted),
      cases: wanted,
    };
  }
  const wanted = personalData.cases.flatMap(({ personal }) => personal).length;
  const found = personalData.cases.flatMap(({ personal }, index) =>
    personal.filter(({ content }) => (answers[index] as string[]).some((span) => span.includes(content))),
  ).length;
  return {
    task: "text/anonymization",
    measure: "Presidio, patterns only: spans found, of any kind",
    result: share(found, wanted),
    cases: wanted,
  };
}
