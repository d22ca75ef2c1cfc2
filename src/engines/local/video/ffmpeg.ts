// Runs ffmpeg and ffprobe on untrusted videos. They inherit the confinement of the engine process: no sockets, and no files but the scratch
// folder. Beyond that, the container format is the one that the gateway detected, so that a playlist or a text file is never opened as a video,
// and memory, processor time, pixels, frames and output are limited.

import { existsSync, readdirSync, rmSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GatewayError } from "../../../errors.ts";
import { lookUp } from "../../../lib/look-up.ts";
import { refuseInput } from "../../../providers/task.ts";
import type { LocalFile } from "../local-engine.ts";
import { findTool } from "../system-tools.ts";

export const videoTools = ["ffmpeg", "ffprobe"] as const;

export interface VideoFacts {
  readonly width: number;
  readonly height: number;
  /** Null: the file does not state it. */
  readonly seconds: number | null;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue, one byte each. */
  readonly data: Uint8Array;
}

export interface FrameOptions {
  readonly framesPerSecond: number;
  readonly maxFrames: number;
  /** Frames are scaled to this size; a height of -2 keeps the proportions. */
  readonly width: number;
  readonly height: number;
}

export interface Video extends VideoFacts, AsyncDisposable {
  /** In the order of time: the frame with index n is the one at n / framesPerSecond. */
  frames(options: FrameOptions): AsyncGenerator<Frame>;
}

/** Detected type → demuxer. No other file is opened. */
const demuxers: Readonly<Record<string, string>> = {
  "video/mp4": "mov",
  "video/quicktime": "mov",
  "video/3gpp": "mov",
  "video/webm": "matroska",
  "video/x-matroska": "matroska",
  "video/x-msvideo": "avi",
  "video/ogg": "ogg",
};

const maxVideoBytes = 256 * 1_048_576;
const maxPixels = 36_000_000;
const limits = { memoryKilobytes: 2_000_000, processorSeconds: 1_500, outputBlocks: 0 };
// ffprobe reads the head of the file, or its index.
const probeSeconds = 30;
const maxProbeBytes = 65_536;
const maxMessage = 500;
const prefix = "video-";

/**
 * Starts a program with limits. The program is killed when the standard input of the shell is closed. That also happens when this process is
 * killed, and could not kill the program itself.
 */
const script = `
ulimit -v ${limits.memoryKilobytes} 2>/dev/null
ulimit -f ${limits.outputBlocks} 2>/dev/null
ulimit -c 0 2>/dev/null
ulimit -t "$1" 2>/dev/null
shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ /bin/cat <&3 >/dev/null 2>&1; kill -9 $child; } >/dev/null 2>&1 &
wait $child
`;

