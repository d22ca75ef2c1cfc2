// The view of each task's result. A task of a newer gateway, which this page does not know, is shown as data.

import { Component, type ReactNode } from "react";
import * as boxes from "./box-views.tsx";
import { DataList } from "./data-list.tsx";
import * as documents from "./document-views.tsx";
import * as images from "./image-views.tsx";
import * as media from "./media-views.tsx";
import * as scores from "./score-views.tsx";
import { TablesView } from "./tables.tsx";
import * as texts from "./text-views.tsx";
import type { ResultProps, ResultView, TaskName } from "./view.ts";
import * as web from "./web-views.tsx";

const views: { readonly [Name in TaskName]: ResultView<Name> } = {
  "text/ai_detection": scores.AiTextView,
  "text/moderation": scores.ModerationView,
  "text/named_entity_recognition": texts.EntitiesView,
  "text/topic_extraction": scores.TopicsView,
  "text/spell_check": texts.SpellingView,
  "text/plagia_detection": scores.PlagiarismView,
  "text/anonymization": texts.PersonalDataView,
  "text/sentiment_analysis": scores.SentimentView,
  "text/keyword_extraction": texts.KeywordsView,
  "text/entity_sentiment": texts.EntitySentimentView,
  "text/emotion_detection": scores.EmotionView,
  "text/summarize": texts.SummaryView,
  "text/embeddings": scores.EmbeddingsView,
  "text/question_answer": texts.AnswersView,
  "text/search": scores.SearchView,
  "text/syntax_analysis": texts.SyntaxView,
  "text/custom_classification": scores.ClassificationView,
  "text/custom_named_entity_recognition": texts.EntitiesView,
  "web/search": web.WebSearchView,
  "web/scraping": web.WebPageView,
  "web/map": web.SiteMapView,
  "web/crawl_async": web.WebPagesView,
  "web/batch_scrape_async": web.WebPagesView,
  "web/structured_extraction_async": web.ResearchView,
  "web/research_async": web.ResearchView,
  "ocr/ocr": boxes.OcrView,
  "ocr/ocr_async": boxes.OcrPagesView,
  "ocr/ocr_tables_async": TablesView,
  "ocr/financial_parser": documents.ParsedDocumentView,
  "ocr/identity_parser": documents.ParsedDocumentView,
  "ocr/resume_parser": documents.ParsedDocumentView,
  "ocr/anonymization_async": media.AnonymisedDocumentView,
  "ocr/bank_check_parsing": documents.ParsedDocumentView,
  "ocr/custom_document_parsing_async": boxes.DocumentQuestionsView,
  "ocr/data_extraction": boxes.DataExtractionView,
  "ocr/invoice_splitter_async": documents.SplitInvoicesView,
  "image/generation": images.PicturesView,
  "image/background_removal": images.CutOutView,
  "image/ai_detection": scores.AiImageView,
  "image/object_detection": boxes.ObjectsView,
  "image/face_detection": boxes.FacesView,
  "image/explicit_content": scores.ModerationView,
  "image/anonymization": images.ImageAnonymizationView,
  "image/deepfake_detection": scores.DeepfakeView,
  "image/face_compare": boxes.FaceCompareView,
  "image/logo_detection": boxes.LogosView,
  "image/face_recognition": scores.FaceRecognitionView,
  "image/landmark_detection": boxes.LandmarksView,
  "image/embeddings": scores.EmbeddingsView,
  "image/question_answer": texts.AnswersView,
  "image/variation": images.PicturesView,
  "translation/automatic_translation": texts.TranslationView,
  "translation/document_translation": media.TranslatedDocumentView,
  "translation/language_detection": scores.LanguageView,
  "audio/tts": media.SpeechView,
  "audio/speech_to_text_async": media.TranscriptView,
  "video/generation_async": media.VideoView,
  "video/deepfake_detection_async": media.VideoDeepfakeView,
  "video/explicit_content_detection_async": media.ExplicitVideoView,
  "video/label_detection_async": media.VideoLabelsView,
  "video/shot_change_detection_async": media.ShotsView,
  "video/text_detection_async": media.VideoTextView,
  "video/question_answer_async": texts.VideoAnswerView,
};

interface ResultOfTaskProps {
  readonly task: string;
  readonly input: ResultProps["input"];
  readonly output: Readonly<Record<string, unknown>>;
}

export function ResultOfTask({ task, input, output }: ResultOfTaskProps) {
  if (!Object.hasOwn(views, task)) return <DataList value={output} />;
  // The gateway has checked the output against the schema of this task.
  const View = views[task as TaskName] as ResultView<TaskName>;
  return (
    <FailedView key={task}>
      <View input={input} output={output as ResultProps["output"]} />
    </FailedView>
  );
}

/** A result that its view cannot show is still there as JSON. */
class FailedView extends Component<{ readonly children: ReactNode }, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return <p className="result-none">This result cannot be drawn. See “Raw”.</p>;
  }
}
