// Splits a text into windows of bounded length, for libraries that take more than linear time.

import type { Span } from "./sentences.ts";

/** Longer than ordinary sentences, so matches across the end of a window are lost only in unusually long ones. */
const defaultMaxCharacters = 2_000;
/** Longer than any word and nearly any URL. A longer run without a space is split at this length. */
const maxRun = 256;

/** The windows cover the whole text, in order. It is split after a sentence if possible, otherwise at a space, otherwise anywhere. */
export function splitWindows(text: string, maxCharacters = defaultMaxCharacters): Span[] {
  const windows: Span[] = [];
  let start = 0;
  let runStart = 0;
  let afterSpace = 0;
  let afterSentence = 0;
  const close = (end: number) => {
    windows.push({ text: text.slice(start, end), start });
    start = end;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      runStart = afterSpace = at + 1;
      if (code === newline || isSentenceEnd(text.charCodeAt(at - 1))) afterSentence = at + 1;
    } else if (at - runStart >= maxRun && !isSecondOfPair(code)) {
      close(at);
      runStart = at;
    }
    if (at + 1 - start < maxCharacters) continue;
    if (afterSentence - start > maxCharacters / 2) close(afterSentence);
    else if (afterSpace > start) close(afterSpace);
    else close(isSecondOfPair(text.charCodeAt(at + 1)) ? at : at + 1);
  }
  if (start < text.length) close(text.length);
  return windows;
}

const newline = 10;

function isSpace(code: number): boolean {
  return (
    code === 32 ||
    (code >= 9 && code <= 13) ||
    code === 0xa0 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028
  );
}

function isSentenceEnd(code: number): boolean {
  return code === 0x2e || code === 0x21 || code === 0x3f;
}

function isSecondOfPair(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
