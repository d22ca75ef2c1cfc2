import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { toTranscript, vocabularyOf, wantsNoProfanity } from "../shapes/transcript.ts";
import type { ProviderTask } from "../task.ts";

const usualModel = "enhanced";

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded",
  unsupported: ["speakers"],
  models: ["enhanced", "base", "nova-3", "nova-2"],
  acceptsAnyModel: true,
  toRequest: async (call) => {
    const language = languageOf(call);
    const model = call.model ?? usualModel;
    const file = fileOf(call);
    // The newest model takes terms, older ones take keywords.
    const name = model.startsWith("nova-3") ? "keyterm" : "keywords";
    const terms = vocabularyOf(call).map((word) => `${name}=${encodeURIComponent(word)}`);
    return {
      path: `/v1/listen${terms.length === 0 ? "" : `?${terms.join("&")}`}`,
      query: {
        model,
        punctuate: true,
        diarize: true,
        profanity_filter: wantsNoProfanity(call),
        ...(language === null ? { detect_language: true } : { language }),
      },
      body: { kind: "bytes", bytes: await file.read(), mediaType: file.mediaType },
    };
  },
  fromResponse({ json }) {
    const channels = objectsIn(at(json, "results", "channels"));
    const said = channels.map((channel) => at(channel, "alternatives", 0));
    const pieces = said.flatMap((one, channel) =>
      objectsIn(at(one, "words")).map((word) => ({
        text: asText(word["punctuated_word"]) ?? asText(word["word"]) ?? "",
        start: word["start"],
        end: word["end"],
        // Several channels have speakers of their own each.
        speaker: word["speaker"] === undefined ? null : `${channel}-${asNumber(word["speaker"]) ?? 0}`,
        confidence: word["confidence"],
      })),
    );
    const text = said.map((one) => asText(at(one, "transcript")) ?? "").join("\n");
    return toTranscript(text, pieces, asNumber(at(json, "metadata", "duration")));
  },
};
