// Amazon Polly for text to speech, and Amazon Transcribe, which reads its audio files from a bucket.

import { asNumber, asObject, asString, asText, at, objectsIn } from "../lenient.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import {
  formatOf,
  hasProsody,
  type ProsodyForms,
  type SpeechCall,
  signed,
  toDecibel,
  toSpeech,
  toSsml,
} from "../shapes/speech.ts";
import { type SpokenPiece, type TranscriptCall, toTranscript } from "../shapes/transcript.ts";
import { defineTask, refuseInput, TaskFailure, type TaskRequest } from "../task.ts";
import { kindOfRefusal, statusOfKind, toAwsRequest } from "./aws-json.ts";
import { bucketSettings, s3 } from "./bucket.ts";

const ogg = { ogg: "ogg_vorbis", ogg_vorbis: "ogg_vorbis", opus: "ogg_opus", ogg_opus: "ogg_opus" };
const formats = { mp3: "mp3", pcm: "pcm", ...ogg };

export const speak = defineTask("audio/tts", {
  docs: "https://docs.aws.amazon.com/polly/latest/dg/API_SynthesizeSpeech.html",
  service: "polly",
  models: ["standard", "neural", "long-form", "generative"],
  acceptsAnyModel: true,
  defaultModel: "standard",
  toRequest: (call) => {
    const Engine = modelOf(call);
    const OutputFormat = formatOf(call, formats);
    // Joanna has a standard and a neural voice.
    const VoiceId = call.input.voice || "Joanna";
    return postJson("/v1/speech", { Engine, OutputFormat, VoiceId, ...toText(call) }, { headers: { accept: "*/*" } });
  },
  fromResponse: toSpeech,
});

function toText({ input, model }: SpeechCall) {
  const { text, speed, speaking_pitch } = input;
  if (!hasProsody(input)) return { Text: text, TextType: "text" };
  if (typeof speaking_pitch === "number" && model !== "standard")
    refuseInput("speaking_pitch", "Only the standard voices of this provider change their pitch");
  if (typeof speed === "number" && (speed < 0.2 || speed > 2))
    refuseInput("speed", "This provider speaks at 0.2 to 2 times the usual speed");
  return { Text: `<speak>${toSsml(text, input, prosodyForms)}</speak>`, TextType: "ssml" };
}

/** https://docs.aws.amazon.com/polly/latest/dg/prosody-tag.html: 100% is the usual rate. */
const prosodyForms: ProsodyForms = {
  rate: (speed) => `${Math.round(speed * 100)}%`,
  volume: (percent) => `${signed(toDecibel(percent))}dB`,
};

/** Names of transcription jobs are unique: when the name exists already, an earlier run of this job started the transcription. */
export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://docs.aws.amazon.com/transcribe/latest/APIReference/API_StartTranscriptionJob.html",
  service: "transcribe",
  requiredSettings: bucketSettings,
  isIdempotent: true,
  // https://docs.aws.amazon.com/transcribe/latest/dg/limits-guidelines.html
  files: { maxBytes: 2 * 1024 ** 3 },
  toRequest: (call) => {
    refuseMembers(call, ["vocabulary", "profanity_filter"]);
    return uploadFile(s3, call);
  },
  next(response, call, request) {
    const state = request.state as Stored;
    if (request.service === "s3")
      return { ...toStart(call, state), state, acceptsProviderParams: true, acceptedStatuses: [400] };
    if (request.url !== undefined) return null;
    const { json } = response;
    const kind = kindOfRefusal(json);
    if (response.status === 400 && kind !== "ConflictException")
      throw new TaskFailure(statusOfKind(kind) ?? 400, asText(at(json, "Message")) ?? kind);
    const { TranscriptionJobStatus, FailureReason, Transcript } = asObject(at(json, "TranscriptionJob"));
    if (TranscriptionJobStatus === "FAILED")
      throw new TaskFailure(400, asText(FailureReason) ?? "the transcription failed");
    const url = asText(at(Transcript, "TranscriptFileUri"));
    if (TranscriptionJobStatus === "COMPLETED" && url !== null) return { path: "/", url, state };
    const poll = toAwsRequest("Transcribe.GetTranscriptionJob", { TranscriptionJobName: toName(state) });
    return { ...poll, state, waitMs: "growing" };
  },
  fromResponse({ json }) {
    const items = objectsIn(at(json, "results", "items"));
    const pieces: SpokenPiece[] = [];
    for (const { type, start_time: start, end_time: end, speaker_label, alternatives } of items) {
      const text = asString(at(alternatives, 0, "content"));
      const before = type === "punctuation" ? pieces.pop() : undefined;
      const confidence = at(alternatives, 0, "confidence");
      // A punctuation mark has no time of its own: it belongs to the word before it.
      if (before !== undefined) pieces.push({ ...before, text: before.text + text });
      else pieces.push({ text, start, end, speaker: asText(speaker_label), confidence });
    }
    const seconds = items.reduce((latest, { end_time }) => Math.max(latest, asNumber(end_time) ?? 0), 0);
    return toTranscript(asString(at(json, "results", "transcripts", 0, "transcript")), pieces, seconds);
  },
  cleanUpRequests: (call, request) => deleteFile(s3, call, request),
});

function toStart(call: TranscriptCall, state: Stored): TaskRequest {
  const { language, speakers } = call.input;
  return toAwsRequest("Transcribe.StartTranscriptionJob", {
    TranscriptionJobName: toName(state),
    Media: { MediaFileUri: `s3://${call.settings["bucket"]}/${state.key}` },
    // Transcribe takes 2 to 30 speakers.
    Settings: { ShowSpeakerLabels: true, MaxSpeakerLabels: Math.min(30, Math.max(2, speakers ?? 10)) },
    // Transcribe takes languages only with their region.
    ...(language?.includes("-") ? { LanguageCode: language } : { IdentifyLanguage: true }),
  });
}

function toName({ token }: Stored): string {
  return `switchyard-${token}`;
}
