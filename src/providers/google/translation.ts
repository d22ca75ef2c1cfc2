// Cloud Translation, basic edition: the one that takes API keys and names no project.

import { asScore, asText, at, objectsIn } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import { nameLanguage } from "../shapes/language-names.ts";
import type { ProviderTask } from "../task.ts";

export const translate: ProviderTask = {
  task: "translation/automatic_translation",
  docs: "https://docs.cloud.google.com/translate/docs/reference/rest/v2/translate",
  service: "translation",
  toRequest: (call) => {
    const source = languageOf(call, "source_language");
    return {
      path: "/language/translate/v2",
      body: {
        kind: "json",
        value: {
          q: textOf(call),
          target: languageOf(call, "target_language"),
          // Otherwise it is read as HTML.
          format: "text",
          ...(source !== null && { source }),
        },
      },
    };
  },
  fromResponse: (answer, call) => {
    const text = asText(at(answer.json, "data", "translations", 0, "translatedText"));
    if (text === null) throw new TypeError("there is no translation in the answer");
    return { output: { text }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};

export const detectLanguage: ProviderTask = {
  task: "translation/language_detection",
  docs: "https://docs.cloud.google.com/translate/docs/reference/rest/v2/detect",
  service: "translation",
  toRequest: (call) => ({
    path: "/language/translate/v2/detect",
    body: { kind: "json", value: { q: textOf(call) } },
  }),
  fromResponse: (answer, call) => {
    const items = objectsIn(at(answer.json, "data", "detections", 0)).flatMap(({ language, confidence }) => {
      const code = asText(language);
      if (code === null || code === "und") return [];
      const score = asScore(confidence);
      return [{ language: code, display_name: nameLanguage(code), confidence: score }];
    });
    return { output: { items }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};
