// Everyday things of eighty kinds, by CenterNet. Basic: small things are missed, and some are called by another name.

import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { keepBest, toEdges } from "./boxes.ts";
import { humanPackage } from "./human.ts";
import { readPixels } from "./pixels.ts";
import { createSampler, type Sampler } from "./sampler.ts";
import { type Network, tensorflowPackages } from "./tensorflow.ts";
import { maxPixelsSeen, oneImage, type Vision } from "./vision.ts";

const size = 512;
const numbersPerThing = 6;
// Below it every second find was a mistake.
const leastScore = 0.4;
const mostOverlap = 0.7;

/** In the order of the network's classes, which is that of the COCO pictures. */
const labels =
  `person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,bench,
bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,
kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,
orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,
cell phone,microwave,oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush`
    .split(",")
    .map((label) => label.trim());

export function createObjectDetection(vision: Vision): LocalEngine {
  return {
    task: "image/object_detection",
    group: "vision",
    packages: [...tensorflowPackages, humanPackage],
    async load() {
      const tensorflow = await vision.tensorflow();
      const network = await tensorflow.openGraph({
        packageName: humanPackage,
        path: "models/centernet",
        shape: [1, size, size, 3],
        outputs: ["tower_0/detections"],
      });
      return async ({ files }) => {
        const picture = createSampler(await readPixels(files["file"], "file", maxPixelsSeen));
        const items = findThings(network, picture).map(({ label, score, box }) => ({
          label,
          confidence: round(score),
          ...toEdges(box, picture),
        }));
        return { output: { items }, original: { engine: "centernet" }, units: oneImage };
      };
    },
  };
}

function findThings(network: Network, picture: Sampler) {
  // A square: stretched things are known less well.
  const side = Math.max(picture.width, picture.height);
  const window = { x: picture.width / 2, y: picture.height / 2, width: side, height: side };
  const [found = new Float32Array()] = network(picture.cut(window, size, size));
  const left = window.x - side / 2;
  const top = window.y - side / 2;
  const things = Array.from({ length: found.length / numbersPerThing }, (_, index) => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, kind = -1] = found.subarray(
      index * numbersPerThing,
      (index + 1) * numbersPerThing,
    );
    const scale = side / size;
    const box = { left: left + x1 * scale, top: top + y1 * scale, right: left + x2 * scale, bottom: top + y2 * scale };
    return { label: labels[Math.round(kind)] ?? null, score: Math.min(1, score), box };
  });
  return keepBest(
    things.flatMap(({ label, score, box }) => (label === null || score < leastScore ? [] : [{ label, score, box }])),
    mostOverlap,
  );
}
