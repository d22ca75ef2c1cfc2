// How likely a picture is sexual, by the MobileNetV2 of nsfwjs. Assistive: bare skin and sports clothes are often taken for more.

import { createRequire } from "node:module";
import { readModelFile } from "../checksums.ts";
import type { LocalEngine } from "../local-engine.ts";
import { type LayeredFile, openLayers } from "./layered-network.ts";
import { toLikelihood } from "./likelihood.ts";
import { readPixels } from "./pixels.ts";
import { createSampler, wholeOf } from "./sampler.ts";
import { tensorflowPackages } from "./tensorflow.ts";
import { maxPixelsSeen, oneImage, type Vision } from "./vision.ts";

const modelPackage = "nsfwjs";
const folder = "dist/models/mobilenet_v2";
const size = 224;
/** The last of the layers. */
const outputLayer = "dense_3";

/** In the order of the network's outputs. The weight is the part of its share that counts towards the whole. */
const classes = [
  { label: "Drawing", category: "Safe", subcategory: "Safe", weight: 0 },
  { label: "Hentai", category: "Sexual", subcategory: "SexualActivity", weight: 1 },
  { label: "Neutral", category: "Safe", subcategory: "Safe", weight: 0 },
  { label: "Porn", category: "Sexual", subcategory: "SexualActivity", weight: 1 },
  // Clothed, for the most part: a hint and no finding.
  { label: "Sexy", category: "Sexual", subcategory: "Suggestive", weight: 0.5 },
];

export function createExplicitContent(vision: Vision): LocalEngine {
  return {
    task: "image/explicit_content",
    group: "vision",
    packages: [...tensorflowPackages, modelPackage],
    async load() {
      const { core } = await vision.tensorflow();
      const file = (await loadModule(`${folder}/model.min.js`)) as LayeredFile;
      const weights = (await loadModule(`${folder}/group1-shard1of1.min.js`)) as string;
      const network = openLayers(core, file, new Uint8Array(Buffer.from(weights, "base64")), outputLayer);
      return async ({ files }) => {
        const picture = createSampler(await readPixels(files["file"], "file", maxPixelsSeen));
        const input = picture.cut(wholeOf(picture), size, size).map((value) => value / 255);
        const [shares = new Float32Array()] = network(input);
        const items = classes.map(({ label, category, subcategory }, index) => {
          const score = round(shares[index] ?? 0);
          return { label, likelihood: toLikelihood(score), likelihood_score: score, category, subcategory };
        });
        const whole = round(classes.reduce((sum, { weight }, index) => sum + weight * (shares[index] ?? 0), 0));
        return {
          output: { nsfw_likelihood: toLikelihood(whole), nsfw_likelihood_score: whole, items },
          original: { engine: "nsfwjs MobileNetV2" },
          units: oneImage,
        };
      };
    },
  };
}

/** The package has its network in the form of modules that hold nothing but data; they are checked like any other file. */
async function loadModule(path: string): Promise<unknown> {
  const file = await readModelFile(modelPackage, path);
  return createRequire(file.path)(file.path) as unknown;
}

function round(value: number): number {
  return Math.min(1, Math.round(value * 1e4) / 1e4);
}
