// Detects the language of a text, and rejects languages that an engine does not support.

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

/** Labels of the model that are names of Wikipedia editions and not valid language tags. */
const tagOf: Readonly<Record<string, string>> = { als: "gsw", bh: "bho", eml: "egl" };
const considered = 5;
const anyLetter = /\p{L}/u;
const letters = /\p{L}/gu;
// With fewer letters, detection is unreliable, so the text is not rejected.
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

/** The caller's language, otherwise the detected one; null if the text is too short to detect it. */
export function languageOf(input: JsonObject, detect: DetectLanguages): string | null {
  const named = input["language"];
  if (typeof named === "string" && named !== "" && named.toLowerCase() !== "auto") return named;
  const text = textOf(input);
  if ((text.match(letters)?.length ?? 0) < lettersToBeSure) return null;
  const [best] = detect(text);
  return best !== undefined && best.confidence >= sure ? best.tag : null;
}

/** Rejects a text in another language, because its wrong result would look right. */
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

/** The English name of a language, or its tag if the language has no English name. */
export function nameOf(tag: string): string {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** The schema requires it. */
export function textOf(input: JsonObject): string {
  const text = input["text"];
  return typeof text === "string" ? text.toWellFormed() : "";
}
