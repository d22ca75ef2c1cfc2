/** https://developers.openai.com/api/reference/resources/audio and …/images */
export const openaiMembers = {
  provider: "openai",
  members: {
    "audio/tts": ["instructions"],
    "audio/speech_to_text_async": ["prompt", "temperature"],
    "image/generation": [
      "background",
      "moderation",
      "output_compression",
      "output_format",
      "quality",
      "safety_identifier",
      "style",
      "user",
    ],
  },
};

const early = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

/** https://developers.openai.com/api/docs/guides/text-to-speech */
export const openaiVoices = {
  provider: "openai",
  languages: null,
  models: {
    "gpt-4o-mini-tts": [...early, "ballad", "cedar", "marin", "verse"].sort(),
    "tts-1": early,
    "tts-1-hd": early,
  },
};
