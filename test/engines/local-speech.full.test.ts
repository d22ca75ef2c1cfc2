// Speech to text by the local engine, on speech that the other local engine made.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InputFile } from "../../src/engines/engine.ts";
import { checkBytes, readModelFile } from "../../src/engines/local/checksums.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { decodeAudio, sampleRate } from "../../src/engines/local/speech/decode-audio.ts";
import { createResampler } from "../../src/engines/local/speech/resample.ts";
import { splitSpeech } from "../../src/engines/local/speech/split-speech.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { fitsTask, longTimeLimitsMs, refusalOf, runLocal } from "./local-call.ts";

const task = "audio/speech_to_text_async";
const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const sentence = "The train to Edinburgh leaves from the second platform. Please keep your ticket ready.";
let local: LocalEngines;
// For the tests that are not about the words: the smaller model takes half of the time, and a shorter recording less.
const tiny = { model: "moonshine-tiny" };
const shortSentence = "The train leaves at noon.";
let wave: Buffer;
let shortWave: Buffer;

beforeAll(async () => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
  wave = await speak(sentence, "wav");
  shortWave = await speak(shortSentence, "wav");
});
afterAll(() => local.close());

interface Transcript {
  readonly text: string;
  readonly diarization: { readonly entries: readonly { segment: string; start_time: string; end_time: string }[] };
}

async function speak(text: string, format: string): Promise<Buffer> {
  const { binaries } = await runLocal(local, "audio/tts", { text, voice: "slt", audio_format: format, language: "en" });
  return Buffer.from(binaries?.[0]?.bytes ?? []);
}

async function transcribe(bytes: Uint8Array, input: object = {}, options: { model?: string; heard?: number[] } = {}) {
  const file: InputFile = { name: "a", mediaType: "audio/wav", size: bytes.length, read: async () => bytes };
  const answer = await runLocal(
    local,
    task,
    { file: "a", ...input },
    {
      files: { file },
      model: options.model ?? null,
      onProgress: (share) => options.heard?.push(share),
    },
  );
  expect(fitsTask(task, answer.output)).toBe(true);
  return { ...answer, transcript: answer.output as unknown as Transcript };
}

async function problemOf(bytes: Uint8Array, input: object = {}) {
  return (await refusalOf(transcribe(bytes, input))).problems[0];
}

function wordsOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z ]/g, "");
}

/** 16 bits, one channel or more alike. */
function toWave(samples: Float32Array, rate: number, channels = 1): Buffer {
  const bytes = Buffer.alloc(44 + samples.length * 2 * channels);
  wave.copy(bytes, 0, 0, 44);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2 * channels, 28);
  bytes.writeUInt16LE(2 * channels, 32);
  bytes.writeUInt32LE(bytes.length - 44, 40);
  samples.forEach((sample, index) => {
    for (let channel = 0; channel < channels; channel++)
      bytes.writeInt16LE(Math.round(sample * 32_767), 44 + (index * channels + channel) * 2);
  });
  return bytes;
}

function samplesOf(bytes: Buffer): Float32Array {
  return Float32Array.from(
    { length: (bytes.length - 44) / 2 },
    (_, index) => bytes.readInt16LE(44 + index * 2) / 32_768,
  );
}

