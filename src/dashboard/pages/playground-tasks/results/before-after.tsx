// Two versions beside each other.

import type { ReactNode } from "react";

interface BeforeAfterProps {
  readonly before: ReactNode;
  readonly after: ReactNode;
  readonly titles?: readonly [string, string];
}

export function BeforeAfter({ before, after, titles = ["Before", "After"] }: BeforeAfterProps) {
  return (
    <div className="before-after">
      <section>
        <h3>{titles[0]}</h3>
        {before}
      </section>
      <section>
        <h3>{titles[1]}</h3>
        {after}
      </section>
    </div>
  );
}

export function PlainText({ text }: { readonly text: string }) {
  return <p className="result-text">{text}</p>;
}
