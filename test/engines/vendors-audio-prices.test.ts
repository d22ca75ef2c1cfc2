// Models whose price is per minute: the length of the sound is measured where the vendor does not state it.

import { expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import { loadEncoders } from "../../src/engines/local/audio/encode.ts";
import { chargeForTask } from "../../src/inference/universal-ai/unit-price.ts";
import { google } from "../../src/providers/google/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { fileOf } from "./vendor-calls.ts";
import { ask } from "./vendors-others/ask.ts";

const rate = 24_000;
const halfMinute = { samples: new Float32Array(rate * 30), rate };
const { mp3, wav, ogg } = await loadEncoders();
if (mp3 === undefined || wav === undefined || ogg === undefined) throw new Error("an encoder is missing");
const sounds = {
  mp3: Buffer.from(mp3(halfMinute).bytes),
  wav: Buffer.from(wav(halfMinute).bytes),
  ogg: Buffer.from(ogg(halfMinute).bytes),
  pcm: Buffer.alloc(rate * 30 * 2),
};

test.each([
  ["mp3", "audio/mpeg"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
] as const)("speech of gpt-4o-mini-tts as %s is charged by its length", async (format, mediaType) => {
  const model = "gpt-4o-mini-tts";
  const { answer } = await ask({
    row: openai,
    task: "audio/tts",
    model,
    input: { text: "Mind the gap.", audio_format: format },
    answers: [{ bytes: sounds[format], mediaType }],
  });
  expect(chargeForTask(findTask("audio/tts"), "openai", model, answer).cost).toBeCloseTo(0.0075, 4);
});

test.each([
  ["gemini-2.5-flash-tts", 0.003],
  ["gemini-2.5-pro-tts", 0.006],
])("speech of %s is charged by its length", async (model, cost) => {
  for (const format of ["mp3", "wav", "ogg"] as const) {
    const { answer } = await ask({
      row: google,
      task: "audio/tts",
      model,
      input: { text: "Mind the gap.", audio_format: format },
      answers: [{ json: { audioContent: sounds[format].toString("base64") } }],
    });
    expect(chargeForTask(findTask("audio/tts"), "google", model, answer).cost).toBeCloseTo(cost, 4);
  }
});

test.each([
  "gpt-4o-transcribe",
  "gpt-4o-mini-transcribe",
])("a transcript of %s is charged by its recording", async (model) => {
  const usage = { type: "tokens", input_tokens: 300, output_tokens: 4, total_tokens: 304 };
  const transcribe = async (bytes: Uint8Array, mediaType: string) => {
    const { answer } = await ask({
      row: openai,
      task: "audio/speech_to_text_async",
      model,
      input: {},
      files: { file: fileOf(bytes, mediaType) },
      answers: [{ json: { text: "Mind the gap.", usage } }],
    });
    return chargeForTask(findTask("audio/speech_to_text_async"), "openai", model, answer);
  };
  expect((await transcribe(sounds.mp3, "audio/mpeg")).cost).toBeCloseTo(0.003, 4);
  expect((await transcribe(sounds.wav, "audio/wav")).cost).toBeCloseTo(0.003, 4);
  // The length in its header is the caller's statement.
  expect(await transcribe(sounds.ogg, "audio/ogg")).toMatchObject({ cost: null, reason: "usage_unknown" });
});
