// JSON as people read it, or a text as it is, with a button that copies it. What callers and providers wrote is never markup.

import { Button } from "@mantine/core";
import { useState } from "react";
import { CopyButton } from "./copy-button.tsx";

// More would make the browser slow; the whole text can be copied.
const maxShown = 20_000;

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  const isLong = text.length > maxShown;
  return (
    <div className="json-view">
      <div className="json-view-copy">
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {/* A part that scrolls has to be reachable with the keyboard. */}
      <pre className="code-block" tabIndex={0} aria-label={label} role="region">
        {isLong && !isWhole ? `${text.slice(0, maxShown)} …` : text}
      </pre>
      {isLong && !isWhole && (
        <Button variant="subtle" size="xs" mt={6} onClick={() => setWhole(true)}>
          Show all {Math.round(text.length / 1_000)} KB
        </Button>
      )}
    </div>
  );
}
