import { postJson, refuseMembers } from "../shapes/inputs.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import { defineTask } from "../task.ts";

const mediaTypes = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

const commonVoices = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

export const speak = defineTask({
  task: "audio/tts",
  docs: "https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create",
  models: ["gpt-4o-mini-tts", "tts-1", "tts-1-hd"],
  acceptsAnyModel: true,
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
    const { text, speed, audio_format } = call.input;
    // The vendor's names of the formats are those of the task.
    formatOf(call, mediaTypes);
    return postJson("/audio/speech", {
      model: call.model ?? "tts-1",
      input: text,
      voice: voiceOf(call) ?? "alloy",
      response_format: (audio_format ?? "mp3").toLowerCase(),
      speed: speed ?? undefined,
    });
  },
  fromResponse: (response, call) => toSpeech(response, call, formatOf(call, mediaTypes)),
});
