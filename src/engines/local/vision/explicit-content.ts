// image/explicit_content: the probability that a picture is sexual, by the MobileNetV2 of nsfwjs. Assistive: bare skin and sports clothes often get a
// high score.

import { createRequire } from "node:module";
import { readModelFile } from "../checksums.ts";
import { loadOnce } from "../load-once.ts";
import { round, toLikelihood } from "../numbers.ts";
import { type LayeredFile, openLayers } from "./layered-network.ts";
import { createPictureEngine } from "./picture-engine.ts";
import { type Sampler, wholeArea } from "./sampler.ts";
import { loadTensorflow, tensorflowPackages } from "./tensorflow.ts";

const modelPackage = "nsfwjs";
const folder = "dist/models/mobilenet_v2";
const size = 224;
const outputLayer = "dense_3";

/** In the order of the network's outputs. The weight of a class is its contribution to the score of the picture. */
const classes = [
  { label: "Drawing", category: "Safe", subcategory: "Safe", weight: 0 },
  { label: "Hentai", category: "Sexual", subcategory: "SexualActivity", weight: 1 },
  { label: "Neutral", category: "Safe", subcategory: "Safe", weight: 0 },
  { label: "Porn", category: "Sexual", subcategory: "SexualActivity", weight: 1 },
  // Mostly clothed people, so it counts only half.
  { label: "Sexy", category: "Sexual", subcategory: "Suggestive", weight: 0.5 },
];

export const explicitPackages = [...tensorflowPackages, modelPackage];

export const explicitContent = createPictureEngine({
  task: "image/explicit_content",
  packages: explicitPackages,
  async load() {
    const findScores = await loadExplicitScores();
    return (picture) => {
      const scores = findScores(picture);
      const items = scores.map(({ label, category, subcategory, score }) => {
        return { label, likelihood: toLikelihood(score), likelihood_score: score, category, subcategory };
      });
      const whole = toScore(scores.reduce((sum, { weight, share }) => sum + weight * share, 0));
      return {
        output: { nsfw_likelihood: toLikelihood(whole), nsfw_likelihood_score: whole, items },
        original: { engine: "nsfwjs MobileNetV2" },
      };
    };
  },
});

/** The score of each class for a picture, for all engines of a worker. */
export const loadExplicitScores = loadOnce(async () => {
  const { core } = await loadTensorflow();
  const file = (await loadModule(`${folder}/model.min.js`)) as LayeredFile;
  const weights = (await loadModule(`${folder}/group1-shard1of1.min.js`)) as string;
  const network = openLayers(core, file, new Uint8Array(Buffer.from(weights, "base64")), outputLayer);
  return (picture: Sampler) => {
    const input = picture.crop(wholeArea(picture), size, size).map((value) => value / 255);
    const [shares = new Float32Array()] = network(input);
    return classes.map((one, index) => ({ ...one, share: shares[index] ?? 0, score: toScore(shares[index] ?? 0) }));
  };
});

/** The package contains its network as JavaScript modules that hold only data. Their checksums are verified. */
async function loadModule(path: string): Promise<unknown> {
  const file = await readModelFile(modelPackage, path);
  return createRequire(file.path)(file.path) as unknown;
}

/** Rounding errors can make a share slightly more than 1. */
function toScore(share: number): number {
  return Math.min(1, round(share));
}
