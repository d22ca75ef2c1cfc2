// Azure AI Speech: text to speech, and fast transcription.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asString, at, objectsIn, textsIn } from "../lenient.ts";
import { fileOf, filePart, modelOf } from "../shapes/inputs.ts";
import { escapeXml, formatOf, type ProsodyForms, type SpeechCall, signed, toSpeech, toSsml } from "../shapes/speech.ts";
import { type TranscriptCall, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, refuseInput } from "../task.ts";

/** https://learn.microsoft.com/en-us/azure/ai-services/speech-service/rest-text-to-speech#audio-outputs */
const formats = {
  mp3: "audio-24khz-96kbitrate-mono-mp3",
  wav: "riff-24khz-16bit-mono-pcm",
  pcm: "raw-24khz-16bit-mono-pcm",
  opus: "ogg-24khz-16bit-mono-opus",
  ogg: "ogg-24khz-16bit-mono-opus",
  webm: "webm-24khz-16bit-mono-opus",
};

/** A model is a kind of voice with its own price, here with its default voice. */
const voices: Readonly<Record<string, string>> = {
  neural: "en-US-JennyNeural",
  "neural-hd": "en-US-Ava:DragonHDLatestNeural",
};

/**
 * Azure reads a percentage as a change, with and without a sign; a plain number multiplies the usual rate.
 * https://learn.microsoft.com/en-us/azure/ai-services/speech-service/speech-synthesis-markup-voice#adjust-prosody
 */
const prosodyForms: ProsodyForms = {
  rate: (speed) => String(speed),
  volume: (percent) => `${signed(percent)}%`,
};

export const speak = defineTask("audio/tts", {
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/speech-service/rest-text-to-speech",
  models: Object.keys(voices),
  defaultModel: "neural",
  defaultModelFor: ({ voice }) => (voice ? kindOf(voice) : null),
  toRequest: (call) => {
    const voice = chooseVoice(call);
    const language = /^[a-z]{2,3}-[A-Za-z]{2,4}/.exec(voice)?.[0] ?? "en-US";
    const inner = toSsml(call.input.text, call.input, prosodyForms);
    return {
      path: "/tts/cognitiveservices/v1",
      headers: { "x-microsoft-outputformat": formatOf(call, formats), accept: "*/*" },
      body: {
        kind: "text",
        mediaType: "application/ssml+xml",
        text:
          `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}">` +
          `<voice name="${escapeXml(voice)}">${inner}</voice></speak>`,
      },
    };
  },
  fromResponse: toSpeech,
});

function chooseVoice(call: SpeechCall): string {
  const { voice } = call.input;
  const model = modelOf(call);
  const defaultVoice = lookUp(voices, model) ?? "en-US-JennyNeural";
  if (!voice) return defaultVoice;
  if (kindOf(voice) !== model) refuseInput("voice", `The model '${model}' has voices such as ${defaultVoice}`);
  return voice;
}

/**
 * Voices of large models are named by the model after a colon, and those of OpenAI in high definition end in `NeuralHD`.
 * https://learn.microsoft.com/en-us/azure/ai-services/speech-service/high-definition-voices
 * https://learn.microsoft.com/en-us/azure/ai-services/speech-service/openai-voices
 */
function kindOf(voice: string): "neural" | "neural-hd" {
  return /:|NeuralHD/i.test(voice) ? "neural-hd" : "neural";
}

/** Fast transcription answers when it is done, so there is nothing to poll. */
export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create",
  toRequest: async (call) => {
    const definition = { name: "definition", value: JSON.stringify(toDefinition(call)) };
    return {
      path: "/speechtotext/transcriptions:transcribe",
      query: { "api-version": "2025-10-15" },
      body: { kind: "form", parts: [definition, await filePart("audio", fileOf(call))] },
      paramsPath: ["definition"],
    };
  },
  fromResponse({ json }) {
    const pieces = objectsIn(at(json, "phrases")).map((phrase) => {
      const [start, duration] = [toSeconds(phrase["offsetMilliseconds"]), toSeconds(phrase["durationMilliseconds"])];
      return {
        text: asString(phrase["text"]),
        start,
        end: start === null || duration === null ? null : start + duration,
        speaker: asNumber(phrase["speaker"]),
        confidence: phrase["confidence"],
      };
    });
    const text = textsIn(at(json, "combinedPhrases"), "text").join("\n");
    return toTranscript(text, pieces, toSeconds(at(json, "durationMilliseconds")));
  },
});

function toSeconds(value: unknown): number | null {
  const milliseconds = asNumber(value);
  return milliseconds === null ? null : milliseconds / 1_000;
}

function toDefinition(call: TranscriptCall): JsonObject {
  const { language, speakers, profanity_filter } = call.input;
  const phrases = vocabularyOf(call);
  return {
    profanityFilterMode: profanity_filter ? "Masked" : "None",
    // Azure takes 2 to 35 speakers.
    diarization: { enabled: true, maxSpeakers: Math.min(35, Math.max(2, speakers ?? 10)) },
    ...(language && { locales: [language] }),
    ...(phrases.length > 0 && { phraseList: { phrases } }),
  };
}
