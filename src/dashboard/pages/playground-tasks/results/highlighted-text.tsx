// A text in which what was found is marked, with a legend of the categories.

import { type Span, toSegments } from "./segments.ts";

const colorCount = 7;

interface HighlightedTextProps {
  readonly text: string;
  readonly spans: readonly Span[];
  /** With a legend, and the category beside each mark if there are several. */
  readonly showsCategory?: boolean;
}

export function HighlightedText({ text, spans, showsCategory = true }: HighlightedTextProps) {
  const counts = new Map<string, number>();
  for (const { category } of spans) counts.set(category, (counts.get(category) ?? 0) + 1);
  const categories = [...counts.keys()];
  const colorOf = (category: string) => (categories.indexOf(category) % colorCount) + 1;
  return (
    <div>
      {showsCategory && categories.length > 0 && (
        <ul className="entity-legend">
          {categories.map((category) => (
            <li key={category} data-color={colorOf(category)}>
              <span className="entity-dot" />
              {category}
              <span className="entity-count">{counts.get(category)}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="result-text">
        {toSegments(text, spans).map(({ start, text: part, span }) =>
          span === null ? (
            <span key={start}>{part}</span>
          ) : (
            <mark
              key={start}
              className="entity"
              data-color={colorOf(span.category)}
              title={span.detail ?? span.category}
            >
              {part}
              {showsCategory && categories.length > 1 && <span className="entity-tag">{span.category}</span>}
            </mark>
          ),
        )}
      </p>
    </div>
  );
}
