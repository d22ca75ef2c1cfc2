// The common part of engines that read one text: they check its language and length, and count its characters.

import type { TaskDraft, TaskInput, TaskName } from "../../../contract/tasks.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { refuseInput } from "../../../providers/task.ts";
import type { AnswerOf, EngineOf, LocalAnswer, LocalCall, LocalEngine } from "../local-engine.ts";
import { fastTextPackage } from "./fast-text.ts";
import { findLanguage, isEnglish, loadLanguageDetector, nameOf } from "./language.ts";

interface TextEngine<Name extends TaskName = TaskName, Output = JsonObject> extends EngineOf<Name> {
  /** Default: 2,000,000, for which the fastest engines need about ten seconds. */
  readonly maxCharacters?: number;
  /** A verb for the sentence "The local engine … English only". Absent: the engine accepts every language. */
  readonly englishOnly?: string;
  /** The text that is passed to the returned function is well-formed Unicode. */
  load(): Promise<
    (text: string, call: LocalCall<TaskInput<Name>>) => TextAnswer<Name, Output> | Promise<TextAnswer<Name, Output>>
  >;
}

/** The characters of the text are added to the units. */
type TextAnswer<Name extends TaskName, Output> = Omit<AnswerOf<Name, Output>, "units"> &
  Partial<Pick<LocalAnswer, "units">>;

export function createTextEngine<const Name extends TaskName, Output extends TaskDraft<Name>>(
  engine: TextEngine<Name, Output>,
): LocalEngine {
  // The gateway validates the input against the schema from which its type was generated.
  const { englishOnly, maxCharacters = 2_000_000, packages, load, ...facts } = engine as unknown as TextEngine;
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
