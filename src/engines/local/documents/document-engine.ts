// The common part of engines that read a document: its pages, how each was read, and the units of the answer.

import type { TaskDraft, TaskInput, TaskName } from "../../../contract/tasks.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { type AnswerOf, defineEngine, type EngineOf, type LocalCall, type LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type PageLimits, readDocument, readerPackages } from "./document-reader.ts";
import { meanConfidence, type Page } from "./page.ts";

interface DocumentEngine<Name extends TaskName, Output> extends Pick<EngineOf<Name>, "task"> {
  /** Packages in addition to those that read documents. */
  readonly packages?: readonly string[];
  /** Providers charge for files and not for pages. */
  readonly isPricedByFile?: true;
  load(): Promise<RunDocument<Name, AnswerOf<Name, Output>["output"]>>;
}

/** Adds members to the original answer, for what the output has no member for. */
export type AddDetails = (details: JsonObject) => void;

type RunDocument<Name extends TaskName, Output> = (
  pages: readonly Page[],
  call: LocalCall<TaskInput<Name>>,
  addDetails: AddDetails,
) => Output | Promise<Output>;

const limitsOfCalls: PageLimits = {
  pages: 200,
  scannedPages: 20,
  advice: "Split it, or run it as a job with ocr/ocr_async.",
};
const limitsOfJobs: PageLimits = { pages: 2_000, scannedPages: 200, advice: "Split it." };

/** Tasks whose name ends in `_async` run as jobs, with larger limits. */
export function createDocumentEngine<const Name extends TaskName, Output extends TaskDraft<Name>>({
  task,
  packages = [],
  isPricedByFile,
  load,
}: DocumentEngine<Name, Output>): LocalEngine {
  const isJob = task.endsWith("_async");
  return defineEngine<Name, Output>({
    task,
    packages: [...readerPackages, ...packages],
    ...(isJob && { timeLimit: "job" }),
    async load() {
      const run = await load();
      return async (call) => {
        const { input, files, onProgress } = call;
        const pages = await readDocument(files["file"], {
          language: "language" in input && typeof input.language === "string" ? input.language : null,
          limits: isJob ? limitsOfJobs : limitsOfCalls,
          onProgress,
        });
        const details: JsonObject = {};
        const output = await run(pages, call, (more) => Object.assign(details, more));
        return {
          output,
          original: { pages: pages.map(describePage), ...details },
          units: { page: pages.length, ...(isPricedByFile && { file: 1 }) },
        };
      };
    },
  });
}

/** How a page was read, so that callers can judge the quality of the text. */
function describePage({ source, lines, hasUnreadPictures }: Page) {
  const confidence = meanConfidence(lines);
  return {
    source,
    confidence: confidence === null ? null : round(confidence),
    ...(hasUnreadPictures && { pictures: "not recognised" }),
  };
}
