import { asNumber, asString, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { fileOf, languageOf, modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { formatOf, toSpeech } from "../shapes/speech.ts";
import { toPiece, toTranscript, vocabularyOf } from "../shapes/transcript.ts";
import { defineTask } from "../task.ts";

const formats = {
  mp3: "mp3_44100_128",
  opus: "opus_48000_96",
  wav: "wav_24000",
  pcm: "pcm_24000",
  ulaw: "ulaw_8000",
};

/** The voice of the examples in the documentation, which every account has. */
const defaultVoice = "JBFqnCBsd6RMkjVDRZzb";

const speak = defineTask("audio/tts", {
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
  defaultModel: "eleven_multilingual_v2",
  toRequest: (call) => {
    refuseMembers(call, ["speaking_pitch", "speaking_volume"]);
    const { text, speed } = call.input;
    const body = {
      text,
      model_id: modelOf(call),
      voice_settings: typeof speed === "number" ? { speed } : undefined,
    };
    return postJson(`/v1/text-to-speech/${encodeURIComponent(call.input.voice || defaultVoice)}`, body, {
      query: { output_format: formatOf(call, formats) },
      headers: { accept: "audio/*" },
    });
  },
  fromResponse: toSpeech,
});

/** The vendor responds when the transcript is complete, so there is nothing to poll. */
const transcribe = defineTask("audio/speech_to_text_async", {
  docs: "https://elevenlabs.io/docs/api-reference/speech-to-text/convert",
  models: ["scribe_v2", "scribe_v1"],
  acceptsAnyModel: true,
  defaultModel: "scribe_v2",
  toRequest: (call) => {
    refuseMembers(call, ["profanity_filter"]);
    return postForm("/v1/speech-to-text", {
      model_id: modelOf(call),
      diarize: true,
      language_code: languageOf(call)?.split("-")[0],
      num_speakers: call.input.speakers,
      keyterms: vocabularyOf(call),
      file: fileOf(call),
    });
  },
  fromResponse({ json }) {
    const words = objectsIn(at(json, "words")).filter(({ type }) => type === "word");
    const pieces = words.map((word) => {
      const { text, speaker_id, logprob } = word;
      const confidence = typeof logprob === "number" ? Math.exp(logprob) : null;
      return { ...toPiece(word, text, asText(speaker_id)), confidence };
    });
    return toTranscript(asString(at(json, "text")), pieces, asNumber(at(json, "audio_duration_secs")));
  },
});

export const elevenlabs = defineProvider("elevenlabs", "ElevenLabs", {
  docs: "https://elevenlabs.io/docs/api-reference/introduction",
  baseUrl: "https://api.elevenlabs.io",
  auth: { kind: "header", name: "xi-api-key" },
  // https://help.elevenlabs.io/hc/en-us/articles/19572237925521: no credits are left.
  errors: [{ status: 401, says: /"status"\s*:\s*"quota_exceeded"/, means: "rate_limit" }],
  billedParams: ["text", "model_id"],
  tasks: [speak, transcribe],
});
