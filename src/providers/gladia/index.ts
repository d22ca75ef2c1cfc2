import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart, languageOf, refuseMembers } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { type ProviderTask, type ProviderTaskCall, TaskFailure } from "../task.ts";

const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://docs.gladia.io/api-reference/pre-recorded-flow",
  models: ["solaria-1", "solaria-3"],
  acceptsAnyModel: true,
  toRequest: async (call) => {
    refuseMembers(call, ["profanity_filter"]);
    return {
      path: "/v2/upload",
      body: { kind: "form", parts: [await filePart("audio", fileOf(call))] },
      acceptsProviderParams: false,
    };
  },
  next({ json }, call) {
    const uploaded = asText(at(json, "audio_url"));
    if (uploaded !== null)
      return {
        path: "/v2/pre-recorded",
        body: { kind: "json", value: { audio_url: uploaded, ...toSettings(call) } },
        acceptsProviderParams: true,
      };
    const status = at(json, "status");
    if (status === "done") return null;
    if (status === "error") {
      const code = asNumber(at(json, "error_code")) ?? 502;
      throw new TaskFailure(code >= 400 && code < 600 ? code : 502, "the transcription failed");
    }
    const id = asText(at(json, "id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    return { method: "GET", path: `/v2/pre-recorded/${encodeURIComponent(id)}`, waitMs: "growing" };
  },
  fromResponse({ json }) {
    const transcription = at(json, "result", "transcription");
    const pieces = objectsIn(at(transcription, "utterances")).flatMap(({ speaker, words }) =>
      objectsIn(words).map((word) => ({
        text: asText(word["word"]) ?? "",
        start: word["start"],
        end: word["end"],
        speaker: asNumber(speaker),
        confidence: word["confidence"],
      })),
    );
    const metadata = at(json, "result", "metadata");
    const seconds = asNumber(at(metadata, "billing_time")) ?? asNumber(at(metadata, "audio_duration"));
    return toTranscript(asText(at(transcription, "full_transcript")) ?? "", pieces, seconds);
  },
};

function toSettings(call: ProviderTaskCall): JsonObject {
  const language = languageOf(call);
  const speakers = speakersOf(call);
  const vocabulary = vocabularyOf(call);
  return {
    diarization: true,
    ...(speakers !== null && { diarization_config: { number_of_speakers: speakers } }),
    ...(language !== null && { language_config: { languages: [language.split("-")[0]?.toLowerCase()] } }),
    ...(vocabulary.length > 0 && { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } }),
    ...(call.model !== null && { model: call.model }),
  };
}

export const gladia: ProviderRow = {
  name: "gladia",
  title: "Gladia",
  docs: "https://docs.gladia.io/api-reference",
  baseUrl: "https://api.gladia.io",
  auth: { kind: "header", name: "x-gladia-key" },
  sealedParams: ["audio_url", "callback_url", "callback", "callback_config"],
  tasks: [transcribe],
};
