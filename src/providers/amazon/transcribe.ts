import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { refuseProfanityFilter, type SpokenPiece, speakersOf, toTranscript } from "../shapes/transcript.ts";
import { refuseInput, type VendorCall, VendorFailure, type VendorRequest, type VendorTask } from "../task.ts";
import { kindOfRefusal, statusOfKind, toAwsRequest } from "./aws-json.ts";
import { bucketNeeds, putFile, removeFile, type Stored, toStored } from "./bucket.ts";

// Of the vendor: at least two, at most thirty.
const mostSpeakers = 30;
const usualSpeakers = 10;

/** Names of jobs are given once: one that exists already was begun by this very job. */
export const transcribe: VendorTask = {
  task: "audio/speech_to_text_async",
  docs: "https://docs.aws.amazon.com/transcribe/latest/APIReference/API_StartTranscriptionJob.html",
  service: "transcribe",
  needs: bucketNeeds,
  isRepeatable: true,
  // https://docs.aws.amazon.com/transcribe/latest/dg/limits-guidelines.html
  files: { maxBytes: 2 * 1024 ** 3 },
  toRequest: (call) => {
    if (Array.isArray(call.input["vocabulary"]) && call.input["vocabulary"].length > 0)
      refuseInput("vocabulary", "This provider has no such parameter", "unsupported_parameter");
    refuseProfanityFilter(call);
    return putFile(fileOf(call), call, toStored(call));
  },
  next(answer, call, asked) {
    const note = asked.note as Stored;
    if (asked.service === "s3") return { ...toStart(call, note), note, takesParams: true, alsoGood: [400] };
    if (asked.url !== undefined) return null;
    if (answer.status === 400) {
      const kind = kindOfRefusal(answer.json);
      if (kind !== "ConflictException")
        throw new VendorFailure(statusOfKind(kind) ?? 400, asText(at(answer.json, "Message")) ?? kind);
    }
    const status = at(answer.json, "TranscriptionJob", "TranscriptionJobStatus");
    if (status === "FAILED") {
      const reason = asText(at(answer.json, "TranscriptionJob", "FailureReason"));
      throw new VendorFailure(400, reason ?? "the transcription failed");
    }
    const url = asText(at(answer.json, "TranscriptionJob", "Transcript", "TranscriptFileUri"));
    if (status === "COMPLETED" && url !== null) return { path: "/", url, note };
    const question = toAwsRequest("Transcribe.GetTranscriptionJob", { TranscriptionJobName: toName(note) });
    return { ...question, note, waitMs: "growing" };
  },
  fromAnswer({ json }) {
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
  leftovers: removeFile,
};

function toName({ token }: Stored): string {
  return `switchyard-${token}`;
}

function toStart(call: VendorCall, note: Stored): VendorRequest {
  const language = languageOf(call);
  const speakers = speakersOf(call) ?? usualSpeakers;
  const settings: JsonObject = {
    ShowSpeakerLabels: true,
    MaxSpeakerLabels: Math.min(mostSpeakers, Math.max(2, speakers)),
  };
  return toAwsRequest("Transcribe.StartTranscriptionJob", {
    TranscriptionJobName: toName(note),
    Media: { MediaFileUri: `s3://${call.settings["bucket"]}/${note.key}` },
    Settings: settings,
    // Languages are told with their region here.
    ...(language?.includes("-") ? { LanguageCode: language } : { IdentifyLanguage: true }),
  });
}
