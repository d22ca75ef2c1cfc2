// audio/tts by flite: English speech with small, intelligible, synthetic voices.

import type { TaskInput } from "../../../contract/tasks.ts";
import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";
import { readModelFile } from "../checksums.ts";
import { roundTo2 } from "../numbers.ts";
import { splitSentences } from "../text/sentences.ts";
import { createTextEngine } from "../text/text-engine.ts";
import { splitWindows } from "../text/windows.ts";
import { encoderPackage, loadEncoders } from "./encode.ts";
import { type Delivery, flitePackage, loadFlite, type Speech, voices } from "./flite.ts";

// 10,000 characters are ten minutes of speech and take 15 seconds.
const maxCharacters = 10_000;
// flite keeps its output in memory and takes quadratic time per sentence, so a text is spoken in parts.
const charactersPerPart = 600;
// A digit or symbol takes as long to speak as a word.
const charactersOfWord = 5;

// Moonshine understands every word of `rms` in test/quality/speech/, and 98.4 % of `slt`, 95.3 % of `awb` and 91.6 % of `kal`.
const clearestVoice = "rms";
const clearestVoiceWithPitch = "slt";

export const textToSpeech = createTextEngine({
  task: "audio/tts",
  packages: [flitePackage, encoderPackage],
  englishOnly: "speaks",
  maxCharacters,
  lightCharacters: 500,
  async load() {
    const { bytes } = await readModelFile(flitePackage, "flite.wasm");
    const speak = await loadFlite(bytes);
    const encoders = await loadEncoders();

    return (text, { input }) => {
      checkDuration(text);
      const delivery = readDelivery(input);
      const format = input.audio_format?.toLowerCase() ?? "mp3";
      const encode = lookUp(encoders, format);
      if (encode === undefined)
        return refuseInput("audio_format", `The local engine writes ${Object.keys(encoders).join(", ")}.`);
      const parts = splitSpeakable(toSpeakable(text));
      if (parts.length === 0) refuseInput("text", "There is nothing in it that could be spoken in English.");
      const speech = join(parts.map((part) => speak(part, delivery)));
      const seconds = speech.samples.length / speech.rate;
      const { bytes: audio, mediaType } = encode(amplify(speech, toFactor(input.speaking_volume)));
      return {
        output: {},
        original: { engine: "flite", voice: delivery.voice, seconds: roundTo2(seconds), rate: speech.rate },
        units: { second: seconds },
        binaries: [{ base64Path: null, urlPath: ["audio_resource_url"], bytes: audio, mediaType }],
      };
    };
  },
});

function checkDuration(text: string): void {
  const words = text.match(/[^\p{L}\p{M}\s.,;:!?'"()-]/gu)?.length ?? 0;
  if (text.length + words * (charactersOfWord - 1) <= maxCharacters) return;
  const msg = `The local engine speaks at most ${maxCharacters.toLocaleString("en")} characters. Digits and signs are spoken as words and count as ${charactersOfWord} each. Send the text in parts.`;
  refuseInput("text", msg);
}

function readDelivery(input: TaskInput<"audio/tts">): Delivery {
  const pitch = toFactor(input.speaking_pitch);
  const voice = (input.voice || (pitch === 1 ? clearestVoice : clearestVoiceWithPitch)).toLowerCase();
  const facts = lookUp(voices, voice);
  if (facts === undefined)
    return refuseInput("voice", `The local engine has the voices ${Object.keys(voices).join(", ")}.`);
  if (pitch !== 1 && !facts.hasPitch)
    refuseInput("speaking_pitch", `The voice ${voice} has one pitch only. Take another voice.`);
  return { voice, speed: input.speed ?? 1, pitch };
}

/** Converts -100 to 100 to a factor: 100 means twice, -100 half. */
function toFactor(percent: number | null): number {
  return 2 ** ((percent ?? 0) / 100);
}

/** flite supports only ASCII and would spell out the bytes of other characters. */
function toSpeakable(text: string): string {
  return text
    .replace(/[‘’‚‛]/g, "'")
    .replace(/[“”„‟«»]/g, '"')
    .replace(/[‐-―]/g, "-")
    .replace(/…/g, "...")
    .replace(/€/g, " euro ")
    .replace(/£/g, " pound ")
    .replace(/&/g, " and ")
    .replace(/ß/g, "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\x20-\x7e\n]/g, " ");
}

function splitSpeakable(text: string): string[] {
  const parts: string[] = [];
  const sentences = splitSentences(text).flatMap((sentence) => splitWindows(sentence.text, charactersPerPart));
  for (const sentence of sentences) {
    if (!/[A-Za-z0-9]/.test(sentence.text)) continue;
    const last = parts.at(-1);
    if (last !== undefined && last.length + sentence.text.length < charactersPerPart)
      parts[parts.length - 1] = `${last} ${sentence.text}`;
    else parts.push(sentence.text);
  }
  return parts;
}

function join(parts: readonly Speech[]): Speech {
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.samples.length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part.samples, at);
    at += part.samples.length;
  }
  return { samples, rate: parts[0]?.rate ?? 16_000 };
}

function amplify(speech: Speech, factor: number): Speech {
  if (factor === 1) return speech;
  return { rate: speech.rate, samples: speech.samples.map((sample) => Math.max(-1, Math.min(1, sample * factor))) };
}
