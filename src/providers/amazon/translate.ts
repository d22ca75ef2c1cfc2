import { asObject, asText } from "../lenient.ts";
import { countCharacters, languageOf, textOf } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";

export const translate: ProviderTask = {
  task: "translation/automatic_translation",
  docs: "https://docs.aws.amazon.com/translate/latest/APIReference/API_TranslateText.html",
  service: "translate",
  toRequest: (call) =>
    toAwsRequest("AWSShineFrontendService_20170701.TranslateText", {
      Text: textOf(call),
      SourceLanguageCode: languageOf(call, "source_language") ?? "auto",
      TargetLanguageCode: languageOf(call, "target_language"),
    }),
  fromResponse: (answer, call) => {
    const text = asText(asObject(answer.json)["TranslatedText"]);
    if (text === null) throw new TypeError("there is no translation in the answer");
    return { output: { text }, units: { char: countCharacters(textOf(call)), request: 1 } };
  },
};
