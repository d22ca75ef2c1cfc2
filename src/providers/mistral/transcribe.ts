import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, modelOf, refuseMembers } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { type TranscriptCall, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, refuseInput } from "../task.ts";

const maxPhrases = 100;

/** The vendor responds when the transcript is complete, so there is nothing to poll. */
export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://docs.mistral.ai/api/endpoint/audio/transcriptions",
  // The vendor has a `language`, but answers with an empty text if a request has it beside `timestamp_granularities`, and diarization
  // requires those. https://docs.mistral.ai/capabilities/audio_transcription#transcription-with-timestamps
  unsupported: ["language", "speakers"],
  models: ["voxtral-mini-latest"],
  acceptsAnyModel: true,
  defaultModel: "voxtral-mini-latest",
  toRequest: (call) => {
    refuseMembers(call, ["profanity_filter"]);
    return postForm("/audio/transcriptions", {
      model: modelOf(call),
      diarize: true,
      timestamp_granularities: "segment",
      context_bias: toContextBias(call),
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

/** The vendor refuses a request with an item that contains white space or a comma; it writes phrases with underscores. */
function toContextBias(call: TranscriptCall): readonly string[] {
  const phrases = vocabularyOf(call)
    .map((phrase) =>
      phrase
        .split(/[\s,]+/)
        .filter((word) => word !== "")
        .join("_"),
    )
    .filter((phrase) => phrase !== "");
  if (phrases.length > maxPhrases)
    refuseInput("vocabulary", `This provider takes at most ${maxPhrases} words or phrases`, "too_long");
  return phrases;
}
