// One figure of an answer, with its name.

import type { ReactNode } from "react";

interface FigureProps {
  readonly name: string;
  readonly value: ReactNode;
  /** Shown when one points at it. */
  readonly note?: string | undefined;
}

export function Figure({ name, value, note }: FigureProps) {
  return (
    <div className="figure" title={note}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
