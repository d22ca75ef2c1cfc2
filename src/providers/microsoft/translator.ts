import { asText, at } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import type { VendorTask } from "../task.ts";

export const translate: VendorTask = {
  task: "translation/automatic_translation",
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/translator/text-translation/reference/v3/translate",
  toRequest: (call) => ({
    path: "/translator/text/v3.0/translate",
    query: {
      "api-version": "3.0",
      to: languageOf(call, "target_language"),
      from: languageOf(call, "source_language"),
    },
    paramsAt: [0],
    body: { kind: "json", value: [{ Text: textOf(call) }] },
  }),
  fromAnswer: ({ json }, call) => {
    const text = asText(at(json, 0, "translations", 0, "text"));
    if (text === null) throw new TypeError("there is no translation in the answer");
    return { output: { text }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};
