// The places of what was found, in one form: shares of the width and height of a page.

import type { TaskOutputs } from "../../../../contract/task-types.ts";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Found {
  readonly id: string;
  readonly label: string;
  /** Beside the label, such as the value of a field. */
  readonly detail?: string | undefined;
  readonly confidence: number | null;
  /** Counted from 0. */
  readonly page: number;
  /** Null: the provider did not state the place. */
  readonly box: Box | null;
  /** What is found several times has one colour. */
  readonly group: string;
}

type Side = number | null | undefined;
interface LooseBox {
  readonly left?: Side;
  readonly top?: Side;
  readonly width?: Side;
  readonly height?: Side;
}
interface LooseEdges {
  readonly x_min?: Side;
  readonly x_max?: Side;
  readonly y_min?: Side;
  readonly y_max?: Side;
}

function toBox({ left, top, width, height }: LooseBox): Box | null {
  if (left == null || top == null || width == null || height == null || width <= 0 || height <= 0) return null;
  return { left, top, width, height };
}

function fromEdges({ x_min, x_max, y_min, y_max }: LooseEdges): Box | null {
  if (x_min == null || x_max == null || y_min == null || y_max == null) return null;
  return toBox({ left: x_min, top: y_min, width: x_max - x_min, height: y_max - y_min });
}

function fromCorners(corners: readonly { readonly x: number | null; readonly y: number | null }[]): Box | null {
  const xs = corners.flatMap(({ x }) => (x === null ? [] : [x]));
  const ys = corners.flatMap(({ y }) => (y === null ? [] : [y]));
  if (xs.length === 0 || ys.length === 0) return null;
  return fromEdges({ x_min: Math.min(...xs), x_max: Math.max(...xs), y_min: Math.min(...ys), y_max: Math.max(...ys) });
}

type Sources = {
  readonly [Name in keyof TaskOutputs]?: (output: TaskOutputs[Name]) => readonly Omit<Found, "id">[];
};

type Details = Partial<Pick<Found, "page" | "detail" | "group">>;

/** On the first page and of a group of its own, unless the details say otherwise. */
function found(label: string, confidence: number | null, box: Box | null, details: Details = {}): Omit<Found, "id"> {
  return { page: 0, label, confidence, box, group: label, ...details };
}

/** By task: what was found, in the order of the answer. */
export const foundIn = {
  "ocr/ocr": ({ bounding_boxes = [] }) =>
    bounding_boxes.map((one) => found(one.text ?? "", null, toBox(one), { group: "line" })),
  "ocr/ocr_async": ({ pages = [] }) =>
    pages.flatMap(({ lines = [] }, page) =>
      lines.map(({ text, bounding_box, confidence }) =>
        found(text, confidence, bounding_box == null ? null : toBox(bounding_box), { page, group: "line" }),
      ),
    ),
  "ocr/data_extraction": ({ fields = [] }) =>
    fields.map(({ key, value, bounding_box, confidence_score }) => {
      const detail = typeof value === "string" ? value : JSON.stringify(value);
      return found(key, confidence_score, toBox(bounding_box), { detail });
    }),
  "ocr/custom_document_parsing_async": ({ items = [] }) =>
    items.map(({ query, value, confidence, page, bounding_box }) =>
      found(query, confidence, toBox(bounding_box), { page: Math.max(0, page - 1), detail: value }),
    ),
  "image/object_detection": ({ items = [] }) => items.map((one) => found(one.label, one.confidence, fromEdges(one))),
  "image/face_detection": ({ items = [] }) =>
    items.map(({ confidence, bounding_box, age, gender }, index) => {
      const facts = [gender, age === null ? null : `about ${Math.round(age)} years`].filter((one) => one !== null);
      const details = { detail: facts.join(", ") || undefined, group: "face" };
      return found(`Face ${index + 1}`, confidence, fromEdges(bounding_box), details);
    }),
  "image/anonymization": ({ items = [] }) =>
    items.map(({ kind, confidence, bounding_boxes }) => found(kind, confidence, fromEdges(bounding_boxes))),
  "image/face_compare": ({ items = [] }) =>
    items.map(({ confidence, bounding_box }, index) => {
      const details = { detail: "similarity to the first picture", group: "face" };
      return found(`Face ${index + 1}`, confidence, toBox(bounding_box), details);
    }),
  "image/logo_detection": ({ items = [] }) =>
    items.map(({ description, score, bounding_poly }) =>
      found(description ?? "Logo", score, fromCorners(bounding_poly?.vertices ?? [])),
    ),
  "image/landmark_detection": ({ items = [] }) =>
    items.map(({ description, confidence, bounding_box = [], locations = [] }) => {
      const [place] = locations.map(({ lat_lng: { latitude: lat, longitude: lng } }) => [lat, lng]);
      const detail = place?.map((degrees) => degrees.toFixed(4)).join(", ");
      return found(description, confidence, fromCorners(bounding_box), { detail });
    }),
} satisfies Sources;

/** No page is wider than its own width, so larger numbers are pixels. */
const largestShare = 1.5;

/** Providers state places as shares of the page or in pixels. In pixels they are divided by the size of the picture. */
export function toShares(
  found: readonly Found[],
  size: { readonly width: number; readonly height: number } | null,
): Found[] {
  const isPixels = found.some(
    ({ box }) => box !== null && Math.max(box.left + box.width, box.top + box.height) > largestShare,
  );
  if (!isPixels) return [...found];
  return found.map((one) => {
    if (one.box === null || size === null) return { ...one, box: null };
    const { left, top, width, height } = one.box;
    const box = {
      left: left / size.width,
      top: top / size.height,
      width: width / size.width,
      height: height / size.height,
    };
    return { ...one, box };
  });
}
