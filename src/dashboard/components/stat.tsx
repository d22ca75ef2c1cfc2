// One figure with its name, how it changed, and its course.

import type { ReactNode } from "react";
import { drawSparkline, sparklineSize } from "../lib/draw-sparkline.ts";
import { formatPercent } from "../lib/format.ts";

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** The figure of the period before, in the same unit as `amount`. */
  readonly change?: {
    readonly amount: number | null;
    readonly before: number | null;
    readonly isGoodWhen: "up" | "down" | "neither";
  };
  /** Null: there is no figure for this time, so the line has a gap. */
  readonly course?: readonly (number | null)[];
}

export function Stat({ label, value, note, change, course }: StatProps) {
  return (
    <div className="stat">
      <span className="stat-label">{label}</span>
      <span className="stat-value numeric">{value}</span>
      <span className="stat-note">
        {change !== undefined && <Trend {...change} />}
        {note !== undefined && <span>{note}</span>}
      </span>
      {course !== undefined && course.length > 1 && <Sparkline values={course} />}
    </div>
  );
}

function Trend({ amount, before, isGoodWhen }: NonNullable<StatProps["change"]>) {
  if (amount === null || before === null || before === 0) return null;
  const change = amount / before - 1;
  if (Math.abs(change) < 0.001) return <span>no change</span>;
  const direction = change > 0 ? "up" : "down";
  const className = isGoodWhen === "neither" ? undefined : isGoodWhen === direction ? "trend-good" : "trend-bad";
  return (
    <span className={className}>
      <span aria-hidden="true">{change > 0 ? "↑" : "↓"}</span>
      <span className="visually-hidden">{change > 0 ? "up" : "down"}</span> {formatPercent(Math.abs(change))}
    </span>
  );
}

/** Decoration: the same values are in the charts of the page. */
function Sparkline({ values }: { readonly values: readonly (number | null)[] }) {
  const { width, height } = sparklineSize;
  const { line, area } = drawSparkline(values);
  return (
    <svg className="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={area} fill="var(--accent-soft)" />
      <path
        d={line}
        fill="none"
        stroke="var(--accent)"
        strokeWidth="1.6"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
