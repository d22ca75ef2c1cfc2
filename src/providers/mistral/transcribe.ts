import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf, modelOf, refuseMembers } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask } from "../task.ts";

/** The vendor responds when the transcript is complete, so there is nothing to poll. */
export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://docs.mistral.ai/api/endpoint/audio/transcriptions",
  unsupported: ["speakers"],
  models: ["voxtral-mini-latest"],
  acceptsAnyModel: true,
  defaultModel: "voxtral-mini-latest",
  toRequest: (call) => {
    refuseMembers(call, ["profanity_filter"]);
    return postForm("/audio/transcriptions", {
      model: modelOf(call),
      diarize: true,
      timestamp_granularities: "segment",
      language: languageOf(call)?.split("-")[0],
      context_bias: vocabularyOf(call),
      file: fileOf(call),
    });
  },
  fromResponse({ json }) {
    const pieces = objectsIn(at(json, "segments")).map(({ text, start, end, speaker_id, score: confidence }) => ({
      text: asString(text).trim(),
      start,
      end,
      speaker: asText(speaker_id),
      confidence,
    }));
    return toTranscript(asString(at(json, "text")), pieces, asNumber(at(json, "usage", "prompt_audio_seconds")));
  },
});
