// One name and the places that it leads to, drawn as lines from left to right: in order, or with the width of their share.

import type { ReactNode } from "react";

export interface Branch {
  readonly id: string;
  readonly content: ReactNode;
  /** Null: the branches are tried in their order. */
  readonly share: number | null;
  readonly isReady: boolean;
}

interface DiagramProps {
  /** What the drawing shows, for screen readers. */
  readonly label: string;
  readonly from: ReactNode;
  readonly branches: readonly Branch[];
}

const rowHeight = 52;
const width = 80;
const widestLine = 9;

export function Diagram({ label, from, branches }: DiagramProps) {
  const height = branches.length * rowHeight;
  return (
    <div className="diagram">
      <div className="diagram-node diagram-source">{from}</div>
      <svg
        className="diagram-lines"
        viewBox={`0 0 ${width} ${height}`}
        style={{ height }}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {branches.map(({ id, share, isReady }, index) => (
          <path
            key={id}
            d={toCurve(height / 2, index * rowHeight + rowHeight / 2)}
            strokeWidth={share === null ? 1.8 : Math.max(1.4, share * widestLine)}
            data-ready={isReady}
            data-later={share === null && index > 0}
          />
        ))}
      </svg>
      <ol className="diagram-branches" aria-label={label}>
        {branches.map(({ id, content, share, isReady }, index) => (
          <li key={id} style={{ height: rowHeight }}>
            <div className="diagram-node" data-ready={isReady}>
              {share !== null && <span className="diagram-order numeric">{Math.round(share * 100)} %</span>}
              {share === null && branches.length > 1 && <span className="diagram-order numeric">{index + 1}</span>}
              {content}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function toCurve(fromY: number, toY: number): string {
  return `M0 ${fromY} C ${width / 2} ${fromY}, ${width / 2} ${toY}, ${width} ${toY}`;
}
