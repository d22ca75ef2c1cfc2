// Names with amounts, drawn as bars: the largest first.

import type { ReactNode } from "react";
import { Link } from "react-router";
import { formatPercent } from "../lib/format.ts";

export interface Bar {
  readonly id: string;
  readonly name: ReactNode;
  /** Null: not known. */
  readonly amount: number | null;
  readonly shown: string;
  /** Where a click leads. */
  readonly to?: string | undefined;
}

export function BarList({ bars, total }: { readonly bars: readonly Bar[]; readonly total?: number }) {
  const highest = Math.max(...bars.map(({ amount }) => amount ?? 0), 0) || 1;
  return (
    <ol className="bar-list">
      {bars.map(({ id, name, amount, shown, to }) => {
        const content = (
          <>
            <span className="bar-fill" style={{ width: `${((amount ?? 0) / highest) * 100}%` }} />
            <span className="bar-name truncate">{name}</span>
            <span className="bar-value">
              {shown}
              {total !== undefined && total > 0 && amount !== null && (
                <span className="bar-share">{formatPercent(amount / total)}</span>
              )}
            </span>
          </>
        );
        return (
          <li key={id}>
            {to === undefined ? (
              <div className="bar-row">{content}</div>
            ) : (
              <Link className="bar-row" to={to}>
                {content}
              </Link>
            )}
          </li>
        );
      })}
    </ol>
  );
}
