// image/face_compare: searches the second picture for the largest face of the first one.

import { refuseInput } from "../../../providers/task.ts";
import { defineEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { toEdges } from "./boxes.ts";
import { loadFaceDescriber } from "./face-describer.ts";
import { loadFaceFinder } from "./face-finder.ts";
import { similarityOf, toConfidence } from "./face-similarity.ts";
import { maxPixelsRead } from "./picture-engine.ts";
import { readPixels } from "./pixels.ts";
import { createSampler } from "./sampler.ts";
import { humanPackages } from "./tensorflow.ts";

export const faceCompare = defineEngine({
  task: "image/face_compare",
  group: "vision",
  packages: humanPackages,
  async load() {
    const finder = await loadFaceFinder();
    const describer = await loadFaceDescriber();
    return async ({ files }) => {
      const [first, second] = [
        createSampler(await readPixels(files["file1"], "file1", maxPixelsRead)),
        createSampler(await readPixels(files["file2"], "file2", maxPixelsRead)),
      ];
      const [face] = finder.find(first);
      if (face === undefined) return refuseInput("file1", "No face was found in this picture.");
      const vector = describer.toVector(first, face);
      const found = finder.find(second).map((other) => {
        const similarity = similarityOf(vector, describer.toVector(second, other));
        const { x_min, x_max, y_min, y_max } = toEdges(other.box, second);
        const box = { top: y_min, left: x_min, height: round(y_max - y_min), width: round(x_max - x_min) };
        return { similarity, item: { confidence: toConfidence(similarity), bounding_box: box } };
      });
      found.sort((a, b) => b.similarity - a.similarity);
      return {
        output: { items: found.map(({ item }) => item) },
        original: {
          engine: "blazeface, facemesh, faceres",
          likeness: found.map(({ similarity }) => round(similarity)),
        },
        units: { image: 2, file: 2, request: 1 },
      };
    };
  },
});
