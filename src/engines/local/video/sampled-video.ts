// The common part of engines that look at single frames of a video: at most one per second, and fewer of a long video.

import type { TaskDraft, TaskInput, TaskName } from "../../../contract/tasks.ts";
import { toTime } from "../../../providers/shapes/video.ts";
import { refuseInput } from "../../../providers/task.ts";
import { type AnswerOf, defineEngine, type EngineOf, type LocalCall, type LocalEngine } from "../local-engine.ts";
import type { Pixels } from "../vision/pixels.ts";
import { type Frame, openVideo, type Video, videoTools } from "./ffmpeg.ts";

interface VideoEngine<Name extends TaskName, Seen, Output> extends EngineOf<Name> {
  readonly maxFrames: number;
  /** The width of the frames; their height keeps the proportions. */
  readonly width: number;
  /** Returns a function that looks at one frame after another. */
  load(): Promise<(call: LocalCall<TaskInput<Name>>) => LookAt<Seen>>;
  /** Combines what was seen in all frames. */
  toOutput(seen: readonly Seen[]): AnswerOf<Name, Output>["output"];
}

export interface SampledFrame {
  readonly pixels: Pixels;
  /** In seconds. */
  readonly time: number;
  /** The time of the next frame, or the end of the video. */
  readonly until: number;
}

type LookAt<Seen> = (frame: SampledFrame) => Promise<readonly Seen[]>;

export const maxSeconds = 4 * 3_600;

export function createVideoEngine<const Name extends TaskName, Seen, Output extends TaskDraft<Name>>(
  engine: VideoEngine<Name, Seen, Output>,
): LocalEngine {
  const { maxFrames, width, toOutput, ...declared } = engine;
  return defineEngine<Name, Output>({
    ...declared,
    tools: videoTools,
    timeLimit: "job",
    async load() {
      const createLook = await engine.load();
      return async (call) => {
        await using video = await openVideo(call.files["file"]);
        const look = createLook(call);
        const seen: Seen[] = [];
        let count = 0;
        for await (const frame of sampleFrames(video, { maxFrames, width })) {
          seen.push(...(await look(frame)));
          count++;
          call.onProgress(Math.min(1, frame.until / (video.seconds ?? maxFrames)));
        }
        return {
          output: toOutput(seen),
          original: { engine: "ffmpeg", frames: count, seconds: video.seconds },
          units: { request: 1, file: 1, ...(video.seconds !== null && { second: video.seconds }) },
        };
      };
    },
  });
}

/** Frames at equal distances from the start to the end. */
export async function* sampleFrames(
  video: Video,
  { maxFrames, width }: { readonly maxFrames: number; readonly width: number },
): AsyncGenerator<SampledFrame> {
  const { seconds } = video;
  if (seconds !== null && seconds > maxSeconds)
    refuseInput("file", `The video has ${Math.round(seconds)} seconds; at most ${maxSeconds} can be read here.`);
  const framesPerSecond = seconds === null ? 1 : Math.min(1, maxFrames / seconds);
  const options = { framesPerSecond, maxFrames, width: Math.min(width, video.width), height: -2 };
  let index = 0;
  for await (const frame of video.frames(options)) {
    const time = index++ / framesPerSecond;
    const next = index / framesPerSecond;
    const until = seconds === null ? next : Math.max(time, Math.min(next, seconds));
    yield { pixels: toPixels(frame), time: toTime(time), until: toTime(until) };
  }
  if (seconds === null && index >= maxFrames)
    refuseInput("file", `The video does not state its length, and has more than ${maxFrames} seconds.`);
}

function toPixels({ width, height, data }: Frame): Pixels {
  const rgba = new Uint8Array(width * height * 4);
  for (let from = 0, to = 0; to < rgba.length; from += 3, to += 4) {
    rgba[to] = data[from] as number;
    rgba[to + 1] = data[from + 1] as number;
    rgba[to + 2] = data[from + 2] as number;
    rgba[to + 3] = 255;
  }
  return { width, height, data: rgba, colourProfile: null, format: "png" };
}
