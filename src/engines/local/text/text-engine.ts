// The common part of engines that read one text: they check its language and length, and count its characters.

import { refuseInput } from "../../../providers/task.ts";
import type { LocalAnswer, LocalCall, LocalEngine } from "../local-engine.ts";
import { fastTextPackage } from "./fast-text.ts";
import { findLanguage, isEnglish, loadLanguageDetector, nameOf } from "./language.ts";

export interface TextEngine extends Omit<LocalEngine, "load"> {
  /** Default: 2,000,000, for which the fastest engines need about ten seconds. */
  readonly maxCharacters?: number;
  /** A verb for the sentence "The local engine … English only". Absent: the engine accepts every language. */
  readonly englishOnly?: string;
  load(): Promise<RunText>;
}

/** The text is well-formed Unicode. The characters of the text are added to the units of the answer. */
export type RunText = (text: string, call: LocalCall) => TextAnswer | Promise<TextAnswer>;

type TextAnswer = Omit<LocalAnswer, "units"> & Partial<Pick<LocalAnswer, "units">>;

export function createTextEngine(engine: TextEngine): LocalEngine {
  const { englishOnly, maxCharacters = 2_000_000, packages, load, ...facts } = engine;
  return {
    lane: "light",
    ...facts,
    packages: englishOnly === undefined ? packages : [...new Set([...packages, fastTextPackage])],
    async load() {
      const detect = englishOnly === undefined ? null : await loadLanguageDetector();
      const run = await load();
      return async (call) => {
        const text = String(call.input["text"]).toWellFormed();
        const language = detect === null ? null : findLanguage(call.input["language"], text, detect);
        // The result for another language would be wrong without looking wrong.
        if (language !== null && !isEnglish(language)) {
          const msg = `The local engine ${englishOnly} English only, and this is ${nameOf(language)}. If it is English all the same, say so in language.`;
          refuseInput("language", msg);
        }
        if (text.length > maxCharacters) {
          const msg = `The local engine accepts at most ${maxCharacters.toLocaleString("en")} characters, but the text has ${text.length.toLocaleString("en")}. Split the text.`;
          refuseInput("text", msg, "string_too_long");
        }
        const answer = await run(text, call);
        return { ...answer, units: { char: text.length, ...answer.units } };
      };
    },
  };
}
