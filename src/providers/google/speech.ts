import type { JsonObject } from "../dialect.ts";
import { asText, at } from "../lenient.ts";
import { countCharacters, textOf } from "../shapes/inputs.ts";
import { prosodyOf, toDecibel, toSemitones } from "../shapes/prosody.ts";
import { formatOf, voiceOf } from "../shapes/speech.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, refuseInput } from "../task.ts";

const formats: Readonly<Record<string, readonly [encoding: string, mediaType: string]>> = {
  mp3: ["MP3", "audio/mpeg"],
  wav: ["LINEAR16", "audio/wav"],
  ogg: ["OGG_OPUS", "audio/ogg"],
  opus: ["OGG_OPUS", "audio/ogg"],
  pcm: ["PCM", "audio/pcm"],
};

/** A model is a family of voices; without a voice this one speaks. https://docs.cloud.google.com/text-to-speech/docs/list-voices-and-types */
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

const spoken = ["gemini-2.5-flash-tts", "gemini-2.5-flash-lite-preview-tts", "gemini-2.5-pro-tts"];

export const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://docs.cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize",
  service: "texttospeech",
  models: [...Object.keys(voices), ...spoken],
  acceptsAnyModel: true,
  toRequest: (call) => {
    const { speed, pitch, volume } = prosodyOf(call);
    return {
      path: "/v1/text:synthesize",
      body: {
        kind: "json",
        value: {
          input: { text: textOf(call) },
          voice: toVoice(call),
          audioConfig: {
            audioEncoding: formatOf(call, formats)[0],
            ...(speed !== null && { speakingRate: speed }),
            ...(pitch !== null && { pitch: toSemitones(pitch) }),
            ...(volume !== null && { volumeGainDb: toDecibel(volume) }),
          },
        },
      },
    };
  },
  fromResponse: (answer, call) => {
    const content = asText(at(answer.json, "audioContent"));
    if (content === null) throw new TypeError("there is no audio in the answer");
    return {
      output: {},
      units: { char: countCharacters(textOf(call)), request: 1 },
      binaries: [
        {
          base64Path: null,
          urlPath: ["audio_resource_url"],
          bytes: Buffer.from(content, "base64"),
          mediaType: formatOf(call, formats)[1],
        },
      ],
      original: null,
    };
  },
};

/** `en-US-Wavenet-C`: the language, the family, the voice. A speaking model has voices of one word, in any language. */
function toVoice(call: TaskCall): JsonObject {
  const model = call.model ?? "standard";
  const voice = voiceOf(call);
  const usual = Object.hasOwn(voices, model) ? voices[model] : undefined;
  if (usual === undefined) {
    const [, language, name] = /^([a-z]{2,3}-[A-Z]{2})[-_](.+)$/.exec(voice ?? "") ?? [null, "en-US", voice ?? "Kore"];
    return { languageCode: language, name, modelName: model };
  }
  const name = voice ?? usual;
  const [language, country] = name.split("-");
  if (!new RegExp(`^[a-z]{2,3}-\\w+-${model}-`, "i").test(name))
    refuseInput("voice", `The model '${model}' has voices such as ${usual}`);
  return { languageCode: `${language}-${country}`, name };
}
