import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { fileOf, languageOf, modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { baseLanguage } from "../shapes/languages.ts";
import { poll, postForm } from "../shapes/requests.ts";
import { type TranscriptCall, toPiece, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, TaskFailure } from "../task.ts";

const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://docs.gladia.io/api-reference/pre-recorded-flow",
  models: ["solaria-1", "solaria-3"],
  acceptsAnyModel: true,
  defaultModel: "solaria-1",
  toRequest: (call) => {
    refuseMembers(call, ["profanity_filter"]);
    return postForm("/v2/upload", { audio: fileOf(call) }, { acceptsProviderParams: false, isPreparation: true });
  },
  next({ json }, call) {
    const uploaded = asText(at(json, "audio_url"));
    if (uploaded !== null)
      return postJson("/v2/pre-recorded", toTranscription(uploaded, call), { acceptsProviderParams: true });
    const status = at(json, "status");
    if (status === "done") return null;
    if (status === "error") {
      const code = asNumber(at(json, "error_code")) ?? 502;
      throw new TaskFailure(code >= 400 && code < 600 ? code : 502, "the transcription failed");
    }
    return poll("/v2/pre-recorded", json);
  },
  fromResponse({ json }) {
    const transcription = at(json, "result", "transcription");
    const pieces = objectsIn(at(transcription, "utterances")).flatMap(({ speaker, words }) =>
      objectsIn(words).map((word) => toPiece(word, word["word"], asNumber(speaker))),
    );
    const metadata = at(json, "result", "metadata");
    const seconds = asNumber(at(metadata, "billing_time")) ?? asNumber(at(metadata, "audio_duration"));
    return toTranscript(asString(at(transcription, "full_transcript")), pieces, seconds);
  },
});

function toTranscription(audio_url: string, call: TranscriptCall) {
  const language = languageOf(call);
  const { speakers } = call.input;
  const vocabulary = vocabularyOf(call);
  return {
    audio_url,
    diarization: true,
    ...(speakers && { diarization_config: { number_of_speakers: speakers } }),
    ...(language !== null && { language_config: { languages: [baseLanguage(language)] } }),
    ...(vocabulary.length > 0 && { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } }),
    model: modelOf(call),
  };
}

export const gladia = defineProvider("gladia", "Gladia", {
  docs: "https://docs.gladia.io/api-reference",
  baseUrl: "https://api.gladia.io",
  auth: { kind: "header", name: "x-gladia-key" },
  sealedParams: ["audio_url", "callback_url", "callback", "callback_config"],
  billedParams: ["model"],
  tasks: [transcribe],
});
