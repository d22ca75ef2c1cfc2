// audio/speech_to_text_async: English, by Moonshine.

import type { TaskInput } from "../../../contract/tasks.ts";
import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";
import { loadOnce } from "../load-once.ts";
import { defineEngine } from "../local-engine.ts";
import { round, roundTo2 } from "../numbers.ts";
import { loadOnnx, onnxPackage } from "../onnx.ts";
import { decodeAudio, decoderPackages, sampleRate } from "./decode-audio.ts";
import { createLanguageCheck } from "./language-check.ts";
import { loadMoonshine, moonshinePackages } from "./moonshine.ts";
import { splitSpeech } from "./split-speech.ts";

const defaultModel = "moonshine-base";
// The longest input that the models were trained on.
const segmentSeconds = 30;
const maxSeconds = 2 * 3_600;
const maxBytes = 256 * 1_048_576;
// The share of decoding in the progress of a job. Transcription takes nearly all of the time.
const decodingShare = 0.02;

export const speechToText = defineEngine({
  task: "audio/speech_to_text_async",
  timeLimit: "job",
  group: "speech",
  packages: [onnxPackage, ...moonshinePackages, ...decoderPackages],
  models: ["moonshine-base", "moonshine-tiny"],
  unsupported: ["speakers"],
  async load() {
    const onnx = await loadOnnx();
    const models = {
      "moonshine-base": loadOnce(() => loadMoonshine(onnx, "base")),
      "moonshine-tiny": loadOnce(() => loadMoonshine(onnx, "tiny")),
    };

    return async ({ model, input, files, onProgress }) => {
      refuseUnsupported(input);
      const file = files["file"];
      if (file === undefined) return refuseInput("file", "The file is missing.");
      if (file.bytes.length > maxBytes)
        refuseInput("file", `The file has more than ${maxBytes / 1_048_576} MB. Split it, or send it compressed.`);
      const samples = await decodeAudio(file.bytes, maxSeconds);
      const name = model ?? defaultModel;
      const loadModel = lookUp(models, name);
      if (loadModel === undefined) throw new Error(`There is no model ${name}`);
      const transcribe = await loadModel();
      onProgress(decodingShare);
      const checkLanguage = createLanguageCheck(name, input.language);
      const entries = [];
      for (const { start, end } of splitSpeech(samples, { rate: sampleRate, maxSeconds: segmentSeconds })) {
        const transcript = await transcribe(samples.subarray(start, end));
        const { text, confidence } = transcript;
        checkLanguage.add(transcript, (end - start) / sampleRate);
        onProgress(decodingShare + (1 - decodingShare) * (end / samples.length));
        if (text === "") continue;
        entries.push({
          segment: text,
          start_time: toSeconds(start),
          end_time: toSeconds(end),
          speaker: 0,
          confidence: confidence === null ? null : round(confidence),
        });
      }
      checkLanguage.end();
      const seconds = samples.length / sampleRate;
      return {
        output: {
          text: entries.map(({ segment }) => segment).join(" "),
          diarization: {
            total_speakers: 0,
            entries,
            error_message: "Speakers are not told apart by this engine; the entries are its pieces of speech.",
          },
        },
        original: { engine: name, seconds: roundTo2(seconds), pieces: entries.length },
        units: { second: seconds },
      };
    };
  },
});

function refuseUnsupported({
  language,
  profanity_filter: filter,
  vocabulary = [],
}: TaskInput<"audio/speech_to_text_async">): void {
  if (language && !/^en(?:[-_]|$)/i.test(language))
    refuseInput("language", `The local engine understands English only, not '${language}'.`);
  if (filter) refuseInput("profanity_filter", "The local engine has no filter: it writes what it hears.");
  if (vocabulary.length > 0) refuseInput("vocabulary", "The local engine takes no vocabulary.");
}

function toSeconds(samples: number): string {
  return (samples / sampleRate).toFixed(2);
}
