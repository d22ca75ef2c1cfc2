// Google Cloud Speech-to-Text, second version. Files of more than a minute are taken from a bucket alone.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf, wantsNoProfanity } from "../shapes/transcript.ts";
import type { ProviderTask, ProviderTaskCall, TaskRequest } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";
import { addressOf, askForOperation, bucketSettings, putFile, removeFile, type Stored, toStored } from "./operation.ts";

/** Finds the language by itself, and tells speakers apart. https://docs.cloud.google.com/speech-to-text/docs/models/chirp-3 */
const usualModel = "chirp_3";

export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/projects.locations.recognizers/batchRecognize",
  service: "speech-us",
  models: [usualModel],
  acceptsAnyModel: true,
  requiredSettings: { ...bucketSettings, project: "GOOGLE_CLOUD_PROJECT", location: "GOOGLE_CLOUD_LOCATION" },
  toRequest: (call) => putFile(fileOf(call), call, toStored(call)),
  next({ json }, call, asked) {
    if (asked.service === "storage") return toStart(call, asked.state as Stored);
    return askForOperation(json, "v2", asked);
  },
  fromResponse({ json }) {
    const result = asObject(Object.values(asObject(at(json, "response", "results")))[0]);
    throwIfFailed(result);
    const said = objectsIn(at(result, "inlineResult", "transcript", "results") ?? at(result, "transcript", "results"));
    const best = said.map((one) => asObject(at(one, "alternatives", 0)));
    const pieces = best.flatMap((one) =>
      objectsIn(one["words"]).map((word) => ({
        text: asText(word["word"]) ?? "",
        start: toSeconds(word["startOffset"]),
        end: toSeconds(word["endOffset"]),
        speaker: asText(word["speakerLabel"]),
        confidence: word["confidence"] ?? null,
      })),
    );
    const text = best.map((one) => asText(one["transcript"])?.trim() ?? "").filter((one) => one !== "");
    const billed = at(json, "response", "totalBilledDuration") ?? at(result, "metadata", "totalBilledDuration");
    return toTranscript(text.join(" "), pieces, toSeconds(billed));
  },
  cleanUpRequests: removeFile,
};

/** Models of this kind stand in two places; other continents are nearer to the first. */
function toStart(call: ProviderTaskCall, state: Stored): TaskRequest {
  const location = call.settings["location"]?.startsWith("eu") ? "eu" : "us";
  return {
    service: `speech-${location}`,
    path: `/v2/projects/${encodeURIComponent(call.settings["project"] ?? "")}/locations/${location}/recognizers/_:batchRecognize`,
    paramsPath: ["config"],
    acceptsProviderParams: true,
    body: {
      kind: "json",
      value: {
        config: toConfig(call),
        files: [{ uri: addressOf(call, state.key) }],
        recognitionOutputConfig: { inlineResponseConfig: {} },
      },
    },
    state,
  };
}

function toConfig(call: ProviderTaskCall): JsonObject {
  const speakers = speakersOf(call);
  const phrases = vocabularyOf(call).map((value) => ({ value }));
  return {
    autoDecodingConfig: {},
    model: call.model ?? usualModel,
    languageCodes: [languageOf(call) ?? "auto"],
    features: {
      enableAutomaticPunctuation: true,
      profanityFilter: wantsNoProfanity(call),
      // Times of words would make the vendor refuse files of more than twenty minutes.
      diarizationConfig: speakers === null ? {} : { minSpeakerCount: speakers, maxSpeakerCount: speakers },
    },
    ...(phrases.length > 0 && { adaptation: { phraseSets: [{ inlinePhraseSet: { phrases } }] } }),
  };
}

/** `12.500s` */
function toSeconds(value: unknown): number | null {
  return asNumber(asText(value)?.replace(/s$/, ""));
}
