// Speech that is probably not English is refused. Transcripts as the models write them; the real models are in local-speech.full.test.ts.

import { describe, expect, test } from "bun:test";
import { createLanguageCheck } from "../../src/engines/local/speech/language-check.ts";
import { ValidationError } from "../../src/errors.ts";

const sure = { text: "The train leaves at nine.", confidence: 0.93, tokens: 8 };
const unsure = { text: "The high sun embuers the star.", confidence: 0.39, tokens: 8 };
const nothing = { text: "", confidence: null, tokens: 0 };

function problemOf(work: () => void) {
  try {
    work();
  } catch (error) {
    if (error instanceof ValidationError) return error.problems[0];
    throw error;
  }
  return null;
}

describe("the language of speech", () => {
  test("is refused after the recording if the words are uncertain, with the member that overrules it", () => {
    const check = createLanguageCheck("moonshine-base", null);
    check.add(unsure, 4);
    expect(problemOf(check.end)).toMatchObject({ loc: ["body", "input", "language"] });
    expect(problemOf(check.end)).toBeNull();
  });

  test("is refused after a minute of a long recording", () => {
    const check = createLanguageCheck("moonshine-tiny", "");
    check.add(unsure, 29);
    expect(problemOf(() => check.add(unsure, 31))?.msg).toContain("probably not English");
  });

  test("is not questioned if the caller states it", () => {
    const check = createLanguageCheck("moonshine-base", "en-GB");
    check.add(unsure, 90);
    expect(problemOf(check.end)).toBeNull();
  });

  test("is English if most of the words are certain, and unknown if there are none", () => {
    const check = createLanguageCheck("moonshine-base", null);
    for (const transcript of [sure, nothing, sure, unsure, sure, sure]) check.add(transcript, 5);
    expect(problemOf(check.end)).toBeNull();
    const silence = createLanguageCheck("moonshine-base", null);
    silence.add(nothing, 90);
    expect(problemOf(silence.end)).toBeNull();
  });
});
