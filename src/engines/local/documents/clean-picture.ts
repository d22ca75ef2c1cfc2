// Prepares a picture for tesseract, whose layout analysis loses text between the rules of tables, and light text on a dark ground.

import { type GreyPixels, readGrey } from "./grey.ts";
import { type Picture, toGreyMap } from "./picture.ts";
import { findGrids } from "./ruled-tables.ts";
import { findRules, type Rule } from "./rules.ts";

// Of 255. Half of the pixels of a dark page are darker.
const darkGround = 110;
// Relative to the longer side: a rule may be that far from its mean position, and that thick.
const maxOffset = 0.004;
const maxThickness = 0.003;
const minDifference = 10;

/** Without the rules of tables, dark on light. A picture that needs neither, or that the runtime cannot decode, is returned as it is. */
export async function cleanPicture(picture: Picture): Promise<Picture> {
  const grey = await readGrey(picture);
  if (grey === null) return picture;
  const grids = findGrids(findRules(grey, null));
  if (grids.length === 0 && !isDark(grey)) return picture;
  const { width, height } = grey;
  const pixels = isDark(grey) ? grey.pixels.map((shade) => 255 - shade) : grey.pixels.slice();
  for (const { rules } of grids) {
    for (const rule of rules.horizontal) erase({ width, height, pixels }, rule, "across");
    for (const rule of rules.vertical) erase({ width, height, pixels }, rule, "down");
  }
  return { width, height, bytes: toGreyMap(width, height, pixels) };
}

function isDark({ pixels }: GreyPixels): boolean {
  const counts = new Uint32Array(256);
  for (const shade of pixels) counts[shade] = (counts[shade] ?? 0) + 1;
  let below = 0;
  for (let shade = 0; shade < darkGround; shade++) below += counts[shade] ?? 0;
  return below > pixels.length / 2;
}

/** Replaces the thin dark part near the rule by the shade beside it. Letters that cross the rule are thicker and stay. */
function erase({ width, height, pixels }: GreyPixels, { at, from, to }: Rule, direction: "across" | "down"): void {
  const [length, breadth, step, stride] =
    direction === "across" ? [width, height, 1, width] : [height, width, width, 1];
  const side = Math.max(width, height);
  const offset = Math.ceil(maxOffset * side);
  const thickness = Math.ceil(maxThickness * side);
  const middle = Math.round(at * breadth);
  const [start, end] = [Math.max(0, middle - offset - thickness), Math.min(breadth - 1, middle + offset + thickness)];
  for (let along = Math.floor(from * length); along < Math.min(length, Math.ceil(to * length)); along++) {
    const indexOf = (across: number) => along * step + across * stride;
    const ground = Math.max(pixels[indexOf(start)] ?? 255, pixels[indexOf(end)] ?? 255);
    const isInk = (across: number) => (pixels[indexOf(across)] ?? 255) < ground - minDifference;
    for (let across = start; across <= end; across++) {
      if (!isInk(across)) continue;
      let last = across;
      while (last < end && isInk(last + 1)) last++;
      if (last - across < thickness && across > start && last < end)
        for (let dark = across; dark <= last; dark++) pixels[indexOf(dark)] = ground;
      across = last;
    }
  }
}
