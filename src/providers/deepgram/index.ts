import { lookUp } from "../../lib/look-up.ts";
import type { ProviderRow } from "../provider.ts";
import { countCharacters, refuseMembers, textOf } from "../shapes/inputs.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, refuseInput } from "../task.ts";
import { transcribe } from "./transcribe.ts";

interface Format {
  readonly encoding: string;
  readonly container?: string;
  readonly mediaType: string;
}

const formats: Readonly<Record<string, Format>> = {
  mp3: { encoding: "mp3", mediaType: "audio/mpeg" },
  wav: { encoding: "linear16", container: "wav", mediaType: "audio/wav" },
  pcm: { encoding: "linear16", container: "none", mediaType: "audio/pcm" },
  opus: { encoding: "opus", container: "ogg", mediaType: "audio/ogg" },
  flac: { encoding: "flac", mediaType: "audio/flac" },
  aac: { encoding: "aac", mediaType: "audio/aac" },
};

/** The vendor's names are those of voices: generation, voice and language, as in `aura-2-thalia-en`. */
const usualVoices: Readonly<Record<string, string>> = { aura: "asteria", "aura-2": "thalia" };

const longestText = 2_000;

const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://developers.deepgram.com/reference/text-to-speech/speak-request",
  models: ["aura-2", "aura"],
  acceptsAnyModel: true,
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const text = textOf(call);
    if (countCharacters(text) > longestText)
      refuseInput("text", `This provider takes at most ${longestText} characters`, "string_too_long");
    const { encoding, container } = formatOf(call, formats);
    const { speed } = call.input;
    return {
      path: "/v1/speak",
      query: { model: toVoice(call), encoding, container, ...(typeof speed === "number" && { speed }) },
      body: { kind: "json", value: { text } },
    };
  },
  fromResponse: (answer, call) => toSpeech(answer, call, formatOf(call, formats).mediaType),
};

/** The model says the generation, or the voice with all of its name; a voice may be named in full or by its own name alone. */
function toVoice(call: TaskCall): string {
  const model = call.model ?? "aura-2";
  const voice = voiceOf(call) ?? lookUp(usualVoices, model);
  if (voice === undefined) return model;
  if (voice.startsWith("aura")) return voice;
  return /-[a-z]{2}$/.test(voice) ? `${model}-${voice}` : `${model}-${voice}-en`;
}

export const deepgram: ProviderRow = {
  name: "deepgram",
  title: "Deepgram",
  docs: "https://developers.deepgram.com/docs/tts-models",
  baseUrl: "https://api.deepgram.com",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  tasks: [speak, transcribe],
};
