// The engines of the sentence model. They share one copy of it per worker.

import type { LocalEngine } from "../local-engine.ts";
import { createCustomClassification } from "./custom-classification.ts";
import { createEmbeddings } from "./embeddings.ts";
import { createKeywordExtraction } from "./keyword-extraction.ts";
import { createModeration } from "./moderation.ts";
import { createQuestionAnswer } from "./question-answer.ts";
import { createSearch } from "./search.ts";
import { type LoadSentenceModel, loadSentenceModel, type SentenceModel } from "./sentence-model.ts";
import { createSummarize } from "./summarize.ts";

export const semanticEngines: readonly LocalEngine[] = createSemanticEngines();

function createSemanticEngines(): LocalEngine[] {
  let loading: Promise<SentenceModel> | null = null;
  const loadModel: LoadSentenceModel = () => {
    loading ??= loadSentenceModel().catch((error) => {
      // The next call tries again.
      loading = null;
      throw error;
    });
    return loading;
  };
  return [
    createCustomClassification(loadModel),
    createEmbeddings(loadModel),
    createKeywordExtraction(loadModel),
    createModeration(loadModel),
    createQuestionAnswer(loadModel),
    createSearch(loadModel),
    createSummarize(loadModel),
  ];
}
