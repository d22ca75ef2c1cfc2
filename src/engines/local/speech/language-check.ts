// Refuses speech that is probably not English. The models know English only: of other languages they write nothing, or English words that were not said, but with
// a confidence that English speech rarely has.

import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";
import type { Transcript } from "./moonshine.ts";

interface LanguageCheck {
  /** The transcript of the next segment, of so many seconds. */
  add(transcript: Transcript, seconds: number): void;
  /** After the last segment. */
  end(): void;
}

/**
 * The least confidence of English, by model, as the geometric mean of the token probabilities. Chosen on synthetic speech of forty languages and of English,
 * with and without noise: see docs/local-engines.md.
 */
const leastConfidence: Readonly<Record<string, number>> = { "moonshine-base": 0.65, "moonshine-tiny": 0.64 };
/** A recording of two hours is refused after its first minute. */
const checkedSeconds = 60;

/** If the caller states the language, it is not questioned. */
export function createLanguageCheck(model: string, stated: string | null | undefined): LanguageCheck {
  const least = stated ? 0 : (lookUp(leastConfidence, model) ?? 0);
  let [logSum, tokens, seconds] = [0, 0, 0];
  let isDone = false;

  function end(): void {
    if (isDone || tokens === 0) return;
    isDone = true;
    const confidence = Math.exp(logSum / tokens);
    if (confidence >= least) return;
    const msg = `This is probably not English, or too noisy: its words have a confidence of ${confidence.toFixed(2)} only. The local engine understands English only. If it is English all the same, say so in language.`;
    refuseInput("language", msg);
  }

  return {
    add({ confidence, tokens: count }, length) {
      seconds += length;
      if (confidence !== null) [logSum, tokens] = [logSum + Math.log(confidence) * count, tokens + count];
      if (seconds >= checkedSeconds) end();
    },
    end,
  };
}
