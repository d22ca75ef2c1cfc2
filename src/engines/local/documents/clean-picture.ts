// Prepares a picture for tesseract, whose layout analysis loses text between the rules of tables, and light text on a dark background.

import { type GreyPixels, readGrey } from "./grey.ts";
import { type Picture, toGreyMap } from "./picture.ts";
import { findGrids } from "./ruled-tables.ts";
import { findRules, type Rule, type Rules } from "./rules.ts";

// Shades go from 0 (black) to 255 (white). A picture is dark if more than half of its pixels are below this.
const darkShade = 110;
// Relative to the longer side of the picture: the distance of a rule from its mean position, and its thickness.
const maxDeviation = 0.004;
const maxThickness = 0.003;
// By how much ink is darker than the background beside it.
const minDifference = 10;

/**
 * The picture without the rules of tables, and dark on light. One that needs neither change, or that the runtime cannot decode, is returned
 * as it is.
 */
export async function cleanPicture(picture: Picture): Promise<Picture> {
  const grey = await readGrey(picture);
  if (grey === null) return picture;
  const isInverted = isDark(grey);
  // A copy in both cases, because rules are erased in place, and the pixels of a portable greymap belong to the picture.
  const pixels = isInverted ? grey.pixels.map((shade) => 255 - shade) : grey.pixels.slice();
  const cleaned: GreyPixels = { ...grey, pixels };
  const grids = findGrids(findRules(cleaned, null));
  if (grids.length === 0 && !isInverted) return picture;
  for (const { rules } of grids) {
    for (const rule of rules.horizontal) erase(cleaned, rule, "horizontal");
    for (const rule of rules.vertical) erase(cleaned, rule, "vertical");
  }
  const { width, height } = cleaned;
  return { width, height, bytes: toGreyMap(width, height, pixels) };
}

function isDark({ pixels }: GreyPixels): boolean {
  let darkPixels = 0;
  for (const shade of pixels) if (shade < darkShade) darkPixels++;
  return darkPixels > pixels.length / 2;
}

/** Replaces thin ink near the rule by the shade beside it. Letters that cross the rule are thicker, and stay. */
function erase({ width, height, pixels }: GreyPixels, { at, from, to }: Rule, direction: keyof Rules): void {
  const [length, breadth, stepAlong, stepAcross] =
    direction === "horizontal" ? [width, height, 1, width] : [height, width, width, 1];
  const side = Math.max(width, height);
  const thickness = Math.ceil(maxThickness * side);
  const reach = Math.ceil(maxDeviation * side) + thickness;
  const middle = Math.round(at * breadth);
  const start = Math.max(0, middle - reach);
  const end = Math.min(breadth - 1, middle + reach);
  for (let along = Math.floor(from * length); along < Math.min(length, Math.ceil(to * length)); along++) {
    const indexOf = (across: number) => along * stepAlong + across * stepAcross;
    const background = Math.max(pixels[indexOf(start)] ?? 255, pixels[indexOf(end)] ?? 255);
    const isInk = (across: number) => (pixels[indexOf(across)] ?? 255) < background - minDifference;
    for (let first = start; first <= end; first++) {
      if (!isInk(first)) continue;
      let last = first;
      while (last < end && isInk(last + 1)) last++;
      // Ink at either end continues outside, so its thickness is not known.
      const isRule = first > start && last < end && last - first < thickness;
      if (isRule) for (let across = first; across <= last; across++) pixels[indexOf(across)] = background;
      first = last;
    }
  }
}
