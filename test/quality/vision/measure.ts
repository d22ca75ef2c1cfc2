// How good the engines for pictures are, on the little that may be measured here: faces that came with a package, and drawn things.

import type { InputFile, TaskResult } from "../../../src/engines/engine.ts";
import type { LocalEngines } from "../../../src/engines/local/index.ts";
import { plainCall } from "../../engines/local-call.ts";
import { type QualityLine, share } from "../quality.ts";
import {
  at,
  draw,
  type Gallery,
  galleryColumns,
  galleryLines,
  pixelsOf,
  readFigure,
  readGallery,
  readPortrait,
} from "./pictures.ts";

interface Box {
  readonly x_min: number;
  readonly x_max: number;
  readonly y_min: number;
  readonly y_max: number;
}

const faces = galleryLines * galleryColumns;
const sameMan = Array.from({ length: galleryColumns }, (_, column) => column).filter((column) => column !== 9);
const otherLines = [3, 4, 5];

export async function measureVision(local: LocalEngines): Promise<QualityLine[]> {
  const gallery = await readGallery();
  return [
    ...(await measureFaces(local, gallery)),
    ...(await measureCompare(local, gallery)),
    await measureExplicit(local, gallery),
    ...(await measureCutOut(local)),
    await measureVectors(local, gallery),
  ];
}

export function callVision(
  local: LocalEngines,
  task: string,
  pictures: readonly Uint8Array[],
  model: string | null = null,
) {
  const engine = local.engines.find((one) => one.task === task);
  if (engine === undefined) throw new Error(`no local engine for ${task}`);
  const [first = new Uint8Array(), second = first] = pictures;
  return engine.run({
    ...plainCall(110_000),
    model,
    input: { file: "https://files.example/x", representation: "document" },
    files: { file: fileOf(first), file1: fileOf(first), file2: fileOf(second) },
  });
}

function fileOf(bytes: Uint8Array): InputFile {
  return { name: "picture", mediaType: "image/png", size: bytes.length, read: async () => bytes };
}

function itemsOf<Item>({ output }: TaskResult): readonly Item[] {
  return (output["items"] ?? []) as readonly Item[];
}

async function measureFaces(local: LocalEngines, gallery: Gallery): Promise<QualityLine[]> {
  const hidden = itemsOf<{ bounding_boxes: Box }>(await callVision(local, "image/anonymization", [gallery.bytes]));
  const cells = hidden.map(({ bounding_boxes: box }) =>
    gallery.cellAt((box.x_min + box.x_max) / 2, (box.y_min + box.y_max) / 2),
  );
  let found = 0;
  for (let line = 0; line < galleryLines; line++)
    for (let column = 0; column < galleryColumns; column++) {
      const answer = await callVision(local, "image/face_detection", [await gallery.cell(line, column)]);
      if (itemsOf(answer).length > 0) found++;
    }
  return [
    {
      task: "image/face_detection",
      measure: "faces found, one to a picture",
      result: share(found, faces),
      cases: faces,
    },
    {
      task: "image/anonymization",
      measure: "faces hidden, all in one picture of 1920 × 954, 70 pixels each",
      result: share(new Set(cells.filter((cell) => cell !== null)).size, faces),
      cases: faces,
    },
  ];
}

async function measureCompare(local: LocalEngines, gallery: Gallery): Promise<QualityLine[]> {
  const man = await gallery.cell(0, 0);
  const isTaken = async (line: number, column: number) => {
    const [best] = itemsOf<{ confidence: number }>(
      await callVision(local, "image/face_compare", [man, await gallery.cell(line, column)]),
    );
    return (best?.confidence ?? 0) >= 0.5;
  };
  let known = 0;
  for (const column of sameMan.slice(1)) if (await isTaken(0, column)) known++;
  let mistaken = 0;
  for (const line of otherLines)
    for (let column = 0; column < galleryColumns; column++) if (await isTaken(line, column)) mistaken++;
  const others = otherLines.length * galleryColumns;
  const task = "image/face_compare";
  return [
    {
      task,
      measure: "one man known again, at a confidence of 0.5",
      result: share(known, sameMan.length - 1),
      cases: sameMan.length - 1,
    },
    { task, measure: "others taken for him", result: share(mistaken, others), cases: others },
  ];
}

