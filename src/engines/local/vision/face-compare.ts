// image/face_compare: searches the second picture for the largest face of the first one.

import { refuseInput } from "../../../providers/task.ts";
import { defineEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { toSides } from "./boxes.ts";
import { faceEngine, loadFaceTools } from "./face-describer.ts";
import { similarityOf, toConfidence } from "./face-similarity.ts";
import { readPicture } from "./picture-engine.ts";

export const faceCompare = defineEngine({
  task: "image/face_compare",
  ...faceEngine,
  async load() {
    const { finder, describer } = await loadFaceTools();
    return async ({ files }) => {
      const [first, second] = [await readPicture(files, "file1"), await readPicture(files, "file2")];
      const [face] = finder.find(first);
      if (face === undefined) return refuseInput("file1", "No face was found in this picture.");
      const vector = describer.toVector(first, face);
      const found = finder.find(second).map((other) => {
        const similarity = similarityOf(vector, describer.toVector(second, other));
        const item = { confidence: toConfidence(similarity), bounding_box: toSides(other.box, second) };
        return { similarity, item };
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
