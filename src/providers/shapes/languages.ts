// Language codes and names, and the tasks that depend on them.

import type { JsonObject } from "../dialect.ts";
import { asObject, asText } from "../lenient.ts";
import type { ProviderTaskCall, ResultOf, TaskCall, TaskRequest, TaskResponse } from "../task.ts";
import { textUnits } from "./inputs.ts";
import { requireValue } from "./require-value.ts";

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** `English` for `en`; a code that names no language is returned unchanged. */
export function nameLanguage(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

/** `en` for `en-US`. */
export function baseLanguage(code: string): string {
  return code.split(/[-_]/, 1)[0]?.toLowerCase() ?? code;
}

/** BCP-47: `en` for `en`, `eng` and `EN`; null for any other value. */
export function asLanguage(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  try {
    return Intl.getCanonicalLocales(value.trim().replaceAll("_", "-"))[0] ?? null;
  } catch {
    return null;
  }
}

/** The result of `translation/automatic_translation`. */
export function toTranslation(
  text: unknown,
  call: TaskCall<{ text: string }>,
): ResultOf<"translation/automatic_translation"> {
  return { output: { text: requireValue(asText(text), "translation") }, units: textUnits(call) };
}

export interface FoundLanguage {
  readonly code: string;
  readonly score: number | null;
  /** The vendor's own name of the language. */
  readonly name?: string | null;
}

/** The result of `translation/language_detection`. */
export function toLanguages(
  found: readonly FoundLanguage[],
  call: TaskCall<{ text: string }>,
): ResultOf<"translation/language_detection"> {
  const items = found.map(({ code: language, score: confidence, name }) => {
    return { language, display_name: name ?? nameLanguage(language), confidence };
  });
  return { output: { items }, units: textUnits(call) };
}

export type TextCall = ProviderTaskCall<{ text: string; language: string | null }>;

interface LanguageSteps {
  toDetection(call: TextCall): TaskRequest;
  /** The language that an answer to the detection names, or null if it names none. Undefined: the answer is to the analysis. */
  readDetection(response: JsonObject): string | null | undefined;
  toAnalysis(call: TextCall, language: string | null): TaskRequest;
  toOutput(response: JsonObject, call: TextCall): JsonObject;
}

/** For vendors that need a language: when the caller names none, a first request detects it. That request is billed as well. */
export function withLanguage({ toDetection, readDetection, toAnalysis, toOutput }: LanguageSteps) {
  return {
    toRequest: (call: TextCall) =>
      call.input.language
        ? { ...toAnalysis(call, call.input.language), acceptsProviderParams: true }
        : { ...toDetection(call), acceptsProviderParams: false },
    next: ({ json }: TaskResponse, call: TextCall) => {
      const language = readDetection(asObject(json));
      return language === undefined ? null : { ...toAnalysis(call, language), acceptsProviderParams: true };
    },
    fromResponse: ({ json }: TaskResponse, call: TextCall) => ({
      output: toOutput(asObject(json), call),
      units: textUnits(call, call.input.language ? 1 : 2),
    }),
  };
}
