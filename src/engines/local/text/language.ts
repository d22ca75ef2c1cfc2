// Detects the language of a text.

import { lookUp } from "../../../lib/look-up.ts";
import { fastTextPackage, loadFastText } from "./fast-text.ts";

export interface DetectedLanguage {
  /** BCP-47 */
  readonly tag: string;
  readonly confidence: number;
}

/** The most probable language first. Empty if the text has no letters. */
export type DetectLanguages = (text: string) => readonly DetectedLanguage[];

/** Labels of the model that are names of Wikipedia editions and not valid language tags. */
const tagsByLabel: Readonly<Record<string, string>> = { als: "gsw", bh: "bho", eml: "egl" };
const maxLanguages = 8;
// With fewer letters, detection is unreliable.
const minLetters = 24;
const minConfidence = 0.7;

export async function loadLanguageDetector(): Promise<DetectLanguages> {
  const classify = await loadFastText(fastTextPackage, "dist/models/language-identification/assets/lid.176.ftz");
  return (text) => {
    if (!/\p{L}/u.test(text)) return [];
    const labels = classify(text, maxLanguages);
    return labels.map(({ name, probability }) => ({ tag: lookUp(tagsByLabel, name) ?? name, confidence: probability }));
  };
}

/** The language that the caller states, otherwise the detected one; null if the detection is not reliable. */
export function findLanguage(stated: unknown, text: string, detect: DetectLanguages): string | null {
  if (typeof stated === "string" && stated !== "" && stated.toLowerCase() !== "auto") return stated;
  if ((text.match(/\p{L}/gu)?.length ?? 0) < minLetters) return null;
  const [best] = detect(text);
  return best !== undefined && best.confidence >= minConfidence ? best.tag : null;
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
