// Video clips that a vendor generated, and what vendors find in videos. Times are seconds from the start of the video.

import type { TaskDraft, TaskInput } from "../../contract/tasks.ts";
import { limitToOne, rounded } from "../lenient.ts";
import type { ResultOf, TaskCall, TaskResult } from "../task.ts";
import { type Box, nowhere } from "./boxes.ts";
import { chooseFrom } from "./inputs.ts";

export type VideoCall = TaskCall<TaskInput<"video/generation_async">>;

/** The result of `video/generation_async`. */
export function toVideo(
  bytes: Uint8Array,
  mediaType: string,
  seconds: number | null,
): ResultOf<"video/generation_async"> {
  if (bytes.length === 0) throw new TypeError("there is no video in the answer");
  return {
    output: { usage: null },
    units: { request: 1, ...(seconds !== null && { second: seconds }) },
    binaries: [{ base64Path: ["video"], urlPath: ["video_resource_url"], bytes, mediaType }],
    original: null,
  };
}

/** The vendor's value for a size such as `1280x720`. */
export function dimensionOf<T>({ input }: VideoCall, choices: Readonly<Record<string, T>>): T | null {
  return input.dimension ? chooseFrom(choices, input.dimension, "dimension") : null;
}

/** The units of a task on one video; `seconds` is null when its length is unknown. */
export function videoUnits(seconds: number | null): TaskResult["units"] {
  return { request: 1, file: 1, ...(seconds !== null && { second: seconds, minute: rounded(seconds / 60) }) };
}

/** One time span in which a label was seen. */
export interface SeenLabel {
  readonly name: string;
  readonly confidence: number;
  readonly start: number;
  readonly end: number;
  readonly categories?: readonly string[];
  readonly boxes?: readonly Box[];
}

/** The output of `video/label_detection_async`: each name once, with its highest confidence and all its time spans. */
export function toLabels(seen: readonly SeenLabel[]): TaskDraft<"video/label_detection_async"> {
  const labels = [...Map.groupBy(seen, ({ name }) => name)].map(([name, spans]) => ({
    name,
    confidence: spans.reduce((most, { confidence }) => Math.max(most, confidence), 0),
    timestamp: mergeSpans(spans),
    category: [...new Set(spans.flatMap(({ categories = [] }) => categories))],
    bounding_box: spans.flatMap(({ boxes = [] }) => boxes),
  }));
  return { labels: labels.toSorted((one, another) => another.confidence - one.confidence) };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** In the order of time; spans that overlap or touch become one. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of spans.toSorted((one, another) => one.start - another.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, end) };
    else merged.push({ start, end });
  }
  return merged.map(({ start, end }) => ({ start: toTime(start), end: toTime(end) }));
}

/** A text in one frame. */
export interface SeenText {
  readonly text: string;
  readonly time: number;
  readonly confidence: number;
  readonly box: Box | null;
}

/** The output of `video/text_detection_async`: each text once, with the frames that show it. */
export function toVideoTexts(seen: readonly SeenText[]): TaskDraft<"video/text_detection_async"> {
  return {
    texts: [...Map.groupBy(seen, ({ text }) => text)].map(([text, frames]) => ({
      text,
      frames: frames
        .toSorted((one, another) => one.time - another.time)
        .map(({ time, confidence, box }) => ({
          confidence: limitToOne(confidence),
          timestamp: toTime(time),
          bounding_box: box ?? nowhere,
        })),
    })),
  };
}

/** The output of `video/shot_change_detection_async`. */
export function toShots(shots: readonly Span[]): TaskDraft<"video/shot_change_detection_async"> {
  return {
    shotAnnotations: shots.map(({ start, end }) => ({ startTimeOffset: toTime(start), endTimeOffset: toTime(end) })),
  };
}

/** Seconds with a precision of a millisecond. */
export function toTime(seconds: number): number {
  return rounded(seconds, 3);
}
