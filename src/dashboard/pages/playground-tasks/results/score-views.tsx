// Results that are scores: how likely, how strong, which class.

import { formatPercent } from "../../../lib/format.ts";
import { type Score, Scores, type Tone, Verdict } from "./scores.tsx";
import { type ResultProps, textOf } from "./view.ts";

const likelyFrom = 0.5;
const toneOfSentiment: Readonly<Record<string, Tone>> = { Positive: "good", Negative: "bad" };

export function ModerationView({ output }: ResultProps<"text/moderation" | "image/explicit_content">) {
  const score = output.nsfw_likelihood_score;
  const items: readonly { label: string; category: string; likelihood_score: number }[] = output.items ?? [];
  const isFlagged = score >= likelyFrom;
  return (
    <Judged
      verdict={isFlagged ? "Likely unsafe" : "Likely safe"}
      tone={isFlagged ? "bad" : "good"}
      note={`highest likelihood ${formatPercent(score)}`}
      label="Likelihoods"
      scores={items
        .map(
          ({ label, category, likelihood_score }): Score => ({
            label,
            note: category,
            share: likelihood_score,
            tone: likelihood_score >= likelyFrom ? "bad" : "neutral",
          }),
        )
        .toSorted(byShare)}
    />
  );
}

function byShare(one: Score, other: Score): number {
  return (other.share ?? 0) - (one.share ?? 0);
}

export function SentimentView({ output }: ResultProps<"text/sentiment_analysis">) {
  const { general_sentiment: general, general_sentiment_rate: rate, items = [] } = output;
  return (
    <Judged
      verdict={general}
      tone={toneOfSentiment[general] ?? "neutral"}
      note={rate === null ? undefined : formatPercent(rate)}
      label="Sentences"
      scores={items.map(({ segment, sentiment, sentiment_rate }) => ({
        label: segment,
        note: sentiment,
        share: sentiment_rate,
        tone: toneOfSentiment[sentiment] ?? "neutral",
      }))}
    />
  );
}

export function EmotionView({ output }: ResultProps<"text/emotion_detection">) {
  const scores = (output.items ?? []).map(({ emotion, emotion_score }) => ({
    label: emotion,
    share: emotion_score / 100,
  }));
  return <Scores label="Emotions" scores={scores.toSorted(byShare)} />;
}

function toScore(label: string, share: number | null, note?: string): Score {
  return { label, share, note };
}

export function TopicsView({ output: { items = [] } }: ResultProps<"text/topic_extraction">) {
  return <Scores label="Topics" scores={items.map(({ category, importance }) => toScore(category, importance))} />;
}

export function LanguageView({ output: { items = [] } }: ResultProps<"translation/language_detection">) {
  const scores = items.map(({ language, display_name, confidence }) => toScore(display_name, confidence, language));
  return <Scores label="Languages" scores={scores} />;
}

export function ClassificationView({ output: { classifications = [] } }: ResultProps<"text/custom_classification">) {
  const scores = classifications.map(({ input, label, confidence }) => toScore(input, confidence, label));
  return <Scores label="Labels" scores={scores} />;
}

export function SearchView({ input, output }: ResultProps<"text/search">) {
  const texts = Array.isArray(input["texts"]) ? (input["texts"] as readonly unknown[]) : [];
  const scores = (output.items ?? []).map(({ document, score }) => ({
    label: String(texts[document] ?? `Text ${document + 1}`),
    share: score,
    shown: score.toFixed(3),
  }));
  return <Scores label={`Results for ${textOf(input, "query")}`} scores={scores} />;
}

export function AiTextView({ output }: ResultProps<"text/ai_detection">) {
  const { ai_score, items = [] } = output;
  const isLikely = ai_score > likelyFrom;
  return (
    <Judged
      verdict={isLikely ? "Likely written by a machine" : "Likely written by a person"}
      tone={isLikely ? "bad" : "good"}
      note={`score ${formatPercent(ai_score)}`}
      label="Passages"
      scores={items.map(({ text, ai_score: share }) => ({
        label: text,
        share,
        tone: share > likelyFrom ? "bad" : "neutral",
      }))}
    />
  );
}

