import { countAudioLength } from "../../lib/audio-length.ts";
import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf, modelOf, refuseMembers } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { toPiece, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, type InputFile, refuseInput } from "../task.ts";

const defaultModel = "whisper-1";
const diarizationModel = "gpt-4o-transcribe-diarize";

/** The vendor responds when the transcript is complete, so there is nothing to poll. */
export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create",
  models: [defaultModel, "gpt-4o-transcribe", "gpt-4o-mini-transcribe", diarizationModel],
  acceptsAnyModel: true,
  defaultModel,
  defaultModelFor: ({ speakers }) => (typeof speakers === "number" ? diarizationModel : null),
  passthroughMembers: ["prompt", "temperature"],
  // https://developers.openai.com/api/docs/guides/speech-to-text
  files: { maxBytes: 25 * 1_048_576 },
  toRequest: (call) => {
    const wantsSpeakers = typeof call.input.speakers === "number";
    const model = modelOf(call);
    const separatesSpeakers = model.includes("diarize");
    if (wantsSpeakers && !separatesSpeakers)
      refuseInput("speakers", `Of this provider's models, only ${diarizationModel} separates speakers`);
    refuseMembers(call, ["profanity_filter"]);
    const words = vocabularyOf(call);
    if (words.length > 0 && separatesSpeakers) refuseInput("vocabulary", `${model} takes no vocabulary`);
    const format = model === defaultModel ? "verbose_json" : "json";
    return postForm("/audio/transcriptions", {
      model,
      response_format: separatesSpeakers ? "diarized_json" : format,
      chunking_strategy: separatesSpeakers ? "auto" : null,
      language: languageOf(call)?.split("-")[0],
      prompt: words.join(", ") || null,
      file: fileOf(call),
    });
  },
  async fromResponse({ json }, call) {
    const pieces = objectsIn(at(json, "segments")).map((segment) =>
      toPiece(segment, asString(segment["text"]).trim(), asText(segment["speaker"])),
    );
    const stated = asNumber(at(json, "duration")) ?? asNumber(at(json, "usage", "seconds"));
    // Some models state tokens alone, and their price is per minute.
    const seconds = stated ?? (await measure(fileOf(call)));
    return toTranscript(asString(at(json, "text")), pieces, seconds);
  },
});

/** The transcript is paid for: it is not lost because its recording cannot be read again. */
async function measure(file: InputFile): Promise<number | null> {
  const bytes = await file.read().catch(() => null);
  return bytes && countAudioLength(bytes);
}
