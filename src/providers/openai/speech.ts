import { modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { formatOf, fromAudio, refuseJson } from "../shapes/speech.ts";
import { defineTask } from "../task.ts";

const formats = { mp3: "mp3", opus: "opus", aac: "aac", flac: "flac", wav: "wav", pcm: "pcm" };

// https://developers.openai.com/api/docs/guides/text-to-speech: 24 kHz, 16 bits, one channel.
const pcmBytesPerSecond = 48_000;

const commonVoices = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

export const speak = defineTask("audio/tts", {
  docs: "https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create",
  models: ["gpt-4o-mini-tts", "tts-1", "tts-1-hd"],
  acceptsAnyModel: true,
  defaultModel: "tts-1",
  // The length of audio without a header is computed by its format, which is a member of the input.
  billedParams: ["response_format"],
  passthroughMembers: ["instructions"],
  // https://developers.openai.com/api/docs/guides/text-to-speech
  voices: {
    languages: null,
    models: {
      "gpt-4o-mini-tts": [...commonVoices, "ballad", "cedar", "marin", "verse"].sort(),
      "tts-1": commonVoices,
      "tts-1-hd": commonVoices,
    },
  },
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const { text, speed, voice } = call.input;
    return postJson("/audio/speech", {
      model: modelOf(call),
      input: text,
      voice: voice || "alloy",
      response_format: formatOf(call, formats),
      speed: speed ?? undefined,
    });
  },
  fromResponse({ bytes, mediaType }, call) {
    refuseJson(mediaType);
    return fromAudio(bytes, call, pcmBytesPerSecond);
  },
});
