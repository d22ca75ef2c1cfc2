import { asCount, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import { asLanguage } from "../shapes/languages.ts";
import type { ProviderTask, TaskResponse } from "../task.ts";

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

const translate: ProviderTask = {
  task: "translation/automatic_translation",
  docs: "https://www.modernmt.com/api/",
  toRequest: (call) => {
    const source = languageOf(call, "source_language");
    return {
      path: "/translate",
      body: {
        kind: "json",
        value: {
          q: textOf(call),
          target: textOf(call, "target_language"),
          ...(source !== null && { source }),
        },
      },
    };
  },
  fromResponse(answer, call) {
    const translation = at(answer.json, "data", "translation");
    if (typeof translation !== "string") throw new TypeError("there is no translation in the answer");
    return { output: { text: translation }, units: unitsOf(answer, textOf(call)) };
  },
};

const detectLanguage: ProviderTask = {
  task: "translation/language_detection",
  docs: "https://www.modernmt.com/api/",
  toRequest: (call) => ({ path: "/translate/detect", body: { kind: "json", value: { q: textOf(call) } } }),
  fromResponse(answer, call) {
    const language = asLanguage(at(answer.json, "data", "detectedLanguage"));
    const items =
      language === null ? [] : [{ language, display_name: languageNames.of(language) ?? language, confidence: null }];
    return { output: { items }, units: unitsOf(answer, textOf(call)) };
  },
};

function unitsOf({ json }: TaskResponse, text: string): { char: number; request: number } {
  const billed = at(json, "data", "billedCharacters");
  return { char: billed === undefined ? countCharacters(text) : asCount(billed), request: 1 };
}

export const modernmt: ProviderRow = {
  name: "modernmt",
  title: "ModernMT",
  docs: "https://www.modernmt.com/api/",
  baseUrl: "https://api.modernmt.com",
  auth: { kind: "header", name: "mmt-apikey" },
  // Its methods are GET with a body; this is its own way to say so where that cannot be sent.
  headers: { "x-http-method-override": "GET" },
  tasks: [translate, detectLanguage],
};
