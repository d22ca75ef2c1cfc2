// Searches the second picture for the largest face of the first one. It measures similarity and does not prove identity.

import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { toEdges } from "./boxes.ts";
import { humanPackage } from "./human.ts";
import { readPixels, refuse } from "./pixels.ts";
import { createSampler } from "./sampler.ts";
import { tensorflowPackages } from "./tensorflow.ts";
import { maxPixelsSeen, type Vision } from "./vision.ts";

// Measured: at this similarity, false matches and false non-matches are equally frequent.
const undecided = 0.52;
const steepness = 0.045;
const units = { image: 2, file: 2, request: 1 };

export function createFaceCompare(vision: Vision): LocalEngine {
  return {
    task: "image/face_compare",
    group: "vision",
    packages: [...tensorflowPackages, humanPackage],
    async load() {
      const finder = await vision.faceFinder();
      const describer = await vision.faceDescriber();
      return async ({ files }) => {
        const first = createSampler(await readPixels(files["file1"], "file1", maxPixelsSeen));
        const second = createSampler(await readPixels(files["file2"], "file2", maxPixelsSeen));
        const [wanted] = finder.find(first);
        if (wanted === undefined) throw refuse("file1", "No face was found in this picture.");
        const vector = describer.toVector(first, wanted);
        const found = finder.find(second).map((face) => {
          const likeness = dot(vector, describer.toVector(second, face));
          const { x_min, x_max, y_min, y_max } = toEdges(face.box, second);
          return {
            likeness,
            confidence: toConfidence(likeness),
            bounding_box: { top: y_min, left: x_min, height: round(y_max - y_min), width: round(x_max - x_min) },
          };
        });
        found.sort((a, b) => b.likeness - a.likeness);
        return {
          output: { items: found.map(({ confidence, bounding_box }) => ({ confidence, bounding_box })) },
          original: { engine: "blazeface, facemesh, faceres", likeness: found.map(({ likeness }) => round(likeness)) },
          units,
        };
      };
    },
  };
}

function toConfidence(likeness: number): number {
  return round(1 / (1 + Math.exp((undecided - likeness) / steepness)));
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] as number), 0);
}
