import { asCount, asNumber, asText, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { countCharacters, fileOf, postJson } from "../shapes/inputs.ts";
import { baseLanguage } from "../shapes/languages.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, TaskFailure } from "../task.ts";

const translate = defineTask("translation/automatic_translation", {
  docs: "https://developers.deepl.com/api-reference/translate/request-translation",
  toRequest: ({ input }) =>
    postJson("/v2/translate", { text: [input.text], ...toLanguages(input), show_billed_characters: true }),
  fromResponse({ json }, { input }) {
    const text = at(json, "translations", 0, "text");
    if (typeof text !== "string") throw new TypeError("there is no translation in the answer");
    const billed = asCount(at(json, "translations", 0, "billed_characters"));
    return { output: { text }, units: { char: billed || countCharacters(input.text), request: 1 } };
  },
});

interface Languages {
  readonly target_language: string;
  readonly source_language: string | null;
}

/** The vendor accepts variants such as EN-GB for the target, but not for the source. */
function toLanguages({ target_language, source_language }: Languages) {
  return {
    target_lang: target_language.replaceAll("_", "-").toUpperCase(),
    source_lang: source_language ? baseLanguage(source_language).toUpperCase() : undefined,
  };
}

const minWaitMs = 500;
const maxWaitMs = 10_000;

/** The document is uploaded, polled until it is translated, and downloaded. It can be downloaded once. */
const translateDocument = defineTask("translation/document_translation", {
  docs: "https://developers.deepl.com/api-reference/document",
  toRequest: (call) => postForm("/v2/document", { ...toLanguages(call.input), file: fileOf(call) }),
  next(response, _call, request) {
    if (request.path.endsWith("/result")) return null;
    const { json } = response;
    const document_key = asText(at(json, "document_key"));
    if (document_key !== null) {
      const path = `/v2/document/${encodeURIComponent(String(at(json, "document_id")))}`;
      return { ...postJson(path, { document_key }), waitMs: minWaitMs };
    }
    const status = at(json, "status");
    if (status === "done") return { ...request, path: `${request.path}/result` };
    if (status !== "queued" && status !== "translating")
      throw new TaskFailure(400, asText(at(json, "error_message")) ?? "The document could not be translated");
    return { ...request, waitMs: toWait(at(json, "seconds_remaining")) };
  },
  fromResponse({ bytes, mediaType }, call) {
    const type = mediaType || fileOf(call).mediaType;
    return {
      output: {},
      // The price list counts pages, but the vendor does not report them.
      units: { file: 1, request: 1 },
      binaries: [{ base64Path: ["file"], urlPath: ["document_resource_url"], bytes, mediaType: type }],
      original: null,
    };
  },
});

/** The vendor's estimate is often far too high, so half of it is used. */
function toWait(seconds: unknown): number {
  return Math.min(maxWaitMs, Math.max(minWaitMs, (asNumber(seconds) ?? 0) * 500));
}

export const deepl = defineProvider("deepl", "DeepL", {
  docs: "https://developers.deepl.com/docs",
  // Keys of the free plan, which end with `:fx`, need DEEPL_BASE_URL=https://api-free.deepl.com.
  baseUrl: "https://api.deepl.com",
  auth: { kind: "header", name: "authorization", prefix: "DeepL-Auth-Key " },
  keyNames: ["DEEPL_AUTH_KEY"],
  // https://developers.deepl.com/docs/best-practices/error-handling: the characters of the month, or the operator's own limit, are used up.
  errors: [{ status: 456, means: "rate_limit" }],
  billedParams: ["text"],
  tasks: [translate, translateDocument],
});
