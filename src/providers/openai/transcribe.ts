import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, filePart, languageOf, refuseMembers } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { type FormPart, type ProviderTask, refuseInput } from "../task.ts";

const usualModel = "whisper-1";
const modelOfSpeakers = "gpt-4o-transcribe-diarize";

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create",
  models: [usualModel, "gpt-4o-transcribe", "gpt-4o-mini-transcribe", modelOfSpeakers],
  acceptsAnyModel: true,
  passthroughMembers: ["prompt", "temperature"],
  // https://developers.openai.com/api/docs/guides/speech-to-text
  files: { maxBytes: 25 * 1_048_576 },
  toRequest: async (call) => {
    const wantsSpeakers = speakersOf(call) !== null;
    const model = call.model ?? (wantsSpeakers ? modelOfSpeakers : usualModel);
    const tellsSpeakers = model.includes("diarize");
    if (wantsSpeakers && !tellsSpeakers)
      refuseInput("speakers", `Of this provider's models, ${modelOfSpeakers} tells speakers apart`);
    refuseMembers(call, ["profanity_filter"]);
    const words = vocabularyOf(call);
    if (words.length > 0 && tellsSpeakers) refuseInput("vocabulary", `${model} takes no vocabulary`);
    const language = languageOf(call)?.split("-")[0];
    const parts: FormPart[] = [
      { name: "model", value: model },
      {
        name: "response_format",
        value: tellsSpeakers ? "diarized_json" : model === usualModel ? "verbose_json" : "json",
      },
    ];
    if (tellsSpeakers) parts.push({ name: "chunking_strategy", value: "auto" });
    if (language !== undefined) parts.push({ name: "language", value: language });
    if (words.length > 0) parts.push({ name: "prompt", value: words.join(", ") });
    parts.push(await filePart("file", fileOf(call)));
    return { path: "/audio/transcriptions", body: { kind: "form", parts } };
  },
  fromResponse({ json }) {
    const pieces = objectsIn(at(json, "segments")).map((segment) => ({
      text: asText(segment["text"])?.trim() ?? "",
      start: segment["start"],
      end: segment["end"],
      speaker: asText(segment["speaker"]),
      confidence: null,
    }));
    const seconds = asNumber(at(json, "duration")) ?? asNumber(at(json, "usage", "seconds"));
    return toTranscript(asText(at(json, "text")) ?? "", pieces, seconds);
  },
};