export async function openVideo(file: LocalFile | undefined): Promise<Video> {
  if (file === undefined) return refuseInput("file", "The video is missing.", "missing");
  const demuxer = lookUp(demuxers, file.mediaType);
  if (demuxer === undefined)
    return refuseInput(
      "file",
      `Files of the type ${file.mediaType} cannot be read here. Send MP4, MOV, WebM, Matroska, AVI or Ogg.`,
      "unsupported_media_type",
    );
  if (file.bytes.length > maxVideoBytes)
    refuseInput("file", `The video has more than ${maxVideoBytes} bytes.`, "file_too_large");
  deleteLeftovers();
  const path = join(process.cwd(), `${prefix}${process.pid}-${crypto.randomUUID()}`);
  const input = ["-protocol_whitelist", "file", "-f", demuxer, "-max_pixels", String(maxPixels), "-i", path];
  const dispose = () => rm(path, { force: true });
  try {
    await writeFile(path, file.bytes);
    const facts = await probe(input);
    return { ...facts, frames: (options) => readFrames(input, options), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Files of engine processes that were killed, where it is known which processes run. */
function deleteLeftovers(): void {
  if (!existsSync("/proc/self")) return;
  for (const name of readdirSync(process.cwd())) {
    if (!name.startsWith(prefix)) continue;
    const owner = name.slice(prefix.length).split("-")[0];
    if (!existsSync(`/proc/${owner}`)) rmSync(join(process.cwd(), name), { force: true });
  }
}

async function probe(input: readonly string[]): Promise<VideoFacts> {
  const entries = "stream=width,height,duration:format=duration";
  const select = ["-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", "json"];
  await using running = start("ffprobe", [...select, ...input], probeSeconds);
  let text = "";
  for await (const bytes of running.output) {
    text += Buffer.from(bytes).toString("utf8");
    if (text.length > maxProbeBytes) break;
  }
  await running.finish();
  const { streams = [], format = {} } = parse(text);
  const [stream] = streams;
  const [width, height] = [Number(stream?.width), Number(stream?.height)];
  if (!(width > 0 && height > 0)) refuseInput("file", "The file has no video that can be read.");
  if (width * height > maxPixels) refuseInput("file", `The video measures ${width} × ${height}, which is too large.`);
  const seconds = [format.duration, stream?.duration]
    .map(Number)
    .find((number) => Number.isFinite(number) && number > 0);
  return { width, height, seconds: seconds ?? null };
}

interface Probed {
  readonly streams?: readonly { readonly width?: unknown; readonly height?: unknown; readonly duration?: unknown }[];
  readonly format?: { readonly duration?: unknown };
}

function parse(text: string): Probed {
  try {
    return JSON.parse(text) as Probed;
  } catch {
    return {};
  }
}

async function* readFrames(input: readonly string[], options: FrameOptions): AsyncGenerator<Frame> {
  const { framesPerSecond, maxFrames, width, height } = options;
  // Scaled first: a video of a few frames and many hours repeats each frame thousands of times.
  const filter = `scale=${width}:${height}:flags=area,fps=${framesPerSecond}`;
  // The portable pixmap is the simplest format: its size in digits, then its pixels.
  const output = ["-frames:v", String(maxFrames), "-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"];
  const quiet = ["-nostdin", "-hide_banner", "-loglevel", "error", "-filter_threads", "1", "-threads", "2"];
  const streams = ["-map", "0:v:0", "-an", "-sn", "-dn", "-vf", filter];
  await using running = start("ffmpeg", [...quiet, ...input, ...streams, ...output], limits.processorSeconds);
  let count = 0;
  for await (const frame of splitPictures(running.output)) {
    yield frame;
    count++;
  }
  // A video that is damaged at its end still has its frames.
  await running.finish(count === 0);
  if (count === 0) refuseInput("file", "The video is damaged, or of a format that cannot be read.");
}

/** A large picture arrives in many parts, which are joined once it is complete; a part may hold many small pictures. */
async function* splitPictures(output: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  let parts: Buffer[] = [];
  let length = 0;
  let needed = headLength;
  for await (const part of output) {
    parts.push(Buffer.from(part));
    length += part.length;
    while (length >= needed) {
      const bytes = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const size = sizeOf(bytes);
      needed = size?.end ?? Number.POSITIVE_INFINITY;
      parts = [bytes];
      if (size === null || length < size.end) break;
      yield { width: size.width, height: size.height, data: bytes.subarray(size.start, size.end) };
      parts = [bytes.subarray(size.end)];
      length -= size.end;
      needed = headLength;
    }
  }
}

/** Enough for the size in digits. The pixels of the smallest picture are longer. */
const headLength = 32;

/** Null: these bytes do not begin with a picture. */
function sizeOf(bytes: Buffer): { width: number; height: number; start: number; end: number } | null {
  const head = /^P6\s(\d{1,5})\s(\d{1,5})\s255\s/.exec(bytes.subarray(0, headLength).toString("latin1"));
  if (head === null) return null;
  const [width, height, start] = [Number(head[1]), Number(head[2]), head[0].length];
  return { width, height, start, end: start + width * height * 3 };
}

interface Running extends AsyncDisposable {
  readonly output: ReadableStream<Uint8Array>;
  /** Waits for the end. Throws a refusal with the program's own words if it failed. */
  finish(mustSucceed?: boolean): Promise<void>;
}

function start(tool: (typeof videoTools)[number], options: readonly string[], processorSeconds: number): Running {
  const path = findTool(tool);
  if (path === null) throw new GatewayError("provider_not_configured", `${tool} is not installed.`);
  const child = Bun.spawn(["/bin/sh", "-c", script, "sh", String(processorSeconds), path, ...options], {
    cwd: process.cwd(),
    env: {},
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const message = readStart(child.stderr, maxMessage);
  return {
    output: child.stdout,
    async finish(mustSucceed = true) {
      const code = await child.exited;
      const words = await message;
      if (code === 0 || !mustSucceed) return;
      const reason = words.split("\n").find((line) => line.trim() !== "") ?? "";
      refuseInput("file", `The video cannot be read${reason === "" ? "." : `: ${withoutPath(reason)}`}`);
    },
    async [Symbol.asyncDispose]() {
      // Closing its standard input ends the program, if it still runs.
      await child.stdin.end();
      await child.stdout.cancel().catch(() => {});
      await child.exited;
    },
  };
}

/** The first characters of the output. The rest is read and discarded, because a program blocks when its pipe is full. */
async function readStart(stream: ReadableStream<Uint8Array>, maxLength: number): Promise<string> {
  let text = "";
  for await (const bytes of stream)
    if (text.length < maxLength) text = (text + Buffer.from(bytes).toString("utf8")).slice(0, maxLength);
  return text;
}

/** The path of our copy says nothing to the caller. */
function withoutPath(text: string): string {
  return text
    .replaceAll(/\S*\/video-[\w-]+:?/g, "")
    .replaceAll(/\[[^\]]*@ 0x[0-9a-f]+\]/g, "")
    .trim();
}
