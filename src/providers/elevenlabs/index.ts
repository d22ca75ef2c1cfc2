import type { ProviderRow } from "../provider.ts";
import { refuseMembers, textOf } from "../shapes/inputs.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import type { ProviderTask } from "../task.ts";
import { transcribe } from "./transcribe.ts";

const formats: Readonly<Record<string, readonly [format: string, mediaType: string]>> = {
  mp3: ["mp3_44100_128", "audio/mpeg"],
  opus: ["opus_48000_96", "audio/ogg"],
  wav: ["wav_24000", "audio/wav"],
  pcm: ["pcm_24000", "audio/pcm"],
  ulaw: ["ulaw_8000", "audio/basic"],
};

/** The voice of the documentation's own examples, which every account has. */
const usualVoice = "JBFqnCBsd6RMkjVDRZzb";

const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://elevenlabs.io/docs/api-reference/text-to-speech/convert",
  models: [
    "eleven_v3",
    "eleven_multilingual_v2",
    "eleven_flash_v2_5",
    "eleven_turbo_v2_5",
    "eleven_flash_v2",
    "eleven_turbo_v2",
    "eleven_monolingual_v1",
  ],
  acceptsAnyModel: true,
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const [format] = formatOf(call, formats);
    const { speed } = call.input;
    return {
      path: `/v1/text-to-speech/${encodeURIComponent(voiceOf(call) ?? usualVoice)}`,
      query: { output_format: format },
      headers: { accept: "audio/*" },
      body: {
        kind: "json",
        value: {
          text: textOf(call),
          model_id: call.model ?? "eleven_multilingual_v2",
          ...(typeof speed === "number" && { voice_settings: { speed } }),
        },
      },
    };
  },
  fromResponse: (answer, call) => toSpeech(answer, call, formatOf(call, formats)[1]),
};

export const elevenlabs: ProviderRow = {
  name: "elevenlabs",
  title: "ElevenLabs",
  docs: "https://elevenlabs.io/docs/api-reference/introduction",
  baseUrl: "https://api.elevenlabs.io",
  auth: { kind: "header", name: "xi-api-key" },
  // https://help.elevenlabs.io/hc/en-us/articles/19572237925521: the credits are used up.
  errors: [{ status: 401, says: /"status"\s*:\s*"quota_exceeded"/, means: "rate_limit" }],
  tasks: [speak, transcribe],
};
