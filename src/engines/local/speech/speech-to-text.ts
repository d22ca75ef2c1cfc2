// audio/speech_to_text_async: English, by Moonshine.

import { ValidationError } from "../../../errors.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { loadOnnx, onnxPackage } from "../onnx.ts";
import { createAudioDecoder, decoderPackages, refuseAudio, sampleRate } from "./decode-audio.ts";
import { loadMoonshine, type MoonshineSize, moonshinePackage, type Transcribe, tokenizerPackage } from "./moonshine.ts";
import { splitSpeech } from "./split-speech.ts";

const sizes: Readonly<Record<string, MoonshineSize>> = { "moonshine-base": "base", "moonshine-tiny": "tiny" };
const models = Object.keys(sizes);
const defaultModel = "moonshine-base";
// The longest that the models were made for.
const pieceSeconds = 30;
const mostSeconds = 2 * 3_600;
const mostBytes = 256 * 1_048_576;
// Of a job: decoding takes little beside listening.
const decodingShare = 0.02;

export const engine: LocalEngine = {
  task: "audio/speech_to_text_async",
  timeLimit: "job",
  group: "speech",
  packages: [onnxPackage, moonshinePackage, tokenizerPackage, ...decoderPackages],
  models,
  unsupported: ["speakers"],
  async load() {
    const onnx = await loadOnnx();
    const decode = createAudioDecoder();
    const loaded = new Map<string, Promise<Transcribe>>();
    const open = (model: string): Promise<Transcribe> => {
      const size = lookUp(sizes, model);
      if (size === undefined) throw new Error(`no model ${model}`);
      const known = loaded.get(model) ?? loadMoonshine(onnx, size);
      loaded.set(model, known);
      known.catch(() => loaded.delete(model));
      return known;
    };

    return async ({ model, input, files, onProgress }) => {
      refuseWishes(input);
      const file = files["file"];
      if (file === undefined) throw refuseAudio("The file is missing.");
      if (file.bytes.length > mostBytes)
        throw refuseAudio(`The file has more than ${mostBytes / 1_048_576} MB. Split it, or send it compressed.`);
      const sound = await decode(file.bytes, mostSeconds);
      const name = model ?? defaultModel;
      const transcribe = await open(name);
      onProgress(decodingShare);
      const entries: JsonObject[] = [];
      for (const { start, end } of splitSpeech(sound, { rate: sampleRate, maxSeconds: pieceSeconds })) {
        const { text, confidence } = await transcribe(sound.subarray(start, end));
        onProgress(decodingShare + (1 - decodingShare) * (end / sound.length));
        if (text === "") continue;
        entries.push({
          segment: text,
          start_time: toSeconds(start),
          end_time: toSeconds(end),
          speaker: 0,
          confidence: confidence === null ? null : round(confidence),
        });
      }
      const seconds = sound.length / sampleRate;
      return {
        output: {
          text: entries.map((entry) => entry["segment"]).join(" "),
          diarization: {
            total_speakers: 0,
            entries,
            error_message: "Speakers are not told apart by this engine; the entries are its pieces of speech.",
          },
        },
        original: { engine: name, seconds: Math.round(seconds * 100) / 100, pieces: entries.length },
        units: { second: seconds },
      };
    };
  },
};

/** Rejects options that the engine does not support. */
function refuseWishes(input: JsonObject): void {
  const { language, profanity_filter: filter, vocabulary } = input;
  if (typeof language === "string" && language !== "" && !/^en(?:[-_]|$)/i.test(language))
    throw refusal("language", `The local engine understands English only, not '${language}'.`);
  if (filter === true) throw refusal("profanity_filter", "The local engine has no filter: it writes what it hears.");
  if (Array.isArray(vocabulary) && vocabulary.length > 0)
    throw refusal("vocabulary", "The local engine takes no vocabulary.");
}

function toSeconds(samples: number): string {
  return (samples / sampleRate).toFixed(2);
}

function refusal(member: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", member], msg, type: "value_error" }]);
}
