// What a model thought before its answer, apart from the answer.

import { useState } from "react";
import { IconBrain } from "../icons.ts";

/** `isOpen`: until the person decides. */
export function Reasoning({ text, isOpen }: { readonly text: string; readonly isOpen: boolean }) {
  const [isChosen, setChosen] = useState<boolean | null>(null);
  const isShown = isChosen ?? isOpen;
  return (
    <div className="reasoning">
      <button type="button" aria-expanded={isShown} onClick={() => setChosen(!isShown)}>
        <IconBrain size={14} /> Reasoning
      </button>
      {isShown && <div className="reasoning-text">{text}</div>}
    </div>
  );
}
