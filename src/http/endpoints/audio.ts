// POST /v3/audio/speech and /v3/audio/transcriptions: the OpenAI formats over the engines of the universal endpoint.

import {
  createSpeechRequest,
  createTranscriptionFields,
  type SpeechRequest,
  type TranscriptionFields,
} from "../../contract/audio.ts";
import { engineMemberNames } from "../../contract/engine-models.ts";
import { parse } from "../../contract/problems.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import type { TemporaryFile, Uploads } from "../../files/uploads.ts";
import { runShapedTask, type ShapedAnswer, type TakenBinary } from "../../inference/universal-ai/shaped-task.ts";
import { toTranscript } from "../../inference/universal-ai/transcript-shape.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import { listVoices } from "../../inference/universal-ai/voices.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type Reply, reply, replyJson } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { toShapedContext } from "../shaped-context.ts";

interface Dependencies {
  readonly universalAi: UniversalAi;
  /** Names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  readonly uploads: Uploads;
  readonly publicUrl: string | null;
}

const speechTask = "audio/tts";
const transcriptionTask = "audio/speech_to_text_async";
const unknownType = "application/octet-stream";

const speechNames = {
  text: "input",
  // The text is in one that the engine does not speak.
  language: "input",
  audio_format: "response_format",
  voice: "voice",
  speed: "speed",
};
const speechMembers: ReadonlySet<string> = new Set([
  ...engineMemberNames,
  "input",
  "voice",
  "response_format",
  "speed",
  "stream_format",
]);
const transcriptionMembers: ReadonlySet<string> = new Set([
  ...engineMemberNames,
  "fallbacks[]",
  "language",
  "response_format",
  "stream",
  "timestamp_granularities[]",
]);

export function audioRoutes({ universalAi, aliases, uploads, publicUrl }: Dependencies): Route[] {
  const speechSchema = createSpeechRequest(aliases);
  const transcriptionSchema = createTranscriptionFields(aliases);

  async function speak(call: Call): Promise<Reply> {
    const request = parse(speechSchema, call.body?.value);
    const context = toShapedContext(call, publicUrl);
    const { model, fallbacks, provider_params, strict_parameters } = request;
    let audio: TakenBinary | null = null;
    const answer = await runShapedTask(
      universalAi,
      {
        task: speechTask,
        models: universalAi.aliases.resolveFor(speechTask, [model, ...(fallbacks ?? [])]),
        input: toSpeechInput(request),
        names: speechNames,
        others: withoutMembers(request, speechMembers),
        providerParams: provider_params,
        isStrict: strict_parameters === true,
        takeBinary(binary) {
          audio = binary;
          return "";
        },
      },
      context,
    );
    return sendAudio(audio, answer);
  }

  /** The scope first, unlike elsewhere: nobody should send a hundred megabytes to learn that they may not. */
  async function transcribe(call: Call): Promise<Reply> {
    requireCaller(call.caller, "universal");
    const file = await uploads.receiveTemporary(call.request, (fields) => parse(transcriptionSchema, fields));
    try {
      refuseOtherTypes(file);
      return await transcribeFile(call, file);
    } finally {
      await file.delete();
    }
  }

  async function transcribeFile(call: Call, file: TemporaryFile<TranscriptionFields>): Promise<Reply> {
    const { fields } = file;
    const answer = await runShapedTask(
      universalAi,
      {
        task: transcriptionTask,
        models: universalAi.aliases.resolveFor(transcriptionTask, [fields.model, ...fields["fallbacks[]"]]),
        input: { file: file.name, ...(fields.language !== undefined && { language: fields.language }) },
        names: { file: "file", language: "language" },
        others: withoutMembers(fields, transcriptionMembers),
        providerParams: fields.provider_params,
        isStrict: fields.strict_parameters === true,
        wantsOriginal: true,
        files: { file },
      },
      toShapedContext(call, publicUrl),
    );
    const wish = {
      format: fields.response_format,
      language: fields.language ?? null,
      wantsWords: fields["timestamp_granularities[]"].includes("word"),
    };
    const shaped = toTranscript(answer.output, wish, answer.original_response);
    if (shaped.kind === "json") return replyJson({ ...shaped.members, ...answer.added });
    const type = `${shaped.mediaType}; charset=utf-8`;
    return reply(shaped.text, { headers: { "content-type": type, ...toHeaders(answer) } });
  }

  return [
    { method: "POST", path: "/v3/audio/speech", key: "inference", body: "json", run: speak },
    { method: "POST", path: "/v3/audio/transcriptions", key: "inference", body: "form", run: transcribe },
    {
      method: "GET",
      path: "/v3/info/audio/tts/voices",
      key: "none",
      run: () => replyJson(listVoices(universalAi.engines)),
    },
  ];
}

function toSpeechInput({ input, voice, speed, response_format }: SpeechRequest): JsonObject {
  return {
    text: input,
    voice: typeof voice === "object" && voice !== null ? voice.id : (voice ?? null),
    speed: speed ?? null,
    audio_format: response_format ?? "mp3",
  };
}

function withoutMembers(request: JsonObject, members: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !members.has(name)));
}

function sendAudio(audio: TakenBinary | null, answer: ShapedAnswer): Reply {
  if (audio === null)
    throw new GatewayError("provider_bad_response", `The provider '${answer.added.provider}' answered without audio.`);
  const { bytes, mediaType } = audio;
  return reply(bytes, {
    headers: { "content-type": mediaType, ...toHeaders(answer) },
  });
}

/** What a JSON answer has as members. A cost that is not known is not told: it is not 0. */
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

/** What is not known by its bytes may still be a recording; a picture is none. */
function refuseOtherTypes({ mediaType }: TemporaryFile<unknown>): void {
  if (/^(?:audio|video)\//.test(mediaType) || mediaType === unknownType || mediaType === "application/ogg") return;
  const msg = `The file is ${mediaType}, and should be a recording`;
  throw new ValidationError([{ loc: ["body", "file"], msg, type: "file_type_not_allowed" }]);
}
