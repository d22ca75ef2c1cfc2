// What happens to a page before it is read: noise, faded print, a turned sheet, the camera of a telephone.

import { createRandom } from "../../documents/random.ts";
import { type GreyPicture, photograph } from "../rasters.ts";

export type Fault =
  | { readonly kind: "noise" /** Largest change of a pixel, of 255. */; readonly strength: number }
  | { readonly kind: "specks" /** Share of pixels that are black or white. */; readonly share: number }
  /** Paper and ink, of 255. */
  | { readonly kind: "contrast"; readonly ink: number; readonly paper: number }
  | { readonly kind: "inverted" }
  /** Clockwise. */
  | { readonly kind: "turned"; readonly degrees: 90 | 180 | 270 }
  | { readonly kind: "skew"; readonly degrees: number }
  | { readonly kind: "blur"; readonly radius: number }
  | { readonly kind: "smaller" /** Less than 1. */; readonly scale: number }
  | {
      readonly kind: "photo";
      readonly degrees: number;
      readonly tilt: number;
      readonly shade: number;
      readonly noise: number;
    };

export function applyFaults(picture: GreyPicture, faults: readonly Fault[], seed: string): GreyPicture {
  return faults.reduce((current, fault, index) => applyFault(current, fault, `${seed} ${index}`), picture);
}

function applyFault(picture: GreyPicture, fault: Fault, seed: string): GreyPicture {
  switch (fault.kind) {
    case "noise": {
      const { next } = createRandom(seed);
      // The sum of two is closer to the noise of a sensor than one.
      return change(picture, (shade) => shade + (next() + next() - 1) * fault.strength);
    }
    case "specks": {
      const { next } = createRandom(seed);
      return change(picture, (shade) => (next() < fault.share ? (next() < 0.5 ? 0 : 255) : shade));
    }
    case "contrast":
      return change(picture, (shade) => fault.ink + (shade / 255) * (fault.paper - fault.ink));
    case "inverted":
      return change(picture, (shade) => 255 - shade);
    case "turned":
      return turn(picture, fault.degrees);
    case "skew":
      return photograph(picture, { degrees: fault.degrees, blur: 0, noise: 0, shade: 0 });
    case "blur":
      return photograph(picture, { degrees: 0, blur: fault.radius, noise: 0, shade: 0 });
    case "smaller":
      return shrink(picture, fault.scale);
    case "photo":
      return photograph(picture, {
        degrees: fault.degrees,
        blur: 1,
        noise: fault.noise,
        shade: fault.shade,
        tilt: fault.tilt,
      });
  }
}

function change({ width, height, pixels }: GreyPicture, shadeOf: (shade: number) => number): GreyPicture {
  return { width, height, pixels: pixels.map((shade) => Math.min(255, Math.max(0, shadeOf(shade)))) };
}

function turn({ width, height, pixels }: GreyPicture, degrees: 90 | 180 | 270): GreyPicture {
  const isUpright = degrees === 180;
  const [newWidth, newHeight] = isUpright ? [width, height] : [height, width];
  const turned = new Uint8Array(pixels.length);
  for (let y = 0; y < newHeight; y++) {
    for (let x = 0; x < newWidth; x++) {
      const [fromX, fromY] =
        degrees === 90 ? [y, height - 1 - x] : isUpright ? [width - 1 - x, height - 1 - y] : [width - 1 - y, x];
      turned[y * newWidth + x] = pixels[fromY * width + fromX] ?? 255;
    }
  }
  return { width: newWidth, height: newHeight, pixels: turned };
}

/** The mean of the pixels that fall into one. */
function shrink({ width, height, pixels }: GreyPicture, scale: number): GreyPicture {
  const [newWidth, newHeight] = [Math.floor(width * scale), Math.floor(height * scale)];
  const small = new Uint8Array(newWidth * newHeight);
  for (let y = 0; y < newHeight; y++) {
    const [top, bottom] = [Math.floor(y / scale), Math.min(height, Math.ceil((y + 1) / scale))];
    for (let x = 0; x < newWidth; x++) {
      const [left, right] = [Math.floor(x / scale), Math.min(width, Math.ceil((x + 1) / scale))];
      let total = 0;
      for (let fromY = top; fromY < bottom; fromY++)
        for (let fromX = left; fromX < right; fromX++) total += pixels[fromY * width + fromX] ?? 255;
      small[y * newWidth + x] = total / ((bottom - top) * (right - left));
    }
  }
  return { width: newWidth, height: newHeight, pixels: small };
}
