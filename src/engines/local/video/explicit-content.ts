// video/explicit_content_detection_async: the scores that image/explicit_content gives to the frames of a video. Assistive, as that engine is.

import { explicitPackages, loadExplicitScores } from "../vision/explicit-content.ts";
import { createSampler } from "../vision/sampler.ts";
import { createVideoEngine } from "./sampled-video.ts";

/** A video has hundreds of frames, and lower scores say nothing. */
const minScore = 0.3;

export const explicitVideo = createVideoEngine({
  task: "video/explicit_content_detection_async",
  group: "vision",
  packages: explicitPackages,
  maxFrames: 600,
  width: 320,
  async load() {
    const findScores = await loadExplicitScores();
    return () =>
      async ({ pixels, time }) =>
        findScores(createSampler(pixels)).flatMap(({ category, subcategory, score }) =>
          category === "Safe" || score < minScore
            ? []
            : [{ timestamp: time, confidence: score, category: subcategory }],
        );
  },
  toOutput: (moderation) => ({ moderation }),
});
