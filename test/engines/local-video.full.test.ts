// The local engines for videos, in their real workers, with clips that ffmpeg draws here. Without ffmpeg these tests are skipped.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectMediaType } from "../../src/egress/media-type.ts";
import type { Engine, InputFile } from "../../src/engines/engine.ts";
import { createLlmEngines } from "../../src/engines/llm/index.ts";
import { loadPdfReader } from "../../src/engines/local/documents/pdf.ts";
import { createLocalEngines, describeMissingTools, type LocalEngines } from "../../src/engines/local/index.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { findTool } from "../../src/engines/local/system-tools.ts";
import { createLog } from "../../src/log.ts";
import { configureProviders } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";
import { drawPage } from "../quality/ocr/measure.ts";
import { toBitmap } from "../quality/ocr/rasters.ts";
import { text, writePdf } from "../quality/ocr/write-pdf.ts";
import { readFigure } from "../quality/vision/pictures.ts";
import { waitFor } from "../support/wait.ts";
import { fitsTask, longTimeLimitsMs, plainCall, refusalOf, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const ffmpeg = findTool("ffmpeg");
const hasVision = ["@vladmandic/human", "@tensorflow/tfjs-core", "nsfwjs"].every((name) => findPackage(name));
let local: LocalEngines;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "switchyard-video-test-"));
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(async () => {
  await local.close();
  await rm(folder, { recursive: true, force: true });
});

function fileOf(bytes: Uint8Array, mediaType?: string): InputFile {
  const type = mediaType ?? detectMediaType(Buffer.from(bytes))?.mediaType ?? "application/octet-stream";
  return { name: "clip", mediaType: type, size: bytes.length, read: async () => bytes };
}

/** A clip that ffmpeg makes from the arguments before its output. */
async function film(arguments_: readonly string[], extension = "mp4"): Promise<Uint8Array> {
  const path = join(folder, `${crypto.randomUUID()}.${extension}`);
  const child = Bun.spawn([ffmpeg ?? "", "-v", "error", ...arguments_, path], { stdout: "ignore", stderr: "pipe" });
  const message = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(message);
  return Bun.file(path).bytes();
}

const colour = (name: string, seconds: number) => `color=c=${name}:s=320x180:r=25:d=${seconds}`;

/** Three still shots: two seconds, one, two. */
function threeShots(codec: readonly string[] = ["-c:v", "mpeg4"], extension?: string): Promise<Uint8Array> {
  const inputs = [colour("red", 2), "testsrc=s=320x180:r=25:d=1", colour("blue", 2)];
  const joined = ["-filter_complex", "[0:v][1:v][2:v]concat=n=3:v=1"];
  return film([...inputs.flatMap((one) => ["-f", "lavfi", "-i", one]), ...joined, ...codec], extension);
}

let usualShots: Promise<Uint8Array> | undefined;

/** Drawn once. */
function sharedShots(): Promise<Uint8Array> {
  usualShots ??= threeShots();
  return usualShots;
}

async function run(task: string, bytes: Uint8Array, mediaType?: string) {
  const { output } = await runLocal(local, task, { file: "x" }, { files: { file: fileOf(bytes, mediaType) } });
  expect(fitsTask(task, output)).toBe(true);
  return output;
}

const shots = "video/shot_change_detection_async";

test("an engine whose programs are missing says what to install", () => {
  const reason = describeMissingTools({ task: shots, tools: ["ffmpeg", "ffprobe"] }, () => null);
  expect(reason).toContain("ffmpeg and ffprobe");
  expect(reason).toContain("apt-get install ffmpeg");
  expect(describeMissingTools({ task: shots, tools: ["ffmpeg"] }, (name) => `/usr/bin/${name}`)).toBeNull();
  expect(findTool("ffmpeg", ["/nowhere"])).toBeNull();
});

