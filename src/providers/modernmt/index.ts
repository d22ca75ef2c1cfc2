import { asCount, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { postJson, textUnits } from "../shapes/inputs.ts";
import { asLanguage, nameLanguage } from "../shapes/languages.ts";
import { defineTask, type TaskCall } from "../task.ts";

const docs = "https://www.modernmt.com/api/";

const translate = defineTask("translation/automatic_translation", {
  docs,
  toRequest: ({ input: { text, target_language, source_language } }) =>
    postJson("/translate", { q: text, target: target_language, source: source_language || undefined }),
  fromResponse({ json }, call) {
    const text = at(json, "data", "translation");
    if (typeof text !== "string") throw new TypeError("there is no translation in the answer");
    return { output: { text }, units: unitsOf(json, call) };
  },
});

const detectLanguage = defineTask("translation/language_detection", {
  docs,
  toRequest: ({ input }) => postJson("/translate/detect", { q: input.text }),
  fromResponse({ json }, call) {
    const language = asLanguage(at(json, "data", "detectedLanguage"));
    const items = language === null ? [] : [{ language, display_name: nameLanguage(language), confidence: null }];
    return { output: { items }, units: unitsOf(json, call) };
  },
});

function unitsOf(json: unknown, call: TaskCall<{ text: string }>): { char: number; request: number } {
  const billed = at(json, "data", "billedCharacters");
  return billed === undefined ? textUnits(call) : { char: asCount(billed), request: 1 };
}

export const modernmt = defineProvider("modernmt", "ModernMT", {
  docs,
  baseUrl: "https://api.modernmt.com",
  auth: { kind: "header", name: "mmt-apikey" },
  // Its methods are GET with a body. This header allows clients that cannot send such requests to use POST.
  headers: { "x-http-method-override": "GET" },
  billedParams: ["q"],
  tasks: [translate, detectLanguage],
});
