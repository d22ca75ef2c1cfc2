import { lookUp } from "../../lib/look-up.ts";
import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { countCharacters, fileOf, languageOf, modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { formatOf, type SpeechCall, toSpeech } from "../shapes/speech.ts";
import { toPiece, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, refuseInput } from "../task.ts";

const formats = {
  mp3: { encoding: "mp3", container: null },
  wav: { encoding: "linear16", container: "wav" },
  pcm: { encoding: "linear16", container: "none" },
  opus: { encoding: "opus", container: "ogg" },
  flac: { encoding: "flac", container: null },
  aac: { encoding: "aac", container: null },
};

const maxTextLength = 2_000;

const speak = defineTask("audio/tts", {
  docs: "https://developers.deepgram.com/reference/text-to-speech/speak-request",
  models: ["aura-2", "aura"],
  acceptsAnyModel: true,
  defaultModel: "aura-2",
  defaultModelFor: ({ voice }) => generationOf(voice || ""),
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const { text, speed } = call.input;
    if (countCharacters(text) > maxTextLength)
      refuseInput("text", `This provider takes at most ${maxTextLength} characters`, "string_too_long");
    const { encoding, container } = formatOf(call, formats);
    return postJson("/v1/speak", { text }, { query: { model: toVoice(call), encoding, container, speed } });
  },
  fromResponse: toSpeech,
});

const defaultVoices: Readonly<Record<string, string>> = { aura: "asteria", "aura-2": "thalia" };

/**
 * The vendor's voices are models, named by generation, voice and language: `aura-2-thalia-en`. A caller may name the generation or
 * the whole voice as the model, and the voice with or without generation and language.
 */
function toVoice(call: SpeechCall): string {
  const model = modelOf(call);
  const voice = call.input.voice || lookUp(defaultVoices, model);
  if (voice === undefined) return model;
  const name = toFullName(voice, model);
  // Compared as it is sent: the voice `2-thalia` of the model `aura` would be one of `aura-2`, which has another price.
  if (generationOf(name) !== generationOf(model)) refuseInput("voice", `The model '${model}' has no voice '${voice}'`);
  return name;
}

function toFullName(voice: string, model: string): string {
  if (voice.startsWith("aura")) return voice;
  return /-[a-z]{2}$/.test(voice) ? `${model}-${voice}` : `${model}-${voice}-en`;
}

/** The generation, which has the price: `aura-2` of `aura-2-thalia-en`. Null: the name does not begin with one. */
function generationOf(name: string): string | null {
  return /^aura(?:-\d+)?(?=-|$)/.exec(name)?.[0] ?? null;
}

const defaultTranscriptionModel = "nova-3";

/** The vendor responds when the transcript is complete, so there is nothing to poll. */
const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded",
  unsupported: ["speakers"],
  // https://developers.deepgram.com/docs/models: the vendor recommends these two and no longer lists `enhanced` and `base`.
  models: [defaultTranscriptionModel, "nova-2"],
  acceptsAnyModel: true,
  defaultModel: defaultTranscriptionModel,
  toRequest: async (call) => {
    const language = languageOf(call);
    const model = modelOf(call);
    const file = fileOf(call);
    const parameter = model.startsWith("nova-3") ? "keyterm" : "keywords";
    const terms = vocabularyOf(call).map((word) => `${parameter}=${encodeURIComponent(word)}`);
    return {
      path: `/v1/listen${terms.length === 0 ? "" : `?${terms.join("&")}`}`,
      query: {
        model,
        punctuate: true,
        diarize: true,
        profanity_filter: call.input.profanity_filter,
        ...(language === null ? { detect_language: true } : { language }),
      },
      body: { kind: "bytes", bytes: await file.read(), mediaType: file.mediaType },
    };
  },
  fromResponse({ json }) {
    const channels = objectsIn(at(json, "results", "channels")).map((channel) => at(channel, "alternatives", 0));
    const pieces = channels.flatMap((channel, index) =>
      objectsIn(at(channel, "words")).map((word) => {
        const { punctuated_word, word: plainWord, speaker } = word;
        // Each channel counts its speakers from 0.
        const name = speaker === undefined ? null : `${index}-${asNumber(speaker) ?? 0}`;
        return toPiece(word, asText(punctuated_word) ?? plainWord, name);
      }),
    );
    const text = channels.map((channel) => asString(at(channel, "transcript"))).join("\n");
    return toTranscript(text, pieces, asNumber(at(json, "metadata", "duration")));
  },
});

export const deepgram = defineProvider("deepgram", "Deepgram", {
  docs: "https://developers.deepgram.com/docs/tts-models",
  baseUrl: "https://api.deepgram.com",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  billedParams: ["model", "text"],
  tasks: [speak, transcribe],
});
