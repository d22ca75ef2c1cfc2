// video/label_detection_async: the objects that image/object_detection finds in the frames of a video.

import { type SeenLabel, toLabels } from "../../../providers/shapes/video.ts";
import { round } from "../numbers.ts";
import { toEdges } from "../vision/boxes.ts";
import { loadObjectFinder } from "../vision/object-detection.ts";
import { createSampler } from "../vision/sampler.ts";
import { humanPackages } from "../vision/tensorflow.ts";
import { createVideoEngine } from "./sampled-video.ts";

export const labelDetection = createVideoEngine({
  task: "video/label_detection_async",
  group: "vision",
  packages: humanPackages,
  maxFrames: 300,
  width: 768,
  async load() {
    const findObjects = await loadObjectFinder();
    return () =>
      async ({ pixels, time, until }): Promise<SeenLabel[]> => {
        const picture = createSampler(pixels);
        const byLabel = Map.groupBy(findObjects(picture), ({ label }) => label);
        return [...byLabel].flatMap(([name, found]) => {
          const [best] = found.toSorted((one, another) => another.score - one.score);
          if (best === undefined) return [];
          const { x_min, x_max, y_min, y_max } = toEdges(best.box, picture);
          const box = { left: x_min, top: y_min, width: round(x_max - x_min), height: round(y_max - y_min) };
          return [{ name, confidence: round(best.score), start: time, end: until, boxes: [box] }];
        });
      };
  },
  toOutput: (seen) => {
    // The list of boxes has no times, so that of the clearest frame is the only one that says something.
    const best = new Map<string, SeenLabel>();
    for (const one of seen) if ((best.get(one.name)?.confidence ?? 0) < one.confidence) best.set(one.name, one);
    return toLabels(seen.map((one) => (best.get(one.name) === one ? one : { ...one, boxes: [] })));
  },
});