describe.skipIf(ffmpeg === null)("videos", () => {
  test("shots are found to the frame, in every container", async () => {
    const clips = [
      await sharedShots(),
      await threeShots(["-c:v", "mpeg4"], "avi"),
      await threeShots(["-c:v", "mpeg4"], "mkv"),
      await threeShots(["-c:v", "mpeg4"], "mov"),
    ];
    for (const clip of clips) {
      const { shotAnnotations } = (await run(shots, clip)) as { shotAnnotations: { startTimeOffset: number }[] };
      const starts = shotAnnotations.map(({ startTimeOffset }) => startTimeOffset);
      expect(starts).toHaveLength(3);
      expect(starts[1]).toBeCloseTo(2, 1);
      expect(starts[2]).toBeCloseTo(3, 1);
    }
  });

  test("cuts between moving pictures are found, and nothing else", async () => {
    const sources = [
      "mandelbrot=s=320x180:r=25",
      "testsrc2=s=320x180:r=25",
      "smptebars=s=320x180:r=25",
      "cellauto=s=320x180:r=25",
    ];
    const inputs = sources.flatMap((one) => ["-f", "lavfi", "-t", "1.6", "-i", one]);
    const parts = sources.map((_, index) => `[${index}:v]format=yuv420p,setsar=1[v${index}]`).join(";");
    const joined = `${parts};${sources.map((_, index) => `[v${index}]`).join("")}concat=n=${sources.length}:v=1`;
    const clip = await film([...inputs, "-filter_complex", joined, "-c:v", "mpeg4", "-q:v", "4"]);
    const { shotAnnotations } = (await run(shots, clip)) as {
      shotAnnotations: { startTimeOffset: number; endTimeOffset: number }[];
    };
    expect(shotAnnotations.map(({ startTimeOffset }) => startTimeOffset)).toEqual([0, 1.6, 3.2, 4.8]);
    expect(shotAnnotations.at(-1)?.endTimeOffset).toBeCloseTo(6.4, 1);
  });

  test("text is read in the frames that show it, with its place", async () => {
    const page = join(folder, "page.bmp");
    await writeFile(page, await drawWords());
    const clip = await film([
      "-loop",
      "1",
      "-framerate",
      "5",
      "-t",
      "2",
      "-i",
      page,
      "-vf",
      "scale=640:80",
      "-c:v",
      "mpeg4",
      "-q:v",
      "2",
    ]);
    const { texts } = (await run("video/text_detection_async", clip)) as {
      texts: { text: string; frames: { timestamp: number; bounding_box: { left: number } }[] }[];
    };
    const seen = texts.map(({ text }) => text).join(" ");
    expect(seen.toUpperCase()).toContain("EXIT");
    expect(texts[0]?.frames.map(({ timestamp }) => timestamp)).toEqual([0, 1]);
  });

  test.skipIf(!hasVision)("people are labelled with the seconds in which they are seen", async () => {
    const portrait = join(folder, "portrait.jpg");
    await writeFile(portrait, await readFigure("body"));
    const clip = await film([
      ...["-f", "lavfi", "-i", "color=c=black:s=720x720:r=5:d=1"],
      ...["-loop", "1", "-framerate", "5", "-t", "2", "-i", portrait],
      ...[
        "-filter_complex",
        "[1:v]scale=720:720,setsar=1,format=yuv420p[p];[0:v]format=yuv420p[w];[w][p]concat=n=2:v=1",
      ],
      ...["-c:v", "mpeg4", "-q:v", "2"],
    ]);
    const { labels } = (await run("video/label_detection_async", clip)) as {
      labels: {
        name: string;
        confidence: number;
        timestamp: { start: number; end: number }[];
        bounding_box: unknown[];
      }[];
    };
    const person = labels.find(({ name }) => name === "person");
    expect(person?.timestamp).toEqual([{ start: 1, end: 3 }]);
    expect(person?.bounding_box).toHaveLength(1);
    const { moderation } = (await run("video/explicit_content_detection_async", clip)) as {
      moderation: { timestamp: number }[];
    };
    expect(moderation.filter(({ timestamp }) => timestamp < 1)).toEqual([]);
  });

  test("a chat model gets frames of the video, with their seconds", async () => {
    const [frames] = local.internalEngines;
    const requests: { messages: { content: unknown }[] }[] = [];
    const providers = configureProviders(
      rows,
      { openai: { base_url: "http://127.0.0.1:1", api_key: "key" } },
      () => null,
    );
    const engines = createLlmEngines({
      providers: providers.values(),
      frames,
      complete: async (request) => {
        requests.push(request as never);
        const content = JSON.stringify({ answer: "Red, then blue." });
        return { completion: { choices: [{ message: { content } }] } as never, charge: { cost: 0, reason: null } };
      },
    });
    const engine = engines.find(
      (one) => one.provider === "openai" && one.task === "video/question_answer_async",
    ) as Engine;
    expect(engine.unavailableReason).toBeNull();
    const { output } = await engine.run({
      model: "gpt-4o-mini",
      input: { file: "x", text: "Which colours?", temperature: 0, max_tokens: null },
      files: { file: fileOf(await sharedShots()) },
      ...plainCall(),
    });
    expect(output).toEqual({ answer: "Red, then blue.", finish_reason: null });
    const parts = requests[0]?.messages[1]?.content as { type: string; text?: string; image_url?: { url: string } }[];
    expect(parts.filter(({ type }) => type === "image_url")).toHaveLength(5);
    expect(parts[0]?.image_url?.url).toStartWith("data:image/jpeg;base64,/9j/");
    expect(parts.at(-1)?.text).toContain("at these seconds: 0, 1, 2, 3, 4");
  });
});

