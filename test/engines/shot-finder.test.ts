// Where shots begin, in frames that are drawn here.

import { describe, expect, test } from "bun:test";
import { createShotFinder } from "../../src/engines/local/video/shot-finder.ts";

const [width, height, framesPerSecond] = [64, 36, 25];

type Colour = readonly [number, number, number];
type Paint = (x: number, y: number, frame: number) => Colour;

const red: Colour = [200, 30, 40];
const blue: Colour = [20, 40, 180];
const green: Colour = [30, 160, 50];
const white: Colour = [255, 255, 255];

/** A background with a square that moves across it, and some noise. */
function scene(background: Colour, square: Colour): Paint {
  return (x, y, frame) => {
    const left = (frame * 2) % width;
    const isInside = x >= left && x < left + 12 && y >= 10 && y < 22;
    const noise = ((x * 7 + y * 13 + frame * 5) % 9) - 4;
    const [r, g, b] = isInside ? square : background;
    return [r + noise, g + noise, b + noise];
  };
}

function draw(paint: Paint, frame: number): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += 3)
      pixels.set(
        paint(x, y, frame).map((value) => Math.max(0, Math.min(255, value))),
        at,
      );
  return pixels;
}

/** The starts of shots in seconds. */
function findStarts(frames: number, paint: Paint): number[] {
  const finder = createShotFinder(width, height, framesPerSecond);
  for (let frame = 0; frame < frames; frame++) finder.add(draw(paint, frame));
  return finder.finish().map((frame) => frame / framesPerSecond);
}

const first = scene(red, green);
const second = scene(blue, white);
const third = scene(green, red);

describe("shots", () => {
  test("begin at cuts, to the frame", () => {
    const paint: Paint = (x, y, frame) => (frame < 50 ? first : frame < 83 ? second : third)(x, y, frame);
    expect(findStarts(150, paint)).toEqual([50 / 25, 83 / 25]);
  });

  test("one shot has no cut, however much moves in it", () => {
    expect(findStarts(200, first)).toEqual([]);
    const pan: Paint = (x, y, frame) => [((x + frame * 3) * 4) % 256, (y * 7) % 256, 90];
    expect(findStarts(200, pan)).toEqual([]);
  });

  test("a flash is no cut", () => {
    const paint: Paint = (x, y, frame) => (frame >= 60 && frame < 63 ? white : first(x, y, frame));
    expect(findStarts(150, paint)).toEqual([]);
  });

  test("a dissolve is one change", () => {
    const paint: Paint = (x, y, frame) => {
      const share = Math.max(0, Math.min(1, (frame - 70) / 20));
      const [one, another] = [first(x, y, frame), second(x, y, frame)];
      return [0, 1, 2].map((channel) => (one[channel] ?? 0) * (1 - share) + (another[channel] ?? 0) * share) as never;
    };
    const starts = findStarts(200, paint);
    expect(starts).toHaveLength(1);
    expect(starts[0]).toBeGreaterThan(70 / 25);
    expect(starts[0]).toBeLessThan(120 / 25);
  });

  test("of two cuts in a row, the shorter shot is none of its own", () => {
    const paint: Paint = (x, y, frame) => (frame < 50 ? first : frame < 53 ? second : third)(x, y, frame);
    expect(findStarts(120, paint)).toHaveLength(1);
  });

  test("an empty video and one of a single frame have no change", () => {
    expect(findStarts(0, first)).toEqual([]);
    expect(findStarts(1, first)).toEqual([]);
  });
});