export function AiImageView({ output: { prediction, ai_score } }: ResultProps<"image/ai_detection">) {
  return <Prediction title={prediction} isBad={prediction === "ai-generated"} score={ai_score} />;
}

export function DeepfakeView({ output: { prediction, deepfake_score } }: ResultProps<"image/deepfake_detection">) {
  return <Prediction title={prediction} isBad={prediction === "deepfake"} score={deepfake_score} />;
}

interface PredictionProps {
  readonly title: string;
  readonly isBad: boolean;
  readonly score: number;
}

function Prediction({ title, isBad, score }: PredictionProps) {
  return (
    <Judged
      verdict={title}
      tone={isBad ? "bad" : "good"}
      note={`score ${formatPercent(score)}`}
      label="Score"
      scores={[{ label: "Score", share: score, tone: isBad ? "bad" : "neutral" }]}
    />
  );
}

export function PlagiarismView({ output }: ResultProps<"text/plagia_detection">) {
  const isLikely = output.plagia_score > likelyFrom;
  const candidates = (output.items ?? []).flatMap(({ candidates: found = [] }) => found);
  return (
    <Judged
      verdict={isLikely ? "Likely copied" : "Likely original"}
      tone={isLikely ? "bad" : "good"}
      note={`score ${formatPercent(output.plagia_score)}`}
      label="Sources"
      scores={candidates.map(({ url, plagiarized_text, plagia_score }) => ({
        label: plagiarized_text,
        note: url,
        share: plagia_score,
      }))}
    />
  );
}

interface JudgedProps {
  readonly verdict: string;
  readonly tone: Tone;
  readonly note: string | undefined;
  readonly label: string;
  readonly scores: readonly Score[];
}

/** The verdict on the whole, above the scores of its parts. */
function Judged({ verdict, tone, note, label, scores }: JudgedProps) {
  return (
    <div className="result-stack">
      <Verdict title={verdict} tone={tone}>
        {note}
      </Verdict>
      <Scores label={label} scores={scores} />
    </div>
  );
}

export function FaceRecognitionView({ output: { items = [] } }: ResultProps<"image/face_recognition">) {
  return <Scores label="Faces" scores={items.map(({ face_id, confidence }) => toScore(face_id, confidence))} />;
}

export function EmbeddingsView({ output }: ResultProps<"text/embeddings" | "image/embeddings">) {
  const items: readonly { embedding: readonly number[] }[] = output.items ?? [];
  return (
    <div className="result-stack">
      {items.map(({ embedding }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: vectors have no name but their place
        <section key={index}>
          <h3>
            Vector {index + 1}, {embedding.length} dimensions
          </h3>
          <VectorStrip values={embedding} />
          <code className="wrap-anywhere">
            {embedding
              .slice(0, 8)
              .map((value) => value.toFixed(4))
              .join(", ")}
            {embedding.length > 8 && ", …"}
          </code>
        </section>
      ))}
      {items.length > 1 && (
        <Scores
          label="Similarity to the first text"
          scores={items.slice(1).map(({ embedding }, index) => {
            const share = cosine(items[0]?.embedding ?? [], embedding);
            return { label: `Vector 1 and ${index + 2}`, note: "cosine similarity", share, shown: share.toFixed(3) };
          })}
        />
      )}
    </div>
  );
}

const stripValues = 192;

/** Decoration: the numbers are below it. */
function VectorStrip({ values }: { readonly values: readonly number[] }) {
  const shown = values.slice(0, stripValues);
  const highest = Math.max(...shown.map(Math.abs), 0) || 1;
  return (
    <svg className="vector-strip" viewBox={`0 0 ${shown.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {shown.map((value, index) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: numbers have no name but their place
          key={index}
          x={index}
          y={0}
          width={1.02}
          height={1}
          fill={value < 0 ? "var(--series-3)" : "var(--series-1)"}
          opacity={Math.abs(value) / highest}
        />
      ))}
    </svg>
  );
}

function cosine(one: readonly number[], other: readonly number[]): number {
  let product = 0;
  let first = 0;
  let second = 0;
  for (const [index, value] of one.entries()) {
    const pair = other[index] ?? 0;
    product += value * pair;
    first += value * value;
    second += pair * pair;
  }
  return product / (Math.sqrt(first * second) || 1);
}
