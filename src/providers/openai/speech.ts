import { refuseMembers, textOf } from "../shapes/inputs.ts";
import { formatOf, toSpeech, voiceOf } from "../shapes/speech.ts";
import type { ProviderTask } from "../task.ts";

/** The vendor's name of a format is ours. */
const mediaTypes: Readonly<Record<string, readonly [format: string, mediaType: string]>> = {
  mp3: ["mp3", "audio/mpeg"],
  opus: ["opus", "audio/ogg"],
  aac: ["aac", "audio/aac"],
  flac: ["flac", "audio/flac"],
  wav: ["wav", "audio/wav"],
  pcm: ["pcm", "audio/pcm"],
};

const early = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

export const speak: ProviderTask = {
  task: "audio/tts",
  docs: "https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create",
  models: ["gpt-4o-mini-tts", "tts-1", "tts-1-hd"],
  acceptsAnyModel: true,
  passthroughMembers: ["instructions"],
  // https://developers.openai.com/api/docs/guides/text-to-speech
  voices: {
    languages: null,
    models: {
      "gpt-4o-mini-tts": [...early, "ballad", "cedar", "marin", "verse"].sort(),
      "tts-1": early,
      "tts-1-hd": early,
    },
  },
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const [format] = formatOf(call, mediaTypes);
    const { speed } = call.input;
    return {
      path: "/audio/speech",
      body: {
        kind: "json",
        value: {
          model: call.model ?? "tts-1",
          input: textOf(call),
          voice: voiceOf(call) ?? "alloy",
          response_format: format,
          ...(typeof speed === "number" && { speed }),
        },
      },
    };
  },
  fromResponse: (answer, call) => toSpeech(answer, call, formatOf(call, mediaTypes)[1]),
};
