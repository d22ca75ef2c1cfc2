// POST /v3/audio/speech and /v3/audio/transcriptions: the OpenAI formats over the engines of audio/tts and audio/speech_to_text_async.

import * as contract from "../../contract/audio.ts";
import { parse } from "../../contract/problems.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import type { TemporaryFile } from "../../files/uploads.ts";
import { tagCaller } from "../../inference/tag-caller.ts";
import {
  runShapedTask,
  type ShapedAnswer,
  type ShapedContext,
  type TakenBinary,
} from "../../inference/universal-ai/shaped-task.ts";
import { toTranscript } from "../../inference/universal-ai/transcript-shape.ts";
import { listVoices } from "../../inference/universal-ai/voices.ts";
import { contextOf, createTaskReader, taskRoute } from "../model-call.ts";
import { type Reply, reply, replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const speechNames = {
  text: "input",
  // An unsupported language is that of the text.
  language: "input",
  audio_format: "response_format",
  voice: "voice",
  speed: "speed",
};
const speechMembers = ["input", "voice", "response_format", "speed", "stream_format"];
const transcriptionNames = { file: "file", language: "language" };
const transcriptionMembers = ["fallbacks[]", "language", "response_format", "stream", "timestamp_granularities[]"];

export function audioRoutes({ universalAi, aliases, uploads }: RouteDependencies): Route[] {
  const readSpeech = createTaskReader(universalAi, "audio/tts", speechMembers);
  const readTranscription = createTaskReader(universalAi, "audio/speech_to_text_async", transcriptionMembers);
  const transcriptionFields = contract.createTranscriptionFields(aliases);

  async function transcribe(file: TemporaryFile<contract.TranscriptionFields>, context: ShapedContext): Promise<Reply> {
    const { fields } = file;
    const { language, response_format: format } = fields;
    const answer = await runShapedTask(
      universalAi,
      {
        ...readTranscription({ ...fields, fallbacks: fields["fallbacks[]"] }),
        input: { file: file.name, ...(language !== undefined && { language }) },
        names: transcriptionNames,
        wantsOriginal: true,
        files: { file },
      },
      context,
    );
    const wantsWords = fields["timestamp_granularities[]"].includes("word");
    const wish = { format, language: language ?? null, wantsWords };
    const shaped = toTranscript(answer.output, wish, answer.original_response);
    if (shaped.kind === "json") return replyJson({ ...shaped.members, ...answer.added });
    const type = `${shaped.mediaType}; charset=utf-8`;
    return reply(shaped.text, { headers: { "content-type": type, ...toHeaders(answer) } });
  }

  return [
    defineRoute("createSpeech", "Speak a text", {
      ...taskRoute,
      description:
        "The OpenAI format over the engines of `audio/tts`. The answer is the audio itself; provider and cost are in the headers " +
        "`x-switchyard-provider` and `x-switchyard-cost`.",
      path: "/v3/audio/speech",
      body: { kind: "json", schema: contract.createSpeechRequest(aliases) },
      answers: [{ status: 200, description: "The audio; `content-type` names its format.", contentType: "audio/mpeg" }],
      example: { body: { model: "local", voice: "slt", input: "Good morning." }, output: "good-morning.mp3" },
      async run(call) {
        let audio: TakenBinary | null = null;
        const task = {
          ...readSpeech(call.body),
          input: toSpeechInput(call.body),
          names: speechNames,
          takeBinary(binary: TakenBinary) {
            audio = binary;
            return "";
          },
        };
        const answer = await runShapedTask(universalAi, task, { ...contextOf(call), baseUrl: call.baseUrl });
        return sendAudio(audio, answer);
      },
    }),
    defineRoute("createTranscription", "Transcribe a recording", {
      ...taskRoute,
      description:
        "The OpenAI format over the engines of `audio/speech_to_text_async`; the answer is sent when the transcript is complete. The " +
        "file is written to disk while it arrives, and deleted after the answer.",
      path: "/v3/audio/transcriptions",
      body: { kind: "form", schema: contract.createTranscriptionForm(transcriptionFields) },
      answers: [
        { status: 200, description: "The transcript.", schema: contract.transcription },
        { status: 200, description: "With `response_format: text`.", contentType: "text/plain" },
        { status: 200, description: "With `srt`.", contentType: "application/x-subrip" },
        { status: 200, description: "With `vtt`.", contentType: "text/vtt" },
      ],
      example: { form: ["file=@recording.wav", "model=sandbox"] },
      async run(call) {
        const file = await uploads.receiveTemporary(call.request, (fields) => parse(transcriptionFields, fields));
        try {
          const caller = tagCaller(call.caller, file.fields.tags, call.trace);
          refuseOtherTypes(file);
          return await transcribe(file, { ...contextOf(call), caller, baseUrl: call.baseUrl });
        } finally {
          await file.delete();
        }
      },
    }),
    defineRoute("listVoices", "List voices", {
      tag: "Tasks",
      description: "The voices of the configured text-to-speech providers whose voices do not depend on the account.",
      method: "GET",
      path: "/v3/info/audio/tts/voices",
      key: "none",
      answers: [{ status: 200, description: "The voices.", schema: contract.voiceList }],
      run: () => replyJson(listVoices(universalAi.engines)),
    }),
  ];
}

function toSpeechInput({ input, voice, speed, response_format }: contract.SpeechRequest) {
  return {
    text: input,
    voice: typeof voice === "object" && voice !== null ? voice.id : (voice ?? null),
    speed: speed ?? null,
    audio_format: response_format ?? "mp3",
  };
}

function sendAudio(audio: TakenBinary | null, answer: ShapedAnswer): Reply {
  if (audio === null)
    throw new GatewayError("provider_bad_response", `The provider '${answer.added.provider}' answered without audio.`);
  const { bytes, mediaType } = audio;
  return reply(bytes, { headers: { "content-type": mediaType, ...toHeaders(answer) } });
}

/** The members that a JSON answer would have. A cost that is not known has no header: it is not 0. */
function toHeaders({ added, model }: ShapedAnswer): Record<string, string> {
  const { provider, cost, cost_reason, provider_time } = added;
  return {
    "x-switchyard-provider": provider,
    ...(model !== null && { "x-switchyard-model": model }),
    ...(cost !== null && { "x-switchyard-cost": String(cost) }),
    ...(cost_reason !== undefined && { "x-switchyard-cost-reason": cost_reason }),
    "x-switchyard-provider-time": String(provider_time),
  };
}

/** A file of an unknown type may be a recording. */
function refuseOtherTypes({ mediaType }: TemporaryFile<unknown>): void {
  if (/^(?:audio|video)\//.test(mediaType) || /^application\/(?:octet-stream|ogg)$/.test(mediaType)) return;
  const msg = `The file is ${mediaType}, and should be a recording`;
  throw new ValidationError([{ loc: ["body", "file"], msg, type: "file_type_not_allowed" }]);
}