describe.skipIf(ffmpeg === null)("hostile videos", () => {
  // A video that an engine process may read: a playlist that names it would be played, if it were opened.
  const readable = join(import.meta.dir, "../../examples/tasks/video/three-shots.mp4");

  test("a playlist or a script that names files of this machine is never opened as a video", async () => {
    const playlists = [
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${readable}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile '${readable}'\n`,
      `<?xml version="1.0"?><MPD><BaseURL>http://127.0.0.1:9/</BaseURL></MPD>`,
    ];
    for (const playlist of playlists)
      for (const type of ["video/mp4", "video/webm", "video/x-msvideo"]) {
        const { problems } = await refusalOf(run(shots, Buffer.from(playlist), type));
        expect(problems[0].loc).toEqual(["body", "input", "file"]);
        expect(problems[0].msg).not.toContain(tmpdir());
      }
  });

  test("truncated, empty and random files are refused, and the next video is read", async () => {
    const clip = await sharedShots();
    const noise = new Uint8Array(50_000).map((_, index) => (index * 7_919) % 251);
    const broken = [clip.slice(0, 200), Buffer.alloc(1), noise, Buffer.concat([clip.slice(0, 64), noise])];
    for (const bytes of broken) await refusalOf(run(shots, bytes, "video/mp4"));
    expect(await run(shots, clip)).toBeDefined();
  });

  test("a video with impossible dimensions is refused before it is decoded", async () => {
    const clip = Buffer.from(await sharedShots());
    // The size is in the track header and in the description of the samples.
    for (let at = clip.indexOf("mp4v"); at >= 0; at = clip.indexOf("mp4v", at + 1)) {
      clip.writeUInt16BE(65_000, at + 28);
      clip.writeUInt16BE(65_000, at + 30);
    }
    const refused = refusalOf(run(shots, clip, "video/mp4")).catch(() => null);
    // Whether ffmpeg believes the header or the stream, it must end.
    await refused;
    expect(await run(shots, await sharedShots())).toBeDefined();
  });

  test("a few frames that are said to last for an hour are no hour of work, and more than four are refused", async () => {
    const spread = ["-vsync", "passthrough", "-c:v", "mjpeg", "-vf"];
    const clip = await film(["-f", "lavfi", "-i", "color=c=red:s=320x180:r=1:d=3", ...spread, "setpts=N*1800/TB"]);
    expect(clip.length).toBeLessThan(20_000);
    expect(await run(shots, clip)).toEqual({ shotAnnotations: [{ startTimeOffset: 0, endTimeOffset: 3_601 }] });
    const longer = await film(["-f", "lavfi", "-i", "color=c=red:s=320x180:r=1:d=3", ...spread, "setpts=N*7201/TB"]);
    const { problems } = await refusalOf(run(shots, longer));
    expect(problems[0].msg).toContain("14400");
  });

  test("a file of another kind is refused by its type", async () => {
    const { problems } = await refusalOf(run(shots, Buffer.from("%PDF-1.7"), "application/pdf"));
    expect(problems[0].type).toBe("unsupported_media_type");
  });

  test("ffmpeg ends with the engine process that started it", async () => {
    const second = join(folder, "second.mp4");
    await writeFile(second, await film(["-f", "lavfi", "-i", "testsrc=s=1280x720:r=25:d=1", "-c:v", "mpeg4"]));
    // Ten minutes, without encoding them.
    const clip = await film(["-stream_loop", "600", "-i", second, "-c", "copy"]);
    const controller = new AbortController();
    const engine = local.engines.find(({ task }) => task === shots) as Engine;
    const running = engine.run({
      model: null,
      input: { file: "x" },
      files: { file: fileOf(clip) },
      ...plainCall(),
      signal: controller.signal,
    });
    const ended = running.catch((error: unknown) => error);
    const [decoder] = await waitFor("ffmpeg to start", () => {
      const found = listDecoders();
      return found.length > 0 ? found : null;
    });
    // It is confined like the engine process, and limited beyond that.
    const status = readFileSync(`/proc/${decoder}/status`, "utf8");
    if (local.confinement()?.network) expect(status).toMatch(/^Seccomp:\s2$/m);
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
    expect(readFileSync(`/proc/${decoder}/limits`, "utf8")).toMatch(/^Max address space\s+2048000000\s/m);
    expect(readFileSync(`/proc/${decoder}/environ`, "utf8")).not.toContain("PATH=");
    controller.abort(new Error("the caller left"));
    await ended;
    await waitFor("ffmpeg to end", () => listDecoders().length === 0);
  });
});

/** The processes of ffmpeg that read a file of an engine. */
function listDecoders(): string[] {
  if (!existsSync("/proc")) return [];
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      const command = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
      return command[0]?.endsWith("/ffmpeg") === true && command.some((one) => one.includes("switchyard-engines-"));
    } catch {
      return false;
    }
  });
}

/** Words in large letters, black on white, as a bitmap. */
async function drawWords(): Promise<Uint8Array> {
  // Flat, because recognition takes time in proportion to the pixels.
  const page = { width: 640, height: 80, marks: [text(60, 56, "EXIT TO PLATFORM 7", { size: 44, font: "bold" })] };
  return toBitmap(drawPage(await loadPdfReader(), writePdf([page])));
}
