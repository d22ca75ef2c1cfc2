import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, filePart, languageOf, refuseMembers } from "../shapes/inputs.ts";
import { toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import type { FormPart, ProviderTask } from "../task.ts";

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://docs.mistral.ai/api/endpoint/audio/transcriptions",
  unsupported: ["speakers"],
  models: ["voxtral-mini-latest"],
  acceptsAnyModel: true,
  toRequest: async (call) => {
    refuseMembers(call, ["profanity_filter"]);
    const language = languageOf(call)?.split("-")[0];
    const parts: FormPart[] = [
      { name: "model", value: call.model ?? "voxtral-mini-latest" },
      { name: "diarize", value: "true" },
      { name: "timestamp_granularities", value: "segment" },
    ];
    if (language !== undefined) parts.push({ name: "language", value: language });
    for (const word of vocabularyOf(call)) parts.push({ name: "context_bias", value: word });
    parts.push(await filePart("file", fileOf(call)));
    return { path: "/audio/transcriptions", body: { kind: "form", parts } };
  },
  fromResponse({ json }) {
    const pieces = objectsIn(at(json, "segments")).map((segment) => ({
      text: asText(segment["text"])?.trim() ?? "",
      start: segment["start"],
      end: segment["end"],
      speaker: asText(segment["speaker_id"]),
      confidence: segment["score"],
    }));
    return toTranscript(asText(at(json, "text")) ?? "", pieces, asNumber(at(json, "usage", "prompt_audio_seconds")));
  },
};
