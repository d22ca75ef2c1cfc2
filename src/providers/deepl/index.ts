import { asCount, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { countCharacters, textOf } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";
import { translateDocument } from "./documents.ts";
import { languagesOf } from "./languages.ts";

const translate: ProviderTask = {
  task: "translation/automatic_translation",
  docs: "https://developers.deepl.com/api-reference/translate/request-translation",
  toRequest: (call) => ({
    path: "/v2/translate",
    body: {
      kind: "json",
      value: { text: [textOf(call)], ...languagesOf(call), show_billed_characters: true },
    },
  }),
  fromResponse({ json }, call) {
    const [translation] = objectsIn(at(json, "translations"));
    if (typeof translation?.["text"] !== "string") throw new TypeError("there is no translation in the answer");
    const billed = asCount(translation["billed_characters"]);
    return {
      output: { text: translation["text"] },
      units: { char: billed || countCharacters(textOf(call)), request: 1 },
    };
  },
};

export const deepl: ProviderRow = {
  name: "deepl",
  title: "DeepL",
  docs: "https://developers.deepl.com/docs",
  // Keys of the free plan, which end with `:fx`, are for https://api-free.deepl.com: DEEPL_BASE_URL.
  baseUrl: "https://api.deepl.com",
  auth: { kind: "header", name: "authorization", prefix: "DeepL-Auth-Key " },
  keyNames: ["DEEPL_AUTH_KEY"],
  // https://developers.deepl.com/docs/best-practices/error-handling: the characters of the month, or the operator's own limit, are used up.
  errors: [{ status: 456, means: "rate_limit" }],
  tasks: [translate, translateDocument],
};
