import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { speakersOf, toTranscript, vocabularyOf, wantsNoProfanity } from "../shapes/transcript.ts";
import { type ProviderTask, type ProviderTaskCall, TaskFailure } from "../task.ts";

/** The first one that speaks the language is used; one has to be named. */
const usualModels = ["universal-3-pro", "universal-2"];

const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://www.assemblyai.com/docs/api-reference/transcripts/submit",
  models: usualModels,
  acceptsAnyModel: true,
  toRequest: async (call) => ({
    path: "/v2/upload",
    body: { kind: "bytes", bytes: await fileOf(call).read(), mediaType: "application/octet-stream" },
    acceptsProviderParams: false,
  }),
  next(answer, call) {
    const { json } = answer;
    const uploaded = asText(at(json, "upload_url"));
    if (uploaded !== null)
      return {
        path: "/v2/transcript",
        body: { kind: "json", value: { audio_url: uploaded, ...toSettings(call) } },
        acceptsProviderParams: true,
      };
    const status = at(json, "status");
    if (status === "error") throw new TaskFailure(400, asText(at(json, "error")) ?? "the transcription failed");
    if (status === "completed") return null;
    const id = asText(at(json, "id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    return { method: "GET", path: `/v2/transcript/${encodeURIComponent(id)}`, waitMs: "growing" };
  },
  fromResponse({ json }) {
    const transcript = asObject(json);
    const words = objectsIn(transcript["utterances"]).flatMap((utterance) => objectsIn(utterance["words"]));
    const pieces = words.map((word) => ({
      text: asText(word["text"]) ?? "",
      start: fromMilliseconds(word["start"]),
      end: fromMilliseconds(word["end"]),
      speaker: asText(word["speaker"]),
      confidence: word["confidence"],
    }));
    return toTranscript(asText(transcript["text"]) ?? "", pieces, asNumber(transcript["audio_duration"]));
  },
};

function fromMilliseconds(value: unknown): number | null {
  const milliseconds = asNumber(value);
  return milliseconds === null ? null : milliseconds / 1_000;
}

function toSettings(call: ProviderTaskCall): JsonObject {
  const language = languageOf(call);
  const speakers = speakersOf(call);
  const vocabulary = vocabularyOf(call);
  return {
    speech_models: call.model === null ? usualModels : [call.model],
    speaker_labels: true,
    filter_profanity: wantsNoProfanity(call),
    ...(speakers !== null && { speakers_expected: speakers }),
    ...(language === null ? { language_detection: true } : { language_code: toCode(language) }),
    ...(vocabulary.length > 0 && { keyterms_prompt: vocabulary }),
  };
}

/** `en_us`, and `fr` for all of France and Canada. */
function toCode(language: string): string {
  const [code = "", region = ""] = language.toLowerCase().split("-");
  return code === "en" && ["us", "uk", "au"].includes(region) ? `${code}_${region}` : code;
}

export const assembly: ProviderRow = {
  name: "assembly",
  title: "AssemblyAI",
  aliases: ["assemblyai"],
  docs: "https://www.assemblyai.com/docs/api-reference/overview",
  baseUrl: "https://api.assemblyai.com",
  auth: { kind: "header", name: "authorization" },
  sealedParams: ["audio_url", "webhook_url"],
  tasks: [transcribe],
};