function joined(...parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

describe("speech to text", () => {
  test("either model transcribes a recording and reports its duration", async () => {
    for (const model of ["moonshine-base", "moonshine-tiny"]) {
      const { transcript, units, original } = await transcribe(wave, {}, { model });
      expect(wordsOf(transcript.text)).toBe(wordsOf(sentence));
      expect(units.second).toBeCloseTo((wave.length - 44) / 2 / 16_000, 1);
      expect(original).toMatchObject({ engine: model });
    }
  });

  test("the base model is the default", async () => {
    expect((await transcribe(shortWave, { language: "en-GB", speakers: 2 })).original).toMatchObject({
      engine: "moonshine-base",
    });
  });

  test("a segment ends at a pause between sentences, and has its time", async () => {
    const said = samplesOf(shortWave);
    const pause = new Float32Array(3 * 16_000);
    const { transcript } = await transcribe(toWave(joined(said, pause, said), 16_000), {}, tiny);
    const entries = transcript.diarization.entries;
    expect(entries.length).toBe(2);
    const between = said.length / 16_000 + 3;
    expect(Number(entries[1]?.start_time)).toBeGreaterThan(between - 0.5);
    expect(Number(entries[1]?.start_time)).toBeLessThan(between + 0.5);
    expect(Number(entries[0]?.end_time)).toBeLessThan(said.length / 16_000 + 0.5);
    expect(transcript.text).toBe(entries.map(({ segment }) => segment).join(" "));
  });

  test("reports progress while it transcribes", async () => {
    const said = samplesOf(shortWave);
    const pause = new Float32Array(2 * 16_000);
    const heard: number[] = [];
    await transcribe(toWave(joined(said, pause, said, pause, said), 16_000), {}, { ...tiny, heard });
    expect(heard.length).toBeGreaterThanOrEqual(4);
    expect(heard).toEqual([...heard].sort((a, b) => a - b));
    expect(heard.at(-1)).toBeGreaterThan(0.9);
  });

  test("speech in another language is refused unless the caller says that it is English", async () => {
    const german = await speak("Die Heizung im Büro ist seit Dienstag kaputt, und alle tragen ihre Mäntel.", "wav");
    const problem = await problemOf(german);
    expect(problem).toMatchObject({ loc: ["body", "input", "language"] });
    expect(problem?.msg).toContain("probably not English");
    await transcribe(german, { language: "en" }, tiny);
  });

  test("silence has no text", async () => {
    const { transcript } = await transcribe(toWave(new Float32Array(16_000 * 5), 16_000));
    expect(transcript.text).toBe("");
    expect(transcript.diarization.entries).toEqual([]);
  });

  for (const format of ["mp3", "ogg"]) {
    test(`${format} is understood`, async () => {
      const { transcript } = await transcribe(await speak(shortSentence, format), {}, tiny);
      expect(wordsOf(transcript.text)).toBe(wordsOf(shortSentence));
    });
  }

  // Encoded from what the voice slt says; there is no encoder of these here.
  for (const format of ["flac", "opus", "webm"]) {
    test(`${format} is understood`, async () => {
      const bytes = await Bun.file(`test/engines/speech-samples/sentence.${format}`).bytes();
      const { transcript } = await transcribe(bytes, {}, tiny);
      expect(wordsOf(transcript.text)).toBe(wordsOf(shortSentence));
    });
  }

  test("8 kHz, 44.1 kHz and two channels are transcribed", async () => {
    const said = samplesOf(wave);
    for (const [rate, channels] of [
      [8_000, 1],
      [44_100, 2],
      [48_000, 1],
    ] as const) {
      const resampler = createResampler(16_000, rate);
      const bytes = toWave(joined(resampler.push([said]), resampler.end()), rate, channels);
      expect(wordsOf((await transcribe(bytes)).transcript.text)).toBe(wordsOf(sentence));
    }
  });
});

describe("unsupported input", () => {
  test("options are refused with their name", async () => {
    expect(await problemOf(wave, { language: "fr" })).toMatchObject({ loc: ["body", "input", "language"] });
    expect((await problemOf(wave, { language: "fr" })).msg).toContain("English only");
    expect(await problemOf(wave, { profanity_filter: true })).toMatchObject({
      loc: ["body", "input", "profanity_filter"],
    });
    expect(await problemOf(wave, { vocabulary: ["Switchyard"] })).toMatchObject({
      loc: ["body", "input", "vocabulary"],
    });
  });

  test("files that are damaged or not audio are refused with the supported formats", async () => {
    const noise = new Uint8Array(5_000).map((_, index) => (index * 7_919) % 251);
    const cases: [string, Uint8Array, string][] = [
      ["empty", new Uint8Array(), "empty"],
      ["a picture", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), noise]), "wav, mp3, flac"],
      ["an m4a", Buffer.concat([Buffer.from("\0\0\0\x20ftypM4A ", "latin1"), noise]), "AAC"],
      ["an aac stream", Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80]), noise]), "AAC"],
      ["a wave of nothing", wave.subarray(0, 44), "no sound"],
      ["a damaged flac", Buffer.concat([Buffer.from("fLaC"), noise]), ""],
      ["a damaged ogg", Buffer.concat([Buffer.from("OggS\0\x02OpusHead", "latin1"), noise]), ""],
      ["a damaged webm", Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), noise]), ""],
      [
        "an mp3 of a tag only",
        Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\x40", "latin1"), new Uint8Array(200)]),
        "",
      ],
    ];
    for (const [name, bytes, words] of cases) {
      const problem = await problemOf(bytes);
      expect([name, problem.loc, problem.msg.includes(words)]).toEqual([name, ["body", "input", "file"], true]);
    }
  });

  test("a recording that is too long is refused before it fills the memory", async () => {
    const minute = toWave(new Float32Array(60 * 16_000), 16_000);
    await expect(decodeAudio(minute, 59)).rejects.toBeInstanceOf(ValidationError);
    expect((await decodeAudio(minute, 60)).length).toBe(60 * sampleRate);
  });
});

