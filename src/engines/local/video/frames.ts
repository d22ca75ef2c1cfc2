// Frames of a video as JPEG files, for chat models that read images. No task of the API: engines/llm/ runs it.

import type { LocalEngine } from "../local-engine.ts";
import { writePixels } from "../vision/pixels.ts";
import { openVideo, videoTools } from "./ffmpeg.ts";
import { sampleFrames } from "./sampled-video.ts";

const framesTask = "video/frames";

// A chat model reads an image of this size as about a thousand tokens.
const [maxFrames, width] = [20, 768];

export const videoFrames: LocalEngine = {
  task: framesTask,
  isInternal: true,
  packages: [],
  tools: videoTools,
  timeLimit: "job",
  async load() {
    return async ({ files }) => {
      await using video = await openVideo(files["file"]);
      const frames: { time: number; jpeg: string }[] = [];
      for await (const { pixels, time } of sampleFrames(video, { maxFrames, width })) {
        const { bytes } = await writePixels(pixels, "jpeg");
        frames.push({ time, jpeg: Buffer.from(bytes).toString("base64") });
      }
      return { output: { seconds: video.seconds, frames }, original: null, units: {} };
    };
  },
};
