import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { refuseProfanityFilter, type SpokenPiece, speakersOf, toTranscript } from "../shapes/transcript.ts";
import { type ProviderTask, type ProviderTaskCall, refuseInput, TaskFailure, type TaskRequest } from "../task.ts";
import { kindOfRefusal, statusOfKind, toAwsRequest } from "./aws-json.ts";
import { bucketSettings, putFile, removeFile, type Stored, toStored } from "./bucket.ts";

// Of the vendor: at least two, at most thirty.
const mostSpeakers = 30;
const usualSpeakers = 10;

/** Names of jobs are given once: one that exists already was begun by this very job. */
export const transcribe: ProviderTask = {
  task: "audio/speech_to_text_async",
  docs: "https://docs.aws.amazon.com/transcribe/latest/APIReference/API_StartTranscriptionJob.html",
  service: "transcribe",
  requiredSettings: bucketSettings,
  isIdempotent: true,
  // https://docs.aws.amazon.com/transcribe/latest/dg/limits-guidelines.html
  files: { maxBytes: 2 * 1024 ** 3 },
  toRequest: (call) => {
    if (Array.isArray(call.input["vocabulary"]) && call.input["vocabulary"].length > 0)
      refuseInput("vocabulary", "This provider has no such parameter", "unsupported_parameter");
    refuseProfanityFilter(call);
    return putFile(fileOf(call), call, toStored(call));
  },
  next(answer, call, asked) {
    const state = asked.state as Stored;
    if (asked.service === "s3")
      return { ...toStart(call, state), state, acceptsProviderParams: true, acceptedStatuses: [400] };
    if (asked.url !== undefined) return null;
    if (answer.status === 400) {
      const kind = kindOfRefusal(answer.json);
      if (kind !== "ConflictException")
        throw new TaskFailure(statusOfKind(kind) ?? 400, asText(at(answer.json, "Message")) ?? kind);
    }
    const status = at(answer.json, "TranscriptionJob", "TranscriptionJobStatus");
    if (status === "FAILED") {
      const reason = asText(at(answer.json, "TranscriptionJob", "FailureReason"));
      throw new TaskFailure(400, reason ?? "the transcription failed");
    }
    const url = asText(at(answer.json, "TranscriptionJob", "Transcript", "TranscriptFileUri"));
    if (status === "COMPLETED" && url !== null) return { path: "/", url, state };
    const question = toAwsRequest("Transcribe.GetTranscriptionJob", { TranscriptionJobName: toName(state) });
    return { ...question, state, waitMs: "growing" };
  },
  fromResponse({ json }) {
    const items = objectsIn(at(json, "results", "items"));
    const pieces: SpokenPiece[] = [];
    for (const item of items) {
      const text = asText(at(item, "alternatives", 0, "content")) ?? "";
      const before = item["type"] === "punctuation" ? pieces.pop() : undefined;
      // A mark of punctuation has no time of its own: it belongs to the word before it.
      if (before !== undefined) pieces.push({ ...before, text: before.text + text });
      else
        pieces.push({
          text,
          start: item["start_time"],
          end: item["end_time"],
          speaker: asText(item["speaker_label"]),
          confidence: at(item, "alternatives", 0, "confidence"),
        });
    }
    const seconds = items.reduce((latest, item) => Math.max(latest, asNumber(item["end_time"]) ?? 0), 0);
    return toTranscript(asText(at(json, "results", "transcripts", 0, "transcript")) ?? "", pieces, seconds);
  },
  cleanUpRequests: removeFile,
};

function toName({ token }: Stored): string {
  return `switchyard-${token}`;
}

function toStart(call: ProviderTaskCall, state: Stored): TaskRequest {
  const language = languageOf(call);
  const speakers = speakersOf(call) ?? usualSpeakers;
  const settings: JsonObject = {
    ShowSpeakerLabels: true,
    MaxSpeakerLabels: Math.min(mostSpeakers, Math.max(2, speakers)),
  };
  return toAwsRequest("Transcribe.StartTranscriptionJob", {
    TranscriptionJobName: toName(state),
    Media: { MediaFileUri: `s3://${call.settings["bucket"]}/${state.key}` },
    Settings: settings,
    // Languages are told with their region here.
    ...(language?.includes("-") ? { LanguageCode: language } : { IdentifyLanguage: true }),
  });
}