describe("a model file", () => {
  test("is not used if a single bit differs", async () => {
    const [name, path] = ["@usefulsensors/moonshine-js", "dist/model/tiny/quantized/encoder_model.onnx"];
    const { bytes } = await readModelFile(name, path);
    const changed = Uint8Array.from(bytes);
    changed[1_000_000] = (changed[1_000_000] ?? 0) ^ 1;
    expect(() => checkBytes(`${name}/${path}`, changed)).toThrow("does not match its checksum");
    expect(() => checkBytes(`${name}/dist/another.onnx`, bytes)).toThrow("no checksum");
  });
});

describe("resampling", () => {
  const tone = (hertz: number, rate: number, seconds: number) =>
    Float32Array.from({ length: rate * seconds }, (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / rate));
  const strength = (samples: Float32Array) =>
    Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

  test("preserves a tone, its duration and its loudness for any size of blocks", () => {
    for (const rate of [8_000, 22_050, 44_100, 48_000]) {
      const whole = tone(1_000, rate, 1);
      const once = createResampler(rate, 16_000);
      const expected = joined(once.push([whole]), once.end());
      expect(Math.abs(expected.length - 16_000)).toBeLessThan(4);
      expect(strength(expected.subarray(500, 15_500))).toBeCloseTo(0.5 / Math.SQRT2, 2);
      const cut = createResampler(rate, 16_000);
      const parts: Float32Array[] = [];
      for (let at = 0; at < whole.length; at += 777) parts.push(cut.push([whole.subarray(at, at + 777)]));
      const pieces = joined(...parts, cut.end());
      expect(pieces.length).toBe(expected.length);
      expect(Math.max(...pieces.map((sample, index) => Math.abs(sample - (expected[index] ?? 0))))).toBeLessThan(1e-6);
      const direct = tone(1_000, 16_000, 1);
      const middle = expected.subarray(2_000, 14_000);
      expect(Math.max(...middle.map((sample, index) => Math.abs(sample - (direct[index + 2_000] ?? 0))))).toBeLessThan(
        0.01,
      );
    }
  });

  test("a tone above half of the new rate causes no alias", () => {
    const resampler = createResampler(48_000, 16_000);
    expect(
      strength(joined(resampler.push([tone(11_000, 48_000, 1)]), resampler.end()).subarray(500, 15_500)),
    ).toBeLessThan(0.002);
  });
});

describe("pieces", () => {
  const noise = (seconds: number, level: number) =>
    Float32Array.from({ length: seconds * 16_000 }, (_, index) => level * Math.sin(index * index * 0.37));

  test("none is longer than the model takes, none is lost, none is heard twice", () => {
    const samples = joined(noise(100, 0.3), noise(6, 0.001), noise(3, 0.3), noise(4, 0.001), noise(40, 0.3));
    const pieces = splitSpeech(samples, { rate: 16_000, maxSeconds: 30 });
    let covered = 0;
    pieces.forEach(({ start, end }, index) => {
      expect(end - start).toBeLessThanOrEqual(30 * 16_000);
      expect(start).toBeGreaterThanOrEqual(pieces[index - 1]?.end ?? 0);
      covered += end - start;
    });
    expect(covered / 16_000).toBeGreaterThan(143);
    expect(covered / 16_000).toBeLessThan(146);
  });

  test("speech without any pause is still cut into parts", () => {
    const pieces = splitSpeech(noise(95, 0.3), { rate: 16_000, maxSeconds: 30 });
    expect(pieces.length).toBeGreaterThanOrEqual(4);
    expect(pieces.at(-1)?.end).toBe(95 * 16_000);
  });
});
