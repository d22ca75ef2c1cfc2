// video/shot_change_detection_async: where one shot ends and the next begins, from the differences between small frames.

import { toShots } from "../../../providers/shapes/video.ts";
import { refuseInput } from "../../../providers/task.ts";
import { defineEngine } from "../local-engine.ts";
import { openVideo, videoTools } from "./ffmpeg.ts";
import { maxSeconds } from "./sampled-video.ts";
import { createShotFinder } from "./shot-finder.ts";

const framesPerSecond = 25;
const [width, height] = [64, 36];

export const shotChanges = defineEngine({
  task: "video/shot_change_detection_async",
  packages: [],
  tools: videoTools,
  timeLimit: "job",
  async load() {
    return async ({ files, onProgress }) => {
      await using video = await openVideo(files["file"]);
      const { seconds } = video;
      if ((seconds ?? 0) > maxSeconds)
        refuseInput(
          "file",
          `The video has ${Math.round(seconds ?? 0)} seconds; at most ${maxSeconds} can be read here.`,
        );
      const finder = createShotFinder(width, height, framesPerSecond);
      const maxFrames = maxSeconds * framesPerSecond;
      let count = 0;
      for await (const { data } of video.frames({ framesPerSecond, maxFrames, width, height })) {
        finder.add(data);
        count++;
        if (seconds !== null && count % framesPerSecond === 0)
          onProgress(Math.min(1, count / (seconds * framesPerSecond)));
      }
      const end = seconds ?? count / framesPerSecond;
      const starts = [0, ...finder.finish().map((frame) => frame / framesPerSecond)];
      const shots = starts.map((start, index) => ({ start, end: starts[index + 1] ?? Math.max(start, end) }));
      return {
        output: toShots(shots),
        original: { engine: "histograms of frames", frames: count },
        units: { request: 1, file: 1, second: end },
      };
    };
  },
});
