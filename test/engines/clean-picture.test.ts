// What tesseract receives: pictures without the rules of tables, dark on light.

import { expect, test } from "bun:test";
import { cleanPicture } from "../../src/engines/local/documents/clean-picture.ts";
import { readGrey } from "../../src/engines/local/documents/grey.ts";
import { toGreyMap } from "../../src/engines/local/documents/picture.ts";

const [width, height] = [600, 400];
const rulesAt = { x: [50, 200, 350, 550], y: [40, 120, 200, 280] };
/** A letter between the rules, one that crosses the second horizontal rule, and low ones that stand on the third and hang from it. */
const letters = [
  { left: 100, top: 70, right: 112, bottom: 90 },
  { left: 400, top: 110, right: 412, bottom: 130 },
  { left: 100, top: 197, right: 112, bottom: 200 },
  { left: 250, top: 201, right: 262, bottom: 204 },
];

function isLetter(x: number, y: number): boolean {
  return letters.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top && y < bottom);
}

function isRule(x: number, y: number): boolean {
  const inside = x >= 50 && x <= 550 && y >= 40 && y <= 280;
  return inside && (rulesAt.x.includes(x) || rulesAt.y.includes(y));
}

function draw({ hasRules, ink, ground }: { hasRules: boolean; ink: number; ground: number }) {
  const pixels = Uint8Array.from({ length: width * height }, (_, index) => {
    const [x, y] = [index % width, Math.floor(index / width)];
    return isLetter(x, y) || (hasRules && isRule(x, y)) ? ink : ground;
  });
  return { width, height, bytes: toGreyMap(width, height, pixels) };
}

/** The pixels that are darker than half, by what they are. */
async function darkPixels(picture: { width: number; height: number; bytes: Uint8Array }) {
  const grey = await readGrey(picture);
  const counts = { letters: 0, rules: 0, others: 0 };
  for (const [index, shade] of (grey?.pixels ?? []).entries()) {
    const [x, y] = [index % width, Math.floor(index / width)];
    if (shade < 128) counts[isLetter(x, y) ? "letters" : isRule(x, y) ? "rules" : "others"]++;
  }
  return counts;
}

const letterPixels = letters.reduce((sum, { left, top, right, bottom }) => sum + (right - left) * (bottom - top), 0);

test("the rules of a table get the shade of the ground, and letters stay, also those that touch a rule", async () => {
  const pages = [
    { given: { ink: 20, ground: 255 }, wanted: { ink: 20, ground: 255 } },
    { given: { ink: 20, ground: 200 }, wanted: { ink: 20, ground: 200 } },
    { given: { ink: 240, ground: 30 }, wanted: { ink: 15, ground: 225 } },
  ];
  for (const page of pages) {
    const cleaned = await readGrey(await cleanPicture(draw({ hasRules: true, ...page.given })));
    const wanted = await readGrey(draw({ hasRules: false, ...page.wanted }));
    const wrong = [...(wanted?.pixels.entries() ?? [])].flatMap(([index, shade]) =>
      cleaned?.pixels[index] === shade ? [] : [{ x: index % width, y: Math.floor(index / width) }],
    );
    // Where rules cross each other, and where a letter touches one, the ink is thicker than a rule.
    const isExpected = ({ x, y }: { x: number; y: number }) =>
      isRule(x, y) &&
      (letters.some(({ left, right }) => x >= left && x < right) ||
        (rulesAt.x.some((at) => Math.abs(at - x) <= 6) && rulesAt.y.some((at) => Math.abs(at - y) <= 6)));
    expect(wrong.filter((pixel) => !isExpected(pixel))).toEqual([]);
  }
});

test("light print on a dark ground is inverted, with and without a table", async () => {
  const plain = await darkPixels(await cleanPicture(draw({ hasRules: false, ink: 240, ground: 30 })));
  expect(plain).toEqual({ letters: letterPixels, rules: 0, others: 0 });
  const ruled = await darkPixels(await cleanPicture(draw({ hasRules: true, ink: 240, ground: 30 })));
  expect(ruled.letters).toBe(letterPixels);
  expect(ruled.others).toBe(0);
});

test.each([255, 150])("a picture without a table on a ground of shade %p is returned as it is", async (ground) => {
  const picture = draw({ hasRules: false, ink: 0, ground });
  expect(await cleanPicture(picture)).toBe(picture);
});

test("the picture that was given is not changed", async () => {
  const picture = draw({ hasRules: true, ink: 20, ground: 255 });
  const before = picture.bytes.slice();
  await cleanPicture(picture);
  expect(picture.bytes).toEqual(before);
});
