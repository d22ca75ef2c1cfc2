import { asText, at } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

export const translate: ProviderTask = {
  task: "translation/automatic_translation",
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/translator/text-translation/reference/v3/translate",
  toRequest: (call) => ({
    path: "/translator/text/v3.0/translate",
    query: {
      "api-version": "3.0",
      to: languageOf(call, "target_language"),
      from: languageOf(call, "source_language"),
    },
    paramsPath: [0],
    body: { kind: "json", value: [{ Text: textOf(call) }] },
  }),
  fromResponse: ({ json }, call) => {
    const text = asText(at(json, 0, "translations", 0, "text"));
    if (text === null) throw new TypeError("there is no translation in the answer");
    return { output: { text }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};
