import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { fileOf, languageOf, postJson } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { type TranscriptCall, toPiece, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, TaskFailure } from "../task.ts";

/** The vendor requires a list of models, and uses the first one that supports the language. All of them have the same price. */
const models = ["universal-3-pro", "universal-2"];

const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://www.assemblyai.com/docs/api-reference/transcripts/submit",
  models,
  acceptsAnyModel: true,
  defaultModel: null,
  toRequest: async (call) => ({
    path: "/v2/upload",
    body: { kind: "bytes", bytes: await fileOf(call).read(), mediaType: "application/octet-stream" },
    acceptsProviderParams: false,
    isPreparation: true,
  }),
  next({ json }, call) {
    const uploaded = asText(at(json, "upload_url"));
    if (uploaded !== null)
      return postJson("/v2/transcript", toTranscriptRequest(uploaded, call), { acceptsProviderParams: true });
    const status = at(json, "status");
    if (status === "error") throw new TaskFailure(400, asText(at(json, "error")) ?? "the transcription failed");
    if (status === "completed") return null;
    return poll("/v2/transcript", json);
  },
  fromResponse({ json }) {
    const words = objectsIn(at(json, "utterances")).flatMap((utterance) => objectsIn(utterance["words"]));
    const pieces = words.map((word) => ({
      ...toPiece(word, word["text"], asText(word["speaker"])),
      start: toSeconds(word["start"]),
      end: toSeconds(word["end"]),
    }));
    return toTranscript(asString(at(json, "text")), pieces, asNumber(at(json, "audio_duration")));
  },
});

function toSeconds(value: unknown): number | null {
  const milliseconds = asNumber(value);
  return milliseconds === null ? null : milliseconds / 1_000;
}

function toTranscriptRequest(audio_url: string, call: TranscriptCall) {
  const language = languageOf(call);
  const vocabulary = vocabularyOf(call);
  return {
    audio_url,
    speech_models: call.model === null ? models : [call.model],
    speaker_labels: true,
    filter_profanity: call.input.profanity_filter,
    speakers_expected: call.input.speakers ?? undefined,
    ...(language === null ? { language_detection: true } : { language_code: toLanguageCode(language) }),
    ...(vocabulary.length > 0 && { keyterms_prompt: vocabulary }),
  };
}

/** `en_us` for `en-US`, but `fr` for `fr-CA`: only variants of English have a code of their own. */
function toLanguageCode(language: string): string {
  const [code = "", region = ""] = language.toLowerCase().split("-");
  return (code === "en" ? englishVariants.get(region) : undefined) ?? code;
}

/** By the region of the language tag. The vendor writes `uk` for the region that the standard calls `GB`. */
const englishVariants: ReadonlyMap<string, string> = new Map([
  ["us", "en_us"],
  ["gb", "en_uk"],
  ["uk", "en_uk"],
  ["au", "en_au"],
]);

export const assembly = defineProvider("assembly", "AssemblyAI", {
  aliases: ["assemblyai"],
  docs: "https://www.assemblyai.com/docs/api-reference/overview",
  baseUrl: "https://api.assemblyai.com",
  auth: { kind: "header", name: "authorization" },
  sealedParams: ["audio_url", "webhook_url"],
  billedParams: ["speech_model", "speech_models"],
  tasks: [transcribe],
});
