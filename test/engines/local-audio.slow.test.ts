// Speech by the local engine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { createLog } from "../../src/log.ts";
import { fitsTask, longTimeLimitsMs, refusalOf, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const sentence = "Good morning. The train to Edinburgh leaves from platform four.";
let local: LocalEngines;

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

async function speak(input: Record<string, unknown>) {
  const { output, binaries, units } = await runLocal(local, "audio/tts", { text: sentence, ...input });
  const binary = binaries?.[0];
  if (binary === undefined) throw new Error("no audio");
  expect(output).toEqual({});
  expect(binary.urlPath).toEqual(["audio_resource_url"]);
  expect(fitsTask("audio/tts", { audio_resource_url: "https://gateway.example/a" })).toBe(true);
  return { bytes: Buffer.from(binary.bytes), mediaType: binary.mediaType, seconds: units.second ?? 0 };
}

async function problemOf(input: Record<string, unknown>) {
  return (await refusalOf(runLocal(local, "audio/tts", { text: sentence, ...input }))).problems[0];
}

/** The mean pitch, by where the sound repeats itself. */
function pitchOf(wave: Buffer): number {
  const rate = wave.readUInt32LE(24);
  const samples = Float32Array.from(
    { length: (wave.length - 44) / 2 },
    (_, index) => wave.readInt16LE(44 + index * 2) / 32_768,
  );
  const found: number[] = [];
  for (let start = 0; start + 1_024 < samples.length; start += 2_048) {
    const window = samples.subarray(start, start + 1_024);
    const energy = correlate(window, 0);
    if (energy < 1) continue;
    let best = { lag: 0, value: 0 };
    for (let lag = Math.floor(rate / 400); lag < rate / 60; lag++) {
      const value = correlate(window, lag);
      if (value > best.value) best = { lag, value };
    }
    if (best.value > energy * 0.4) found.push(rate / best.lag);
  }
  return found.sort((a, b) => a - b)[Math.floor(found.length / 2)] ?? 0;
}

function correlate(samples: Float32Array, lag: number): number {
  let sum = 0;
  for (let index = 0; index + lag < samples.length; index++) sum += (samples[index] ?? 0) * (samples[index + lag] ?? 0);
  return sum;
}

function loudnessOf(wave: Buffer): number {
  let sum = 0;
  for (let index = 44; index + 1 < wave.length; index += 2) sum += (wave.readInt16LE(index) / 32_768) ** 2;
  return Math.sqrt(sum / ((wave.length - 44) / 2));
}

describe("speech", () => {
  test("the default voice is the clearest one, and one that can change its pitch if a pitch is set", async () => {
    const voiceOf = async (input: object) =>
      (await runLocal(local, "audio/tts", { text: sentence, ...input })).original;
    expect(await voiceOf({})).toMatchObject({ voice: "rms" });
    expect(await voiceOf({ speaking_pitch: 20 })).toMatchObject({ voice: "slt" });
    expect(await voiceOf({ voice: "awb" })).toMatchObject({ voice: "awb" });
  });

  test("is mp3 unless the caller chooses another format", async () => {
    const mp3 = await speak({});
    expect(mp3.mediaType).toBe("audio/mpeg");
    // A frame of MPEG audio begins with eleven bits that are set.
    expect(mp3.bytes.readUInt16BE(0) & 0xffe0).toBe(0xffe0);
    const wav = await speak({ audio_format: "wav" });
    expect(wav.mediaType).toBe("audio/wav");
    expect(wav.bytes.toString("latin1", 0, 4)).toBe("RIFF");
    expect(wav.bytes.readUInt32LE(40)).toBe(wav.bytes.length - 44);
    const ogg = await speak({ audio_format: "OGG" });
    expect(ogg.bytes.toString("latin1", 0, 4)).toBe("OggS");
    expect(wav.seconds).toBeGreaterThan(2);
    expect(wav.seconds).toBeLessThan(10);
  });

  test("every voice speaks, and an unknown voice is refused with the names of the known ones", async () => {
    const sounds = new Set<number | bigint>();
    for (const voice of ["slt", "awb", "rms", "kal"])
      sounds.add(Bun.hash((await speak({ voice, audio_format: "wav" })).bytes));
    expect(sounds.size).toBe(4);
    expect(await problemOf({ voice: "nobody" })).toMatchObject({ loc: ["body", "input", "voice"] });
    expect((await problemOf({ voice: "nobody" })).msg).toContain("slt");
  });

  test("follows speed, pitch and volume", async () => {
    const usual = await speak({ audio_format: "wav" });
    const fast = await speak({ audio_format: "wav", speed: 2 });
    expect(fast.seconds / usual.seconds).toBeCloseTo(0.5, 1);
    const high = await speak({ audio_format: "wav", speaking_pitch: 50 });
    expect(pitchOf(high.bytes) / pitchOf(usual.bytes)).toBeGreaterThan(1.25);
    const quiet = await speak({ audio_format: "wav", speaking_volume: -100 });
    expect(loudnessOf(quiet.bytes) / loudnessOf(usual.bytes)).toBeCloseTo(0.5, 1);
  });

  test("unsupported options are refused with their name", async () => {
    expect(await problemOf({ audio_format: "flac" })).toMatchObject({ loc: ["body", "input", "audio_format"] });
    expect(await problemOf({ voice: "rms", speaking_pitch: 20 })).toMatchObject({
      loc: ["body", "input", "speaking_pitch"],
    });
    expect(await problemOf({ text: "你好，世界" })).toMatchObject({ loc: ["body", "input", "text"] });
    expect(await problemOf({ text: "..." })).toMatchObject({ loc: ["body", "input", "text"] });
    expect(await problemOf({ text: "word ".repeat(3_000) })).toMatchObject({ type: "string_too_long" });
    const german = "Der letzte Zug war schon abgefahren, als wir den Bahnhof erreichten.";
    expect((await problemOf({ text: german })).msg).toContain("German");
  });

  test("accents, quotes and emoji do not stop it", async () => {
    const { seconds } = await speak({ text: "“It’s a café” — she said… 👍 for £5 & more.", audio_format: "wav" });
    expect(seconds).toBeGreaterThan(1);
  });

  test("a long text is spoken to its end", async () => {
    const once = (await speak({ audio_format: "wav" })).seconds;
    const { seconds } = await speak({ text: `${sentence} `.repeat(4) });
    expect(seconds / once).toBeGreaterThan(3.5);
  });
});
