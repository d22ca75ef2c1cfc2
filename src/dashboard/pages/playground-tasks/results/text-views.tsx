// Results about a text: what was found in it is marked in it.

import { BeforeAfter, PlainText } from "./before-after.tsx";
import { HighlightedText } from "./highlighted-text.tsx";
import { Scores } from "./scores.tsx";
import { createOffsets, findAll, type Span } from "./segments.ts";
import { type ResultProps, textOf } from "./view.ts";

/** Entities are named by their text, so every occurrence is marked. */
export function EntitiesView({
  input,
  output,
}: ResultProps<"text/named_entity_recognition" | "text/custom_named_entity_recognition">) {
  const text = textOf(input);
  const items: readonly { entity: string; category: string | null }[] = output.items ?? [];
  const spans = items.flatMap(({ entity, category }) =>
    findAll(text, entity).map((place) => ({ ...place, category: category ?? "Other" })),
  );
  return items.length === 0 ? (
    <p className="result-none">No entities were found.</p>
  ) : (
    <HighlightedText text={text} spans={spans} />
  );
}

export function KeywordsView({ input, output }: ResultProps<"text/keyword_extraction">) {
  const text = textOf(input);
  const items = output.items ?? [];
  const spans = items.flatMap(({ keyword }) =>
    findAll(text, keyword).map((place) => ({ ...place, category: "Keyword" })),
  );
  const highest = Math.max(...items.map(({ importance }) => importance ?? 0), 0) || 1;
  return (
    <div className="result-stack">
      <HighlightedText text={text} spans={spans} showsCategory={false} />
      <Scores
        label="Keywords"
        scores={items.map(({ keyword, importance }) => ({
          label: keyword,
          share: importance === null ? null : importance / Math.max(1, highest),
        }))}
      />
    </div>
  );
}

export function PersonalDataView({ input, output }: ResultProps<"text/anonymization">) {
  const text = textOf(input);
  const toUnits = createOffsets(text);
  const spans = (output.entities ?? []).map(
    ({ offset, length, subcategory, content, confidence_score }): Span => ({
      start: toUnits(offset),
      end: toUnits(offset + length),
      category: subcategory,
      detail: confidence_score === null ? content : `${content}, confidence ${confidence_score}`,
    }),
  );
  return (
    <BeforeAfter
      before={<HighlightedText text={text} spans={spans} />}
      after={<PlainText text={output.result} />}
      titles={["Found", "Anonymised"]}
    />
  );
}

export function EntitySentimentView({ input, output }: ResultProps<"text/entity_sentiment">) {
  const text = textOf(input);
  const toUnits = createOffsets(text);
  const spans = output.items.flatMap(({ text: entity, type, sentiment, begin_offset, end_offset }) => {
    const places =
      begin_offset == null || end_offset == null
        ? findAll(text, entity)
        : [{ start: toUnits(begin_offset), end: toUnits(end_offset) }];
    return places.map((place) => ({ ...place, category: sentiment, detail: type }));
  });
  return <HighlightedText text={text} spans={spans} />;
}

export function SpellingView({ input, output }: ResultProps<"text/spell_check">) {
  const text = output.text === "" ? textOf(input) : output.text;
  const toUnits = createOffsets(text);
  const items = (output.items ?? []).map(({ offset, length, type, suggestions = [] }) => ({
    start: toUnits(offset),
    end: toUnits(offset + length),
    category: type ?? "Mistake",
    detail: suggestions.map(({ suggestion }) => suggestion).join(", "),
    suggestion: suggestions[0]?.suggestion ?? null,
  }));
  if (items.length === 0) return <p className="result-none">No mistakes were found.</p>;
  const corrections = items.flatMap(({ suggestion, ...span }) =>
    suggestion === null ? [] : [{ ...span, suggestion }],
  );
  const { corrected, spans } = correct(text, corrections);
  return (
    <BeforeAfter
      before={<HighlightedText text={text} spans={items} />}
      after={<HighlightedText text={corrected} spans={spans} showsCategory={false} />}
      titles={["Mistakes", "With the first suggestions"]}
    />
  );
}

/** Where suggestions overlap, the first one is taken. */
function correct(text: string, corrections: readonly (Span & { readonly suggestion: string })[]) {
  let corrected = "";
  let at = 0;
  const spans: Span[] = [];
  for (const { start, end, suggestion } of corrections.toSorted((one, other) => one.start - other.start)) {
    if (start < at) continue;
    corrected += text.slice(at, start);
    spans.push({
      start: corrected.length,
      end: corrected.length + suggestion.length,
      category: "Correction",
      detail: text.slice(start, end),
    });
    corrected += suggestion;
    at = end;
  }
  return { corrected: corrected + text.slice(at), spans };
}

export function TranslationView({ input, output }: ResultProps<"translation/automatic_translation">) {
  const target = textOf(input, "target_language");
  return (
    <BeforeAfter
      before={<PlainText text={textOf(input)} />}
      after={<PlainText text={output.text} />}
      titles={["Original", target === "" ? "Translation" : `Translation (${target})`]}
    />
  );
}

export function SummaryView({ input, output }: ResultProps<"text/summarize">) {
  return (
    <BeforeAfter
      before={<PlainText text={textOf(input)} />}
      after={<PlainText text={output.result} />}
      titles={["Text", "Summary"]}
    />
  );
}

export function AnswersView({ output }: ResultProps<"text/question_answer" | "image/question_answer">) {
  const answers: readonly string[] = output.answers ?? [];
  if (answers.length === 0) return <p className="result-none">There is no answer.</p>;
  return (
    <div className="result-stack">
      {answers.map((answer) => (
        <PlainText key={answer} text={answer} />
      ))}
    </div>
  );
}

export function VideoAnswerView({ output }: ResultProps<"video/question_answer_async">) {
  return <PlainText text={output.answer} />;
}

export function SyntaxView({ output }: ResultProps<"text/syntax_analysis">) {
  return (
    <ol className="syntax-words" aria-label="Words">
      {(output.items ?? []).map(({ word, tag, lemma }, index) => (
        // A word may occur several times.
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <li key={index} title={lemma ?? undefined}>
          <span>{word}</span>
          <span className="syntax-tag">{tag}</span>
        </li>
      ))}
    </ol>
  );
}
