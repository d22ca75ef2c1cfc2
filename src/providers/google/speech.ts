// Google Cloud Text-to-Speech, and the second version of Speech-to-Text, which reads files of more than a minute from a bucket only.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject, asString, asText, at, objectsIn, textsIn } from "../lenient.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { modelOf, postJson } from "../shapes/inputs.ts";
import { formatOf, fromAudio, type SpeechCall, toDecibel, toSemitones } from "../shapes/speech.ts";
import { type TranscriptCall, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask, refuseInput, type TaskRequest } from "../task.ts";
import { addressOf, bucketSettings, storage } from "./bucket.ts";
import { pollOperation, throwIfFailed, toSeconds } from "./google-json.ts";

const formats = { mp3: "MP3", wav: "LINEAR16", ogg: "OGG_OPUS", opus: "OGG_OPUS", pcm: "PCM" };

/** A model is a family of voices, here with its default voice. https://docs.cloud.google.com/text-to-speech/docs/list-voices-and-types */
const voices: Readonly<Record<string, string>> = {
  standard: "en-US-Standard-C",
  wavenet: "en-US-Wavenet-C",
  neural2: "en-US-Neural2-C",
  studio: "en-US-Studio-O",
  news: "en-US-News-K",
  casual: "en-US-Casual-K",
  polyglot: "en-US-Polyglot-1",
  "chirp-hd": "en-US-Chirp-HD-F",
  "chirp3-hd": "en-US-Chirp3-HD-Kore",
};

const geminiModels = ["gemini-2.5-flash-tts", "gemini-2.5-flash-lite-preview-tts", "gemini-2.5-pro-tts"];

export const speak = defineTask("audio/tts", {
  docs: "https://docs.cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize",
  service: "texttospeech",
  models: [...Object.keys(voices), ...geminiModels],
  acceptsAnyModel: true,
  defaultModel: "standard",
  // A voice belongs to a model. `prompt` is for models that are billed by the audio.
  billedParams: [
    ...["text", "ssml", "markup", "multiSpeakerMarkup"],
    ...["name", "modelName", "customVoice", "voiceClone"],
  ],
  toRequest: (call) => {
    const { text, speed, speaking_pitch: pitch, speaking_volume: volume } = call.input;
    const audioConfig = {
      audioEncoding: formatOf(call, formats),
      ...(typeof speed === "number" && { speakingRate: speed }),
      ...(typeof pitch === "number" && { pitch: toSemitones(pitch) }),
      ...(typeof volume === "number" && { volumeGainDb: toDecibel(volume) }),
    };
    return postJson("/v1/text:synthesize", { input: { text }, voice: toVoice(call), audioConfig });
  },
  fromResponse: ({ json }, call) => fromAudio(Buffer.from(asString(at(json, "audioContent")), "base64"), call),
});

/** `en-US-Wavenet-C`: the language, the family, the voice. Voices of Gemini models are single words, for any language. */
function toVoice(call: SpeechCall): JsonObject {
  const model = modelOf(call);
  const voice = call.input.voice || null;
  const defaultVoice = lookUp(voices, model);
  if (defaultVoice === undefined) {
    const [, language, name] = /^([a-z]{2,3}-[A-Z]{2})[-_](.+)$/.exec(voice ?? "") ?? [null, "en-US", voice ?? "Kore"];
    return { languageCode: language, name, modelName: model };
  }
  const name = voice ?? defaultVoice;
  const [language, country] = name.split("-");
  if (!new RegExp(`^[a-z]{2,3}-\\w+-${model}-`, "i").test(name))
    refuseInput("voice", `The model '${model}' has voices such as ${defaultVoice}`);
  return { languageCode: `${language}-${country}`, name };
}

/** Detects the language and tells speakers apart. https://docs.cloud.google.com/speech-to-text/docs/models/chirp-3 */
const transcriptionModel = "chirp_3";

export const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://docs.cloud.google.com/speech-to-text/docs/reference/rest/v2/projects.locations.recognizers/batchRecognize",
  service: "speech-us",
  models: [transcriptionModel],
  acceptsAnyModel: true,
  defaultModel: transcriptionModel,
  billedParams: ["model"],
  requiredSettings: { ...bucketSettings, project: "GOOGLE_CLOUD_PROJECT", location: "GOOGLE_CLOUD_LOCATION" },
  toRequest: (call) => uploadFile(storage, call),
  next: ({ json }, call, request) =>
    request.service === storage.service ? toStart(call, request.state as Stored) : pollOperation(json, "v2", request),
  fromResponse({ json }) {
    const result = asObject(Object.values(asObject(at(json, "response", "results")))[0]);
    throwIfFailed(result);
    const results = at(result, "inlineResult", "transcript", "results") ?? at(result, "transcript", "results");
    const best = objectsIn(results).map(({ alternatives }) => asObject(at(alternatives, 0)));
    const words = best.flatMap((alternative) => objectsIn(alternative["words"]));
    const pieces = words.map(({ word, startOffset, endOffset, speakerLabel, confidence }) => ({
      text: asString(word),
      start: toSeconds(startOffset),
      end: toSeconds(endOffset),
      speaker: asText(speakerLabel),
      confidence,
    }));
    const texts = textsIn(best, "transcript").flatMap((text) => text.trim() || []);
    const billed = at(json, "response", "totalBilledDuration") ?? at(result, "metadata", "totalBilledDuration");
    return toTranscript(texts.join(" "), pieces, toSeconds(billed));
  },
  cleanUpRequests: (call, request) => deleteFile(storage, call, request),
});

/** These models are available in two locations; `us` serves all other continents. */
function toStart(call: TranscriptCall, state: Stored): TaskRequest {
  const { project = "", location: configured } = call.settings;
  const location = configured?.startsWith("eu") ? "eu" : "us";
  const path = `/v2/projects/${encodeURIComponent(project)}/locations/${location}/recognizers/_:batchRecognize`;
  const value = {
    config: toConfig(call),
    files: [{ uri: addressOf(call, state.key) }],
    recognitionOutputConfig: { inlineResponseConfig: {} },
  };
  return postJson(path, value, {
    service: `speech-${location}`,
    paramsPath: ["config"],
    acceptsProviderParams: true,
    state,
  });
}

function toConfig(call: TranscriptCall): JsonObject {
  const { language, speakers, profanity_filter } = call.input;
  const phrases = vocabularyOf(call).map((value) => ({ value }));
  return {
    autoDecodingConfig: {},
    model: modelOf(call),
    languageCodes: [language || "auto"],
    features: {
      enableAutomaticPunctuation: true,
      profanityFilter: profanity_filter,
      // Word times are not requested: Google would refuse files of more than twenty minutes.
      diarizationConfig: speakers ? { minSpeakerCount: speakers, maxSpeakerCount: speakers } : {},
    },
    ...(phrases.length > 0 && { adaptation: { phraseSets: [{ inlinePhraseSet: { phrases } }] } }),
  };
}
