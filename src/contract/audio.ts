// POST /v3/audio/speech and /v3/audio/transcriptions: the OpenAI formats over the tasks audio/tts and audio/speech_to_text_async.

import { z } from "zod";
import { findForbiddenKey } from "../lib/forbidden-key.ts";
import { answerMembers, createEngineMembers, createEngineModelName, providerParams } from "./engine-models.ts";

export function createSpeechRequest(aliases: ReadonlySet<string>) {
  return z.looseObject({
    ...createEngineMembers(aliases),
    input: z.string().min(1).meta({ description: "What is to be spoken" }),
    voice: z
      .union([z.string().min(1).max(256), z.looseObject({ id: z.string().min(1).max(256) })])
      .nullish()
      .meta({ description: "One of the provider's; GET /v3/info/audio/tts/voices lists those that are known" }),
    response_format: z
      .string()
      .regex(/^[a-z0-9_-]{1,24}$/)
      .nullish()
      .meta({ description: "mp3 (usual), opus, aac, flac, wav, pcm, as far as the provider has it" }),
    speed: z.number().min(0.25).max(4).nullish(),
    instructions: z.string().max(4096).nullish().meta({ description: "How to speak, where the provider takes that" }),
    stream_format: z.enum(["audio"]).nullish().meta({ description: "`sse` is not offered" }),
  });
}

/** As the documents show it: without aliases. */
export const speechRequest = createSpeechRequest(new Set());

export type SpeechRequest = z.infer<typeof speechRequest>;

export const transcriptFormats = ["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

/** A form has only text. */
function numberText(min: number, max: number) {
  return z.string().transform((text, context) => {
    const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const message = `Input should be a number from ${min} to ${max}`;
    context.addIssue({ code: "custom", message, params: { type: "value_error" } });
    return z.NEVER;
  });
}

const notStreamed = z.literal(["false", "0", ""], {
  error: "The whole transcript is sent at once: leave `stream` out, or say false",
});
const jsonText = z.string().transform((text, context) => {
  try {
    const value: unknown = JSON.parse(text);
    if (findForbiddenKey(text, value) === null) return value;
    context.addIssue({ code: "custom", message: "Name is not permitted", params: { type: "forbidden_key" } });
    return z.NEVER;
  } catch {
    context.addIssue({ code: "custom", message: "Input should be valid JSON", params: { type: "json_invalid" } });
    return z.NEVER;
  }
});

/** The fields beside the file, as a form carries them. */
export function createTranscriptionFields(aliases: ReadonlySet<string>) {
  const modelName = createEngineModelName(aliases);
  return z.looseObject({
    model: modelName,
    language: z.string().min(2).max(35).optional(),
    prompt: z.string().max(16_384).optional(),
    response_format: z.enum(transcriptFormats).default("json"),
    temperature: numberText(0, 1).optional(),
    stream: notStreamed.optional(),
    "timestamp_granularities[]": z.array(z.enum(["segment", "word"])).default([]),
    "fallbacks[]": z.array(modelName).max(3).default([]),
    strict_parameters: z
      .enum(["true", "false"])
      .transform((text) => text === "true")
      .optional(),
    provider_params: jsonText.pipe(providerParams).optional(),
  });
}

export type TranscriptionFields = z.output<ReturnType<typeof createTranscriptionFields>>;

const engineModelName = createEngineModelName(new Set());

/** The whole form, for the documents. */
export const transcriptionRequest = z.object({
  file: z.string().meta({ format: "binary", description: "The recording. Its kind is told from its bytes." }),
  model: engineModelName,
  language: z.string().optional().meta({ description: "BCP-47; left out, the provider finds it out" }),
  prompt: z.string().optional().meta({ description: "Words to expect, where the provider takes that" }),
  response_format: z.enum(transcriptFormats).default("json"),
  temperature: z.number().min(0).max(1).optional(),
  "timestamp_granularities[]": z.array(z.enum(["segment", "word"])).optional(),
  "fallbacks[]": z.array(engineModelName).max(3).optional(),
  strict_parameters: z.boolean().optional(),
  provider_params: z.string().optional().meta({ description: "A JSON object, merged into the vendor's call" }),
});

const span = { start: z.number(), end: z.number() };

export const transcription = z.looseObject({
  text: z.string(),
  task: z.literal("transcribe").optional(),
  language: z.string().optional(),
  duration: z.number().optional().meta({ description: "Seconds, up to the end of the last words" }),
  segments: z.array(z.looseObject({ ...span, text: z.string() })).optional(),
  words: z.array(z.looseObject({ ...span, word: z.string() })).optional(),
  ...answerMembers,
});

export const voiceList = z.object({
  items: z.array(
    z.object({
      model: z.string().meta({ description: "The model that has it, as /v3/audio/speech takes it" }),
      provider: z.string(),
      voice: z.string(),
      languages: z.array(z.string()).nullable().meta({ description: "BCP-47; null: whatever the text is in" }),
    }),
  ),
});

export type VoiceList = z.output<typeof voiceList>;
