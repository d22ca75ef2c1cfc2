// Scores as bars, from 0 to 1.

import type { ReactNode } from "react";
import { formatPercent } from "../../../lib/format.ts";

export interface Score {
  readonly label: ReactNode;
  readonly note?: ReactNode;
  /** From 0 to 1; null: not stated. */
  readonly share: number | null;
  /** Instead of the percentage. */
  readonly shown?: string;
  readonly tone?: Tone;
}

export type Tone = "good" | "bad" | "neutral";

export function Scores({ label, scores }: { readonly label: string; readonly scores: readonly Score[] }) {
  if (scores.length === 0) return <p className="result-none">Nothing was found.</p>;
  return (
    <ul className="score-list" aria-label={label}>
      {scores.map(({ label: name, note, share, shown, tone = "neutral" }, index) => (
        // The list is not changed after it was drawn.
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <li key={index}>
          <span className="score-head">
            <span className="score-name">{name}</span>
            {note !== undefined && <span className="score-note">{note}</span>}
            <span className="score-value">{shown ?? formatPercent(share)}</span>
          </span>
          <span className="score-bar">
            <span data-tone={tone} style={{ width: `${Math.max(0, Math.min(1, share ?? 0)) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The one figure that answers the question, with its name. */
export function Verdict({
  title,
  tone,
  children,
}: {
  readonly title: string;
  readonly tone: Tone;
  readonly children?: ReactNode;
}) {
  return (
    <div className="verdict" data-tone={tone}>
      <strong>{title}</strong>
      {children !== undefined && <span>{children}</span>}
    </div>
  );
}
