import type { LocalEngine } from "../local-engine.ts";
import { engine as anonymization } from "./anonymization.ts";
import { engine as keywordExtraction } from "./keyword-extraction.ts";
import { engine as languageDetection } from "./language-detection.ts";
import { engine as moderation } from "./moderation.ts";
import { engine as namedEntityRecognition } from "./named-entity-recognition.ts";
import { engine as sentimentAnalysis } from "./sentiment-analysis.ts";
import { engine as spellCheck } from "./spell-check.ts";
import { engine as summarize } from "./summarize.ts";
import { engine as syntaxAnalysis } from "./syntax-analysis.ts";
import { engine as topicExtraction } from "./topic-extraction.ts";

export const textEngines: readonly LocalEngine[] = [
  anonymization,
  keywordExtraction,
  languageDetection,
  moderation,
  namedEntityRecognition,
  sentimentAnalysis,
  spellCheck,
  summarize,
  syntaxAnalysis,
  topicExtraction,
];
