// English speech by flite: small, intelligible, synthetic voices.

import { ValidationError } from "../../../errors.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import { readModelFile } from "../checksums.ts";
import type { LocalEngine } from "../local-engine.ts";
import { fastTextPackage } from "../text/fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "../text/language.ts";
import { refuseLonger } from "../text/limits.ts";
import { splitSentences } from "../text/sentences.ts";
import { splitWindows } from "../text/windows.ts";
import { encoderPackage, loadEncoders } from "./encode.ts";
import { flitePackage, loadFlite, type Speech, voices } from "./flite.ts";

interface Wish {
  readonly voice: string;
  /** 1: the speed of the voice. */
  readonly speed: number;
  readonly pitch: number;
  readonly volume: number;
}

// 10,000 characters are ten minutes of speech and take 15 seconds.
const mostCharacters = 10_000;
// flite keeps its output in memory and takes quadratic time per sentence, so a text is spoken in pieces.
const pieceCharacters = 600;
// A digit or symbol takes as long to speak as a word.
const charactersOfWord = 5;
const defaultVoice = "slt";

export const engine: LocalEngine = {
  task: "audio/tts",
  packages: [flitePackage, encoderPackage, fastTextPackage],
  lane: "light",
  lightCharacters: 500,
  async load() {
    const detect = await loadLanguageDetector();
    const { bytes } = await readModelFile(flitePackage, "flite.wasm");
    const speak = await loadFlite(bytes);
    const encoders = await loadEncoders();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "speaks");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      refuseLongSpeech(text);
      const wish = readWish(input);
      const format = typeof input["audio_format"] === "string" ? input["audio_format"].toLowerCase() : "mp3";
      const encode = encoders[format];
      if (encode === undefined)
        throw refusal("audio_format", `The local engine writes ${Object.keys(encoders).join(", ")}.`);
      const pieces = toPieces(toSpeakable(text));
      if (pieces.length === 0) throw refusal("text", "There is nothing in it that could be spoken in English.");
      const speech = join(pieces.map((piece) => speak(piece, wish)));
      const seconds = speech.samples.length / speech.rate;
      const { bytes: audio, mediaType } = encode(louder(speech, wish.volume));
      return {
        output: {},
        original: { engine: "flite", voice: wish.voice, seconds: Math.round(seconds * 100) / 100, rate: speech.rate },
        units: { char: text.length, second: seconds },
        binaries: [{ base64Path: null, urlPath: ["audio_resource_url"], bytes: audio, mediaType }],
      };
    };
  },
};

function refuseLongSpeech(text: string): void {
  const words = text.match(/[^\p{L}\p{M}\s.,;:!?'"()-]/gu)?.length ?? 0;
  if (text.length + words * (charactersOfWord - 1) <= mostCharacters) return;
  throw refusal(
    "text",
    `The local engine speaks at most ${mostCharacters.toLocaleString("en")} characters. Digits and signs are spoken as words and count as ${charactersOfWord} each. Send the text in parts.`,
  );
}

function readWish(input: JsonObject): Wish {
  const voice =
    typeof input["voice"] === "string" && input["voice"] !== "" ? input["voice"].toLowerCase() : defaultVoice;
  const facts = voices[voice];
  if (facts === undefined) throw refusal("voice", `The local engine has the voices ${Object.keys(voices).join(", ")}.`);
  const pitch = percent(input["speaking_pitch"]);
  if (pitch !== 1 && !facts.hasPitch)
    throw refusal("speaking_pitch", `The voice ${voice} has one pitch only. Take another voice.`);
  const speed = typeof input["speed"] === "number" ? input["speed"] : 1;
  return { voice, speed, pitch, volume: percent(input["speaking_volume"]) };
}

/** -100..100 as a factor: 100 is twice, -100 is half. */
function percent(value: unknown): number {
  return typeof value === "number" ? 2 ** (value / 100) : 1;
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

function toPieces(text: string): string[] {
  const pieces: string[] = [];
  const sentences = splitSentences(text).flatMap((sentence) => splitWindows(sentence.text, pieceCharacters));
  for (const sentence of sentences) {
    if (!/[A-Za-z0-9]/.test(sentence.text)) continue;
    const last = pieces.at(-1);
    if (last !== undefined && last.length + sentence.text.length < pieceCharacters)
      pieces[pieces.length - 1] = `${last} ${sentence.text}`;
    else pieces.push(sentence.text);
  }
  return pieces;
}

function join(pieces: readonly Speech[]): Speech {
  const samples = new Float32Array(pieces.reduce((sum, piece) => sum + piece.samples.length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece.samples, at);
    at += piece.samples.length;
  }
  return { samples, rate: pieces[0]?.rate ?? 16_000 };
}

function louder(speech: Speech, factor: number): Speech {
  if (factor === 1) return speech;
  return { rate: speech.rate, samples: speech.samples.map((sample) => Math.max(-1, Math.min(1, sample * factor))) };
}

function refusal(member: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", member], msg, type: "value_error" }]);
}
