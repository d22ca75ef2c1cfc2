// Speech to text over sentences that the local voices speak, clean and in noise: how many words are wrong.

import type { InputFile } from "../../../src/engines/engine.ts";
import type { LocalEngines } from "../../../src/engines/local/index.ts";
import { ValidationError } from "../../../src/errors.ts";
import { plainCall } from "../../engines/local-call.ts";
import type { QualityLine } from "../quality.ts";
import sentences from "./sentences.json" with { type: "json" };

const speechTask = "audio/speech_to_text_async";
const voices = ["slt", "awb", "rms", "kal"];
const models = ["moonshine-base", "moonshine-tiny"];
const conditions: readonly { readonly name: string; readonly decibels: number | null }[] = [
  { name: "clean", decibels: null },
  { name: "in noise, 20 dB below", decibels: 20 },
  { name: "in noise, 10 dB below", decibels: 10 },
];

export type OnWrongWords = (model: string, wanted: string, given: string) => void;

export async function measureSpeech(local: LocalEngines, onWrong: OnWrongWords): Promise<QualityLine[]> {
  const lines: QualityLine[] = [];
  const spoken = await speakAll(local);
  for (const model of models) {
    for (const { name, decibels } of conditions) {
      let [wrong, words, refused] = [0, 0, 0];
      for (const { sentence, wave } of spoken) {
        const heard = decibels === null ? wave : addNoise(wave, decibels);
        const text = await transcribe(local, heard, model, null).catch((error: unknown) => {
          if (!(error instanceof ValidationError)) throw error;
          refused++;
          return transcribe(local, heard, model);
        });
        const [wanted, given] = [wordsOf(sentence), wordsOf(text)];
        const errors = countErrors(wanted, given);
        if (errors > 0) onWrong(model, sentence, text);
        wrong += errors;
        words += wanted.length;
      }
      const result = `${((100 * wrong) / words).toFixed(1)} %`;
      const task = `${speechTask}/local/${model}`;
      lines.push({ task, measure: `wrong words, ${name}`, result, cases: words });
      const taken = `${((100 * refused) / spoken.length).toFixed(1)} %`;
      lines.push({ task, measure: `English taken for another language, ${name}`, result: taken, cases: spoken.length });
    }
  }
  return lines;
}

/** Every sentence, each by the next of the voices in turn, and every voice by a third of the sentences. */
async function speakAll(local: LocalEngines): Promise<{ sentence: string; wave: Buffer }[]> {
  const spoken: { sentence: string; wave: Buffer }[] = [];
  for (const [index, sentence] of sentences.entries()) {
    for (const voice of [voices[index % 4], voices[(index + 1) % 4]])
      spoken.push({ sentence, wave: await speak(local, sentence, voice ?? "slt") });
  }
  return spoken;
}

export async function speak(local: LocalEngines, text: string, voice: string): Promise<Buffer> {
  const { binaries } = await run(local, "audio/tts", { input: { text, voice, audio_format: "wav" } });
  return Buffer.from(binaries?.[0]?.bytes ?? []);
}

/** Without a language it is checked. */
export async function transcribe(
  local: LocalEngines,
  wave: Buffer,
  model: string,
  language: string | null = "en",
): Promise<string> {
  const file = { name: "speech.wav", mediaType: "audio/wav", size: wave.length, read: async () => wave };
  return String((await run(local, speechTask, { input: { language }, model, files: { file } })).output["text"]);
}

interface Call {
  readonly input: Readonly<Record<string, unknown>>;
  readonly model?: string;
  readonly files?: Readonly<Record<string, InputFile>>;
}

function run(local: LocalEngines, task: string, { input, model, files }: Call) {
  const engine = local.engines.find((one) => one.task === task);
  if (engine === undefined) throw new Error(`no local engine for ${task}`);
  return engine.run({ ...plainCall(60_000), model: model ?? null, input, files: files ?? {} });
}

/** White noise, so far below the speech; always the same. */
function addNoise(wave: Buffer, decibels: number): Buffer {
  const noisy = Buffer.from(wave);
  let energy = 0;
  for (let at = 44; at + 1 < wave.length; at += 2) energy += wave.readInt16LE(at) ** 2;
  const level = Math.sqrt(energy / ((wave.length - 44) / 2)) * 10 ** (-decibels / 20);
  let seed = 1;
  for (let at = 44; at + 1 < wave.length; at += 2) {
    let sum = 0;
    // Twelve even numbers make a bell curve of spread one.
    for (let count = 0; count < 12; count++) {
      seed = (seed * 48_271) % 2_147_483_647;
      sum += seed / 2_147_483_647;
    }
    const sample = wave.readInt16LE(at) + (sum - 6) * level;
    noisy.writeInt16LE(Math.round(Math.max(-32_768, Math.min(32_767, sample))), at);
  }
  return noisy;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/['’]/g, "")
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** Words put in, left out or changed: the fewest that turn one into the other. */
function countErrors(wanted: readonly string[], given: readonly string[]): number {
  let row = Array.from({ length: given.length + 1 }, (_, index) => index);
  wanted.forEach((word, index) => {
    const next = [index + 1];
    given.forEach((other, column) => {
      const changed = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    });
    row = next;
  });
  return row.at(-1) ?? 0;
}
