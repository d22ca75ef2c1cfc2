// image/object_detection of eighty kinds of everyday objects, by CenterNet. Basic: it misses small objects and confuses some kinds.

import { loadOnce } from "../load-once.ts";
import { round } from "../numbers.ts";
import { keepBest, toEdges } from "./boxes.ts";
import { createPictureEngine } from "./picture-engine.ts";
import type { Sampler } from "./sampler.ts";
import { humanPackages, loadTensorflow, type Network } from "./tensorflow.ts";

const size = 512;
const numbersPerObject = 6;
// Below it, every second result was wrong.
const minScore = 0.4;
const maxOverlap = 0.7;

/** The classes of the COCO dataset, in the order of the network's outputs. */
const labels =
  `person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,bench,
bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,
kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,
orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,
cell phone,microwave,oven,toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush`
    .split(",")
    .map((label) => label.trim());

export const objectDetection = createPictureEngine({
  task: "image/object_detection",
  packages: humanPackages,
  async load() {
    const find = await loadObjectFinder();
    return (picture) => {
      const items = find(picture).map(({ label, score, box }) => ({
        label,
        confidence: round(score),
        ...toEdges(box, picture),
      }));
      return { output: { items }, original: { engine: "centernet" } };
    };
  },
});

/** The objects in a picture, for all engines of a worker. */
export const loadObjectFinder = loadOnce(async () => {
  const { openGraph } = await loadTensorflow();
  const network = await openGraph({ name: "centernet", size, outputs: ["tower_0/detections"] });
  return (picture: Sampler) => findObjects(network, picture);
});

function findObjects(network: Network, picture: Sampler) {
  // The window is square, because stretched objects are recognised less well.
  const side = Math.max(picture.width, picture.height);
  const window = { x: picture.width / 2, y: picture.height / 2, width: side, height: side };
  const [found = new Float32Array()] = network(picture.crop(window, size, size));
  const [left, top, scale] = [window.x - side / 2, window.y - side / 2, side / size];
  const objects = [];
  for (let at = 0; at < found.length; at += numbersPerObject) {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, score = 0, kind = -1] = found.subarray(at, at + numbersPerObject);
    const label = labels[Math.round(kind)];
    if (label === undefined || score < minScore) continue;
    const box = { left: left + x1 * scale, top: top + y1 * scale, right: left + x2 * scale, bottom: top + y2 * scale };
    objects.push({ label, score: Math.min(1, score), box });
  }
  return keepBest(objects, maxOverlap);
}
