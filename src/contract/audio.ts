// POST /v3/audio/speech and /v3/audio/transcriptions: the OpenAI formats over the tasks audio/tts and audio/speech_to_text_async.

import { z } from "zod";
import { findForbiddenKey } from "../lib/forbidden-key.ts";
import { component, looseComponent } from "./component.ts";
import { createEngineMembers, providerParams, taskAnswerMembers } from "./engine-models.ts";
import { createEngineModelName } from "./model-names.ts";
import { refuse } from "./problems.ts";
import { requestTags } from "./tags.ts";
import { booleanText, optionalText } from "./text-values.ts";

export function createSpeechRequest(aliases: ReadonlySet<string>) {
  return looseComponent("SpeechRequest", {
    ...createEngineMembers(aliases),
    input: z.string().min(1).describe("The text to speak."),
    voice: z
      .nullish(z.union([z.string().min(1).max(256), z.looseObject({ id: z.string().min(1).max(256) })]))
      .describe("A voice of the provider; GET /v3/info/audio/tts/voices lists the known ones."),
    response_format: z
      .nullish(z.string().regex(/^[a-z0-9_-]{1,24}$/))
      .describe("mp3 (default), opus, aac, flac, wav or pcm, if the provider supports it."),
    speed: z.number().min(0.25).max(4).nullish(),
    instructions: optionalText(4096).describe("How to speak, if the provider supports that."),
    stream_format: z.enum(["audio"]).nullish().describe("`sse` is not supported."),
  });
}

export type SpeechRequest = z.infer<ReturnType<typeof createSpeechRequest>>;

const transcriptFormats = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

function numberText(min: number, max: number) {
  return z
    .string()
    .transform((text, context) => {
      const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      return refuse(context, "value_error", `Input should be a number from ${min} to ${max}`);
    })
    .meta({ type: "number", minimum: min, maximum: max });
}

const notStreamed = z.literal(["false", "0", ""], {
  error: "The whole transcript is sent at once: leave `stream` out, or say false",
});

const jsonText = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text);
    return findForbiddenKey(text, value) === null ? value : refuse(context, "forbidden_key", "Name is not permitted");
  } catch {
    return refuse(context, "json_invalid", "Input should be valid JSON");
  }
});

/** The fields of the form beside the file. */
export function createTranscriptionFields(aliases: ReadonlySet<string>) {
  const modelName = createEngineModelName(aliases);
  return z.looseObject({
    model: modelName,
    language: z.string().min(2).max(35).optional().describe("BCP-47; when absent, the provider detects the language."),
    prompt: z.string().max(16_384).optional().describe("Words to expect, if the provider supports that."),
    response_format: z.enum(transcriptFormats).default("json"),
    temperature: numberText(0, 1).optional(),
    stream: notStreamed.optional().describe("Streaming is not supported."),
    "timestamp_granularities[]": z.array(z.enum(["segment", "word"])).default([]),
    "fallbacks[]": z.array(modelName).max(3).default([]),
    strict_parameters: booleanText.optional(),
    provider_params: jsonText
      .pipe(providerParams)
      .optional()
      .describe("A JSON object, merged into the request to the provider."),
    tags: jsonText
      .pipe(requestTags.nullable())
      .optional()
      .describe("A JSON object of up to 10 pairs, for usage reports."),
  });
}

/** The form as it is sent: the fields and the file. */
export function createTranscriptionForm(fields: ReturnType<typeof createTranscriptionFields>) {
  return fields
    .extend({
      file: z.string().meta({ format: "binary", description: "The recording. Its type is detected from its bytes." }),
    })
    .meta({ id: "TranscriptionRequest" });
}

export type TranscriptionFields = z.output<ReturnType<typeof createTranscriptionFields>>;

const span = { start: z.number(), end: z.number() };

export const transcription = looseComponent("Transcription", {
  text: z.string(),
  task: z.literal("transcribe").optional(),
  language: z.string().optional(),
  duration: z.number().optional().describe("Seconds, up to the end of the last words."),
  segments: z.array(z.looseObject({ ...span, text: z.string() })).optional(),
  words: z.array(z.looseObject({ ...span, word: z.string() })).optional(),
  ...taskAnswerMembers,
});

export const voiceList = component("VoiceList", {
  items: z.array(
    z.object({
      model: z.string().describe("The model that has the voice, as /v3/audio/speech names it."),
      provider: z.string(),
      voice: z.string(),
      languages: z.array(z.string()).nullable().describe("BCP-47; null: the language of the text."),
    }),
  ),
});

export type VoiceList = z.output<typeof voiceList>;