async function measureExplicit(local: LocalEngines, gallery: Gallery): Promise<QualityLine> {
  let flagged = 0;
  for (let line = 0; line < galleryLines; line++)
    for (let column = 0; column < galleryColumns; column++) {
      const { output } = await callVision(local, "image/explicit_content", [await gallery.cell(line, column)]);
      if (Number(output["nsfw_likelihood_score"]) >= 0.5) flagged++;
    }
  return {
    task: "image/explicit_content",
    measure: "harmless faces with a score of 0.5 or more",
    result: share(flagged, faces),
    cases: faces,
  };
}

/** Drawn: a shape with light and shadow on it, before something uneven. */
const shapes: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => x ** 2 + y ** 2 < 0.3,
  (x, y) => Math.abs(x) < 0.25 && Math.abs(y) < 0.6,
  (x, y) => Math.abs(x) < 0.18 + 0.2 * Math.cos(3 * y) ** 2 && Math.abs(y) < 0.7,
  (x, y) => y > -0.5 && y < 0.5 && Math.abs(x) < (y + 0.5) * 0.6,
];

async function measureCutOut(local: LocalEngines): Promise<QualityLine[]> {
  const side = 480;
  const lines: QualityLine[] = [];
  for (const model of ["u2netp", "modnet"]) {
    const overlaps: number[] = [];
    for (const isInside of shapes) {
      const place = (value: number) => (value / side) * 2 - 1;
      const picture = await draw(side, side, (x, y) => {
        const light = 60 * place(x);
        if (isInside(place(x), place(y))) return [190 + light, 70 + light / 2, 60 + light / 3];
        const wave = 12 * Math.sin(x / 37) * Math.cos(y / 53);
        return [150 + wave + y / 12, 165 + wave + y / 12, 160 + wave];
      });
      const { binaries } = await callVision(local, "image/background_removal", [picture], model);
      const cut = await pixelsOf(binaries?.[0]?.bytes ?? picture);
      let both = 0;
      let either = 0;
      for (let y = 0; y < side; y++)
        for (let x = 0; x < side; x++) {
          const isKept = (at(cut, x, y)[3] ?? 0) > 127;
          const isWanted = isInside(place(x), place(y));
          if (isKept && isWanted) both++;
          if (isKept || isWanted) either++;
        }
      overlaps.push(both / either);
    }
    const mean = overlaps.reduce((sum, overlap) => sum + overlap, 0) / overlaps.length;
    lines.push({
      task: `image/background_removal/local/${model}`,
      measure: "overlap with the shape that was drawn",
      result: share(mean, 1),
      cases: shapes.length,
    });
  }
  return lines;
}

/** Each picture again, smaller, darker and cut at the edges: is its own vector the nearest? */
async function measureVectors(local: LocalEngines, gallery: Gallery): Promise<QualityLine> {
  const pictures: Uint8Array[] = [await readPortrait(), await readFigure("body")];
  for (let column = 0; column < galleryColumns; column++) pictures.push(await gallery.cell(5, column));
  const vectorOf = async (picture: Uint8Array) =>
    itemsOf<{ embedding: readonly number[] }>(await callVision(local, "image/embeddings", [picture]))[0]?.embedding ??
    [];
  const known: (readonly number[])[] = [];
  for (const picture of pictures) known.push(await vectorOf(picture));
  let right = 0;
  for (const [index, picture] of pictures.entries()) {
    const vector = await vectorOf(await change(picture));
    const likeness = known.map((other) => other.reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0));
    if (likeness.indexOf(Math.max(...likeness)) === index) right++;
  }
  return {
    task: "image/embeddings",
    measure: "a changed copy (smaller, darker, cut by a twentieth a side) nearest to its original",
    result: share(right, pictures.length),
    cases: pictures.length,
  };
}

async function change(picture: Uint8Array): Promise<Uint8Array> {
  const pixels = await pixelsOf(picture);
  const [left, top] = [Math.round(pixels.width / 20), Math.round(pixels.height / 20)];
  const cut = await draw(pixels.width - 2 * left, pixels.height - 2 * top, (x, y) => at(pixels, x + left, y + top));
  const width = Math.round(pixels.width * 0.7);
  return new Bun.Image(cut).resize(width).modulate({ brightness: 0.8 }).jpeg({ quality: 60 }).bytes();
}
