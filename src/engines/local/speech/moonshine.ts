// Moonshine, English speech recognition: an encoder processes a whole segment, then a decoder writes the text token by token.

import { readModelFile } from "../checksums.ts";
import type { Onnx, Tensor } from "../onnx.ts";
import { importPackage } from "../resolve-package.ts";
import { sampleRate } from "./decode-audio.ts";

const [moonshinePackage, tokenizerPackage] = ["@usefulsensors/moonshine-js", "llama-tokenizer-js"];
export const moonshinePackages = [moonshinePackage, tokenizerPackage];

export interface Transcript {
  readonly text: string;
  /** The geometric mean of the token probabilities, 0 to 1. */
  readonly confidence: number | null;
  readonly tokens: number;
}

/** The parts of the package that we call. */
interface TokenizerPackage {
  readonly default: { decode(tokens: readonly number[], addBos: boolean, addSpace: boolean): string };
}

const shapes = { base: { layers: 8, heads: 8, headSize: 52 }, tiny: { layers: 6, heads: 8, headSize: 36 } };
type Shape = (typeof shapes)["base"];

const firstToken = 1;
const lastToken = 2;
// More than anyone speaks per second. Without a limit, the decoder would repeat itself on noise.
const tokensPerSecond = 6;
// The model was not trained on shorter input, which contains no speech.
const minSamples = sampleRate / 10;

export async function loadMoonshine(
  onnx: Onnx,
  size: keyof typeof shapes,
): Promise<(samples: Float32Array) => Promise<Transcript>> {
  const folder = `dist/model/${size}/quantized`;
  const encoder = await onnx.open(moonshinePackage, `${folder}/encoder_model.onnx`);
  const decoder = await onnx.open(moonshinePackage, `${folder}/decoder_model_merged.onnx`);
  await readModelFile(tokenizerPackage, "llama-tokenizer.js");
  const { default: tokenizer } = await importPackage<TokenizerPackage>(tokenizerPackage);
  // The cache of the encoder does not change after the first step. Requesting it again would copy tens of megabytes per token.
  const nextOutputs = decoder.outputNames.filter((name) => !name.includes(".encoder."));

  async function decode(encoded: Tensor, maxTokens: number) {
    const past = emptyPast(onnx, shapes[size]);
    const tokens: number[] = [];
    let token = firstToken;
    let logSum = 0;
    for (let count = 0; count < maxTokens; count++) {
      const feeds = {
        input_ids: onnx.integers([token], [1, 1]),
        encoder_hidden_states: encoded,
        use_cache_branch: onnx.booleans([count > 0], [1]),
        ...past,
      };
      const result = await decoder.run(feeds, count === 0 ? decoder.outputNames : nextOutputs);
      const best = findBest(result["logits"]);
      logSum += best.logProbability;
      token = best.token;
      if (token === lastToken) break;
      tokens.push(token);
      for (const [name, tensor] of Object.entries(result))
        if (name.startsWith("present.")) past[name.replace("present", "past_key_values")] = tensor;
    }
    return { tokens, confidence: tokens.length === 0 ? null : Math.exp(logSum / (tokens.length + 1)) };
  }

  return async (samples) => {
    if (samples.length < minSamples) return { text: "", confidence: null, tokens: 0 };
    const { last_hidden_state: encoded } = await encoder.run({
      input_values: onnx.floats(samples, [1, samples.length]),
    });
    if (encoded === undefined) throw new Error("The encoder returned no state");
    const maxTokens = Math.ceil((samples.length / sampleRate) * tokensPerSecond) + 2;
    const { tokens, confidence } = await decode(encoded, maxTokens);
    const text = tokenizer.decode(tokens, false, false).replace(/\s+/g, " ").trim();
    return { text, confidence, tokens: tokens.length };
  };
}

function emptyPast(onnx: Onnx, { layers, heads, headSize }: Shape): Record<string, Tensor> {
  const past: Record<string, Tensor> = {};
  for (let layer = 0; layer < layers; layer++)
    for (const side of ["decoder", "encoder"])
      for (const part of ["key", "value"])
        past[`past_key_values.${layer}.${side}.${part}`] = onnx.floats(new Float32Array(0), [0, heads, 1, headSize]);
  return past;
}

function findBest(logits: Tensor | undefined): { token: number; logProbability: number } {
  // The model returns 32-bit floats.
  const values = logits?.data as Float32Array;
  let token = 0;
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? 0;
    if (value > highest) [token, highest] = [index, value];
  }
  let sum = 0;
  for (const value of values) sum += Math.exp(value - highest);
  return { token, logProbability: -Math.log(sum) };
}
