// All local engines. If several engines perform a task and no model is given, the first one that is installed is used. An engine of a package
// group is listed before the one that comes with the gateway only where the latter misses most of what it should find.

import { textToSpeech } from "./audio/text-to-speech.ts";
import { documentAnonymization } from "./documents/document-anonymization.ts";
import { financialParser, identityParser, resumeParser } from "./documents/parsers.ts";
import { ocr, ocrAsync, ocrTables } from "./documents/text-recognition.ts";
import type { LocalEngine } from "./local-engine.ts";
import { customClassification } from "./semantic/custom-classification.ts";
import { embeddings } from "./semantic/embeddings.ts";
import { keywordExtraction as semanticKeywordExtraction } from "./semantic/keyword-extraction.ts";
import { moderation as semanticModeration } from "./semantic/moderation.ts";
import { questionAnswer } from "./semantic/question-answer.ts";
import { search } from "./semantic/search.ts";
import { summarize as semanticSummarize } from "./semantic/summarize.ts";
import { speechToText } from "./speech/speech-to-text.ts";
import { anonymization } from "./text/anonymization.ts";
import { grammar } from "./text/grammar.ts";
import { keywordExtraction } from "./text/keyword-extraction.ts";
import { languageDetection } from "./text/language-detection.ts";
import { moderation } from "./text/moderation.ts";
import { namedEntityRecognition } from "./text/named-entity-recognition.ts";
import { sentimentAnalysis } from "./text/sentiment-analysis.ts";
import { spellCheck } from "./text/spell-check.ts";
import { summarize } from "./text/summarize.ts";
import { syntaxAnalysis } from "./text/syntax-analysis.ts";
import { topicExtraction } from "./text/topic-extraction.ts";
import { explicitVideo } from "./video/explicit-content.ts";
import { videoFrames } from "./video/frames.ts";
import { labelDetection } from "./video/label-detection.ts";
import { shotChanges } from "./video/shot-changes.ts";
import { textDetection } from "./video/text-detection.ts";
import { imageAnonymization } from "./vision/anonymization.ts";
import { backgroundRemoval } from "./vision/background-removal.ts";
import { imageEmbeddings } from "./vision/embeddings.ts";
import { explicitContent } from "./vision/explicit-content.ts";
import { faceCompare } from "./vision/face-compare.ts";
import { faceDetection } from "./vision/face-detection.ts";
import { faceRecognition } from "./vision/face-recognition.ts";
import { objectDetection } from "./vision/object-detection.ts";

export const localEngines: readonly LocalEngine[] = [
  anonymization,
  keywordExtraction,
  languageDetection,
  semanticModeration,
  moderation,
  namedEntityRecognition,
  sentimentAnalysis,
  spellCheck,
  summarize,
  syntaxAnalysis,
  topicExtraction,
  customClassification,
  embeddings,
  semanticKeywordExtraction,
  questionAnswer,
  search,
  semanticSummarize,
  grammar,
  textToSpeech,
  ocr,
  ocrAsync,
  ocrTables,
  financialParser,
  identityParser,
  resumeParser,
  documentAnonymization,
  speechToText,
  objectDetection,
  faceDetection,
  faceCompare,
  faceRecognition,
  imageAnonymization,
  explicitContent,
  backgroundRemoval,
  imageEmbeddings,
  labelDetection,
  shotChanges,
  textDetection,
  explicitVideo,
  videoFrames,
];
