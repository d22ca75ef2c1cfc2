// Where speech is in a recording, and how a long one is divided. The recordings are computed: tones as speech, and silence.

import { describe, expect, test } from "bun:test";
import { splitSpeech } from "../../src/engines/local/speech/split-speech.ts";

const rate = 1_000;

/** Parts of so many seconds, each with its loudness from 0 to 1. */
function record(...parts: readonly (readonly [seconds: number, loudness: number])[]): Float32Array {
  return Float32Array.from(
    parts.flatMap(([seconds, loudness]) =>
      Array.from({ length: Math.round(seconds * rate) }, (_, index) => (index % 2 === 0 ? loudness : -loudness)),
    ),
  );
}

/** The segments in seconds, to a tenth. */
function segmentsOf(samples: Float32Array, maxSeconds = 60): string[] {
  const round = (sample: number) => (sample / rate).toFixed(1);
  return splitSpeech(samples, { rate, maxSeconds }).map(({ start, end }) => `${round(start)}–${round(end)}`);
}

const [speech, silence] = [0.5, 0];

describe("segments", () => {
  test("of silence and of noise that is hardly heard: none", () => {
    expect(segmentsOf(record([2, silence]))).toEqual([]);
    expect(segmentsOf(record([2, 0.0005]))).toEqual([]);
    expect(segmentsOf(new Float32Array())).toEqual([]);
  });

  test("of a recording without quiet parts: the whole", () => {
    expect(segmentsOf(record([3, speech]))).toEqual(["0.0–3.0"]);
    expect(segmentsOf(record([1.5, speech], [1.5, speech / 2]))).toEqual(["0.0–3.0"]);
  });

  test("of speech: with a quarter of a second around it", () => {
    expect(segmentsOf(record([1, silence], [2, speech], [1, silence]))).toEqual(["0.7–3.3"]);
    expect(segmentsOf(record([0.1, silence], [2, speech], [1, silence]))[0]).toMatch(/^0\.[01]–2\.4$/);
  });

  test("of speech above a constant noise", () => {
    expect(segmentsOf(record([1, 0.01], [2, speech], [1, 0.01]))).toEqual(["0.7–3.3"]);
  });

  test.each([
    ["a short one after 1.5 s", 2, 1.3, 1.7],
    ["one of 5 s after half a second", 6, 0.3, 0.7],
    ["one of 15 s after a fifth of a second", 16, 0.1, 0.4],
  ])("end at a pause: %s", (_, seconds, shortPause, longPause) => {
    const withPause = (pause: number) => record([1, silence], [seconds, speech], [pause, silence], [2, speech]);
    expect(segmentsOf(withPause(shortPause))).toHaveLength(1);
    expect(segmentsOf(withPause(longPause))).toHaveLength(2);
  });

  test("divide the pause between them", () => {
    const segments = splitSpeech(record([16, speech], [0.4, silence], [2, speech], [2, silence]), {
      rate,
      maxSeconds: 60,
    });
    expect(segments).toHaveLength(2);
    expect(segments[0]?.end).toBe(segments[1]?.start as number);
    expect(segments[0]?.end).toBeCloseTo(16_200, -2);
  });

  test("that are too long are split where it is quietest in their last third", () => {
    const long = record([1, silence], [8, speech], [0.1, speech / 4], [6, speech], [1, silence]);
    const segments = splitSpeech(long, { rate, maxSeconds: 10 });
    expect(segments).toHaveLength(2);
    expect((segments[0]?.end ?? 0) / rate).toBeCloseTo(9.05, 1);
    expect(segments[1]?.start).toBe(segments[0]?.end as number);
    for (const { start, end } of segments) expect(end - start).toBeLessThanOrEqual(10 * rate);
    const even = splitSpeech(record([1, silence], [25, speech], [1, silence]), { rate, maxSeconds: 10 });
    expect(even).toHaveLength(3);
    for (const { start, end } of even) expect(end - start).toBeLessThanOrEqual(10 * rate);
  });
});
