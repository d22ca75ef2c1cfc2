// How much of an amount is used up.

import type { ReactNode } from "react";

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly of: number;
  /** Above the bar: at the left what is used, at the right what is left. */
  readonly left?: ReactNode;
  readonly right?: ReactNode;
}

const warningShare = 0.8;

export function Meter({ label, used, of, left, right }: MeterProps) {
  const share = of <= 0 ? 1 : Math.min(1, used / of);
  const level = share >= 1 ? "full" : share >= warningShare ? "warning" : "normal";
  return (
    <div>
      {(left !== undefined || right !== undefined) && (
        <div className="meter-text">
          <span>{left}</span>
          <span>{right}</span>
        </div>
      )}
      <div
        className="meter"
        role="meter"
        aria-label={label}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <div className="meter-fill" data-level={level} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
