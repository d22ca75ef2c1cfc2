// Language codes and names, and the tasks that depend on them.

import type { JsonObject } from "../dialect.ts";
import { asObject } from "../lenient.ts";
import type { ProviderTask, TaskCall, TaskRequest, TaskResult } from "../task.ts";
import { languageOf, textUnits } from "./inputs.ts";

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
export function toTranslation(text: unknown, call: TaskCall): TaskResult {
  if (typeof text !== "string" || text === "") throw new TypeError("there is no translation in the answer");
  return { output: { text }, units: textUnits(call) };
}

/** The result of `translation/language_detection`. `name`: the vendor's own name of the language. */
export function toLanguages(
  found: readonly { readonly code: string; readonly score: number | null; readonly name?: string | null }[],
  call: TaskCall,
): TaskResult {
  const items = found.map(({ code, score, name }) => ({
    language: code,
    display_name: name ?? nameLanguage(code),
    confidence: score,
  }));
  return { output: { items }, units: textUnits(call) };
}

interface LanguageSteps {
  toDetection(call: TaskCall): TaskRequest;
  /** The language that an answer to the detection names, or null if it names none. Undefined: the answer is to the analysis. */
  readDetection(answer: JsonObject): string | null | undefined;
  toAnalysis(call: TaskCall, language: string | null): TaskRequest;
  toOutput(answer: JsonObject, call: TaskCall): JsonObject;
}

/** For vendors that need a language: when the caller names none, a first request detects it. That request is billed as well. */
export function withLanguage(steps: LanguageSteps): Pick<ProviderTask, "toRequest" | "next" | "fromResponse"> {
  const toAnalysis = (call: TaskCall, language: string | null) => ({
    ...steps.toAnalysis(call, language),
    acceptsProviderParams: true,
  });
  return {
    toRequest: (call) => {
      const language = languageOf(call);
      return language === null
        ? { ...steps.toDetection(call), acceptsProviderParams: false }
        : toAnalysis(call, language);
    },
    next: ({ json }, call) => {
      const language = steps.readDetection(asObject(json));
      return language === undefined ? null : toAnalysis(call, language);
    },
    fromResponse: ({ json }, call) => ({
      output: steps.toOutput(asObject(json), call),
      units: textUnits(call, languageOf(call) === null ? 2 : 1),
    }),
  };
}
