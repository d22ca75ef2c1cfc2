// Reads lines of text with the recognition network of PP-OCRv6.

import type { Onnx, Session } from "../../onnx.ts";
import type { Area, Sampler } from "../../vision/sampler.ts";

export interface LineReader {
  /** The text of each line, in the order of the lines. */
  read(picture: Sampler, lines: readonly Required<Area>[]): Promise<LineText[]>;
}

export interface LineText {
  readonly words: readonly PlacedWord[];
  /** The mean of the confidences of its characters, 0 to 1; 0 if there are none. */
  readonly confidence: number;
}

export interface PlacedWord {
  readonly text: string;
  /** Shares of the length of the line, 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
}

interface Sized {
  readonly line: Required<Area>;
  readonly index: number;
  readonly width: number;
}

interface Character extends Pick<PlacedWord, "text" | "confidence"> {
  /** Its centre, in steps of the network. */
  readonly centre: number;
}

const height = 48;
/** Pixels for each step of the network. */
const stepWidth = 8;

export function createLineReader(onnx: Onnx, session: Session, characters: readonly string[]): LineReader {
  return {
    async read(picture, lines) {
      const texts: LineText[] = lines.map(() => ({ words: [], confidence: 0 }));
      for (const batch of toBatches(lines)) {
        const read = await readBatch(picture, batch);
        for (const [position, { index }] of batch.entries()) texts[index] = read[position] as LineText;
      }
      return texts;
    },
  };

  async function readBatch(picture: Sampler, batch: readonly Sized[]): Promise<LineText[]> {
    const widest = batch.reduce((most, { width }) => Math.max(most, width), 0);
    const plane = height * widest;
    // Zeros, a medium grey, fill the rest of shorter lines, as in training.
    const input = new Float32Array(batch.length * 3 * plane);
    for (const [position, { line, width }] of batch.entries()) {
      const pixels = picture.crop(line, width, height);
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          const from = (row * width + column) * 3;
          const to = position * 3 * plane + row * widest + column;
          for (let channel = 0; channel < 3; channel++)
            input[to + channel * plane] = (pixels[from + 2 - channel] as number) / 127.5 - 1;
        }
      }
    }
    const [inputName = "", outputName = ""] = [session.inputNames[0], session.outputNames[0]];
    const answer = await session.run({ [inputName]: onnx.floats(input, [batch.length, 3, height, widest]) });
    const { data, dims } = answer[outputName] ?? { data: null, dims: [] };
    const [, steps = 0, classes = 0] = dims;
    if (!(data instanceof Float32Array) || classes !== characters.length)
      throw new Error("The network returned no probabilities of characters");
    return batch.map(({ width }, position) => {
      const used = Math.min(steps, Math.ceil(width / stepWidth));
      const start = position * steps * classes;
      const found = decode(data.subarray(start, start + used * classes), used, characters);
      return toLineText(found, width / stepWidth);
    });
  }
}

const minWidth = 48;
// A line that is longer is compressed. A line of print across A4 has about 1,700.
const maxWidth = 3_200;
// Of all lines that are read at once. The network returns 18,710 numbers for each step, so this is 30 MB.
const maxBatchWidth = 3_200;
// A line is padded to the width of the longest line of its batch, which takes time.
const maxPadding = 1.25;

/** Lines of similar length are read together. */
function toBatches(lines: readonly Required<Area>[]): Sized[][] {
  const sized = lines
    .map((line, index) => {
      const width = Math.round((line.width / line.height) * height);
      return { line, index, width: Math.min(maxWidth, Math.max(minWidth, width)) };
    })
    .toSorted((a, b) => a.width - b.width);
  const batches: Sized[][] = [];
  for (const one of sized) {
    const batch = batches.at(-1);
    const shortest = batch?.[0]?.width ?? 0;
    const fits = batch !== undefined && (batch.length + 1) * one.width <= maxBatchWidth;
    if (fits && one.width <= shortest * maxPadding) batch.push(one);
    else batches.push([one]);
  }
  return batches;
}

/** Connectionist temporal classification: the most probable class of each step, without repetitions and without the empty class. */
function decode(probabilities: Float32Array, steps: number, characters: readonly string[]): Character[] {
  const classes = characters.length;
  const found: Character[] = [];
  let previous = 0;
  let first = 0;
  let confidence = 0;
  const end = (step: number) => {
    if (previous !== 0)
      found.push({ text: characters[previous] ?? "", centre: (first + step) / 2, confidence: Math.min(1, confidence) });
  };
  for (let step = 0; step < steps; step++) {
    const best = findMost(probabilities, step * classes, classes);
    const probability = probabilities[step * classes + best] as number;
    if (best === previous) confidence = Math.max(confidence, probability);
    else {
      end(step);
      [previous, first, confidence] = [best, step, probability];
    }
  }
  end(steps);
  return found;
}

/** The index of the largest of the probabilities, whose sum is 1. Common characters are first, so the search is usually short. */
function findMost(values: Float32Array, start: number, count: number): number {
  let best = 0;
  let most = values[start] as number;
  for (let index = 1; index < count && most <= 0.5; index++) {
    const value = values[start + index] as number;
    if (value > most) [best, most] = [index, value];
  }
  return best;
}

// Two Han characters or kana have no space between them, however wide the gap is.
const wideCharacters = /[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
const fullWidthForms = /[\uff01-\uff5e]/g;

function toLineText(characters: readonly Character[], length: number): LineText {
  const groups: Character[][] = [[]];
  for (const character of characters) {
    if (character.text.trim() === "") groups.push([]);
    else groups.at(-1)?.push(character);
  }
  const words = groups.filter((group) => group.length > 0);
  const pitch = medianPitch(words);
  const isWide = characters.some(({ text }) => wideCharacters.test(text) && !fullWidthFormOf(text));
  const placed = words.map((word, index) => {
    const centreOf = (character: Character | undefined) => character?.centre ?? null;
    const before = centreOf(words[index - 1]?.at(-1));
    const after = centreOf(words[index + 1]?.[0]);
    const [first, last] = [word[0]?.centre ?? 0, word.at(-1)?.centre ?? 0];
    const from = Math.max(before === null ? 0 : (before + first) / 2, first - pitch * 0.6);
    const to = Math.min(after === null ? length : (after + last) / 2, last + pitch * 0.6);
    const text = word.map((character) => character.text).join("");
    return {
      text: isWide ? text : text.replace(fullWidthForms, toNarrow),
      from: Math.max(0, from / length),
      to: Math.min(1, to / length),
      confidence: meanOf(word),
    };
  });
  return { words: placed, confidence: meanOf(words.flat()) };
}

/** The usual distance of two characters of a word, in steps. */
function medianPitch(words: readonly (readonly Character[])[]): number {
  const distances = words
    .flatMap((word) => word.slice(1).map((character, index) => character.centre - (word[index]?.centre ?? 0)))
    .toSorted((a, b) => a - b);
  // Half of the height of a line is a usual width.
  return distances[Math.floor(distances.length / 2)] ?? height / stepWidth / 2;
}

function meanOf(characters: readonly Character[]): number {
  const sum = characters.reduce((total, { confidence }) => total + confidence, 0);
  return characters.length === 0 ? 0 : sum / characters.length;
}

function fullWidthFormOf(text: string): boolean {
  return /^[\uff01-\uff5e]$/.test(text);
}

/** In Latin text, the network sometimes returns the full-width form of a punctuation mark. */
function toNarrow(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) - 0xfee0);
}
