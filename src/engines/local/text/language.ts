// Which language a text is in, and the refusal of those that an engine does not know.

import { ValidationError } from "../../../errors.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { fastTextPackage, loadFastText } from "./fast-text.ts";

export interface DetectedLanguage {
  /** BCP-47 */
  readonly tag: string;
  readonly confidence: number;
}

export type DetectLanguages = (text: string) => readonly DetectedLanguage[];

/** Labels of the model that are names of Wikipedias and mean something else, or nothing, as language tags. */
const tagOf: Readonly<Record<string, string>> = { als: "gsw", bh: "bho", eml: "egl" };
const considered = 5;
const anyLetter = /\p{L}/u;
const letters = /\p{L}/gu;
// Detection of fewer letters is a guess, and a guess is no reason to refuse a text.
const lettersToBeSure = 24;
const sure = 0.7;

export async function loadLanguageDetector(): Promise<DetectLanguages> {
  const classify = await loadFastText(fastTextPackage, "dist/models/language-identification/assets/lid.176.ftz");
  return (text) => {
    if (!anyLetter.test(text)) return [];
    return classify(text, considered).map(({ name, probability }) => ({
      tag: lookUp(tagOf, name) ?? name,
      confidence: probability,
    }));
  };
}

/** The language that the caller named, else the one that is found; null: too little text to tell. */
export function languageOf(input: JsonObject, detect: DetectLanguages): string | null {
  const named = input["language"];
  if (typeof named === "string" && named !== "" && named.toLowerCase() !== "auto") return named;
  const text = textOf(input);
  if ((text.match(letters)?.length ?? 0) < lettersToBeSure) return null;
  const [best] = detect(text);
  return best !== undefined && best.confidence >= sure ? best.tag : null;
}

/** Refuses a text that is known to be in another language: a wrong answer would look like a right one. */
export function refuseUnlessEnglish(input: JsonObject, detect: DetectLanguages, does: string): void {
  const language = languageOf(input, detect);
  if (language === null || isEnglish(language)) return;
  throw new ValidationError([
    {
      loc: ["body", "input", "language"],
      msg: `The local engine ${does} English only, and this is ${nameOf(language)}. If it is English all the same, say so in language.`,
      type: "value_error",
    },
  ]);
}

export function isEnglish(tag: string): boolean {
  return /^en(?:g|glish)?(?:[-_]|$)/i.test(tag);
}

/** In English; the tag itself when nobody has a name for it. */
export function nameOf(tag: string): string {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The schema makes sure that there is one. */
export function textOf(input: JsonObject): string {
  const text = input["text"];
  return typeof text === "string" ? text.toWellFormed() : "";
}
