import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, filePart, languageOf } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf, wantsNoProfanity } from "../shapes/transcript.ts";
import type { ProviderTask, ProviderTaskCall } from "../task.ts";

/** The fast way of the vendor's, which answers when it is done: behind a job there is nothing to ask for. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create",
  toRequest: async (call) => ({
    path: "/speechtotext/transcriptions:transcribe",
    query: { "api-version": "2025-10-15" },
    body: {
      kind: "form",
      parts: [{ name: "definition", value: JSON.stringify(toDefinition(call)) }, await filePart("audio", fileOf(call))],
    },
    paramsPath: ["definition"],
  }),
  fromResponse({ json }) {
    const pieces = objectsIn(at(json, "phrases")).map((phrase) => {
      const start = asNumber(phrase["offsetMilliseconds"]);
      const duration = asNumber(phrase["durationMilliseconds"]);
      return {
        text: asText(phrase["text"]) ?? "",
        start: start === null ? null : start / 1_000,
        end: start === null || duration === null ? null : start / 1_000 + duration / 1_000,
        speaker: asNumber(phrase["speaker"]),
        confidence: phrase["confidence"],
      };
    });
    const text = objectsIn(at(json, "combinedPhrases")).map((one) => asText(one["text"]) ?? "");
    const milliseconds = asNumber(at(json, "durationMilliseconds"));
    return toTranscript(text.join("\n"), pieces, milliseconds === null ? null : milliseconds / 1_000);
  },
};

function toDefinition(call: ProviderTaskCall): JsonObject {
  const language = languageOf(call);
  const vocabulary = vocabularyOf(call);
  return {
    profanityFilterMode: wantsNoProfanity(call) ? "Masked" : "None",
    // Of the vendor: at least two, at most thirty-five.
    diarization: { enabled: true, maxSpeakers: Math.min(35, Math.max(2, speakersOf(call) ?? 10)) },
    ...(language !== null && { locales: [language] }),
    ...(vocabulary.length > 0 && { phraseList: { phrases: vocabulary } }),
  };
}
