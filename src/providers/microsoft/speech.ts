import { lookUp } from "../../lib/look-up.ts";
import { textOf } from "../shapes/inputs.ts";
import { escapeXml, prosodyOf, signed, toSsml } from "../shapes/prosody.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import type { ProviderTask } from "../task.ts";

/** https://learn.microsoft.com/en-us/azure/ai-services/speech-service/rest-text-to-speech#audio-outputs */
const formats: Readonly<Record<string, readonly [format: string, mediaType: string]>> = {
  mp3: ["audio-24khz-96kbitrate-mono-mp3", "audio/mpeg"],
  wav: ["riff-24khz-16bit-mono-pcm", "audio/wav"],
  pcm: ["raw-24khz-16bit-mono-pcm", "audio/pcm"],
  opus: ["ogg-24khz-16bit-mono-opus", "audio/ogg"],
  ogg: ["ogg-24khz-16bit-mono-opus", "audio/ogg"],
  webm: ["webm-24khz-16bit-mono-opus", "audio/webm"],
};

/** A model is a kind of voice, and each kind has its price; without a voice this one speaks. */
const voices: Readonly<Record<string, string>> = {
  neural: "en-US-JennyNeural",
  "neural-hd": "en-US-Ava:DragonHDLatestNeural",
};

export const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://learn.microsoft.com/en-us/azure/ai-services/speech-service/rest-text-to-speech",
  models: Object.keys(voices),
  toRequest: (call) => {
    const voice = voiceOf(call) ?? lookUp(voices, call.model ?? "neural") ?? "en-US-JennyNeural";
    const language = /^[a-z]{2,3}-[A-Za-z]{2,4}/.exec(voice)?.[0] ?? "en-US";
    const inner = toSsml(textOf(call), prosodyOf(call), (percent) => `${signed(percent)}%`);
    return {
      path: "/tts/cognitiveservices/v1",
      headers: { "x-microsoft-outputformat": formatOf(call, formats)[0], accept: "*/*" },
      body: {
        kind: "text",
        mediaType: "application/ssml+xml",
        text:
          `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}">` +
          `<voice name="${escapeXml(voice)}">${inner}</voice></speak>`,
      },
    };
  },
  fromResponse: (answer, call) => toSpeech(answer, call, formatOf(call, formats)[1]),
};
