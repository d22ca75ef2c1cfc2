import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, filePart, languageOf, refuseMembers } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import type { FormPart, ProviderTask } from "../task.ts";

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://elevenlabs.io/docs/api-reference/speech-to-text/convert",
  models: ["scribe_v2", "scribe_v1"],
  acceptsAnyModel: true,
  toRequest: async (call) => {
    refuseMembers(call, ["profanity_filter"]);
    const [language, speakers] = [languageOf(call)?.split("-")[0], speakersOf(call)];
    const parts: FormPart[] = [
      { name: "model_id", value: call.model ?? "scribe_v2" },
      { name: "diarize", value: "true" },
    ];
    if (language !== undefined) parts.push({ name: "language_code", value: language });
    if (speakers !== null) parts.push({ name: "num_speakers", value: String(speakers) });
    for (const word of vocabularyOf(call)) parts.push({ name: "keyterms", value: word });
    parts.push(await filePart("file", fileOf(call)));
    return { path: "/v1/speech-to-text", body: { kind: "form", parts } };
  },
  fromResponse({ json }) {
    const words = objectsIn(at(json, "words")).filter(({ type }) => type === "word");
    const pieces = words.map((word) => ({
      text: asText(word["text"]) ?? "",
      start: word["start"],
      end: word["end"],
      speaker: asText(word["speaker_id"]),
      // A logarithm of a probability.
      confidence: typeof word["logprob"] === "number" ? Math.exp(word["logprob"]) : null,
    }));
    return toTranscript(asText(at(json, "text")) ?? "", pieces, asNumber(at(json, "audio_duration_secs")));
  },
};
