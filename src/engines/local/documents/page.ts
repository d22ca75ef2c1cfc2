// The result of reading a document: pages, lines and words, with boxes relative to the page.

export interface Page {
  /** In points or pixels. Only the ratio of width and height matters. */
  readonly width: number;
  readonly height: number;
  /**
   * `text`: mainly embedded text of a PDF. `scan`: mainly recognised in a picture. Both may contain the other kind. `flow`: from a file
   * without pages; its boxes are invented.
   */
  readonly source: "text" | "scan" | "flow";
  /** How the page was rotated for reading; null: it was not. The boxes refer to the rotated page. */
  readonly turned: Turned | null;
  /** The page has pictures that were not recognised, because the limit was reached or the language is not installed. */
  readonly hasUnreadPictures?: true;
  /** In reading order. */
  readonly lines: readonly Line[];
}

export interface Turned {
  /** Clockwise, in quarters. This rotation comes first. */
  readonly degrees: 0 | 90 | 180 | 270;
  /** Then about the centre, to make the lines horizontal. */
  readonly radians: number;
}

export interface Line {
  readonly text: string;
  readonly words: readonly Word[];
  readonly box: Box;
  /** 0 to 1; null: the text is embedded and not recognised. */
  readonly confidence: number | null;
}

export interface Word {
  readonly text: string;
  readonly box: Box;
  readonly confidence: number | null;
}

/** The left and right edges of something on a page, in the units that its user names. */
export interface Extent {
  readonly left: number;
  readonly right: number;
}

/** Relative to the page, 0 to 1, from its top left corner. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export function toLine(words: readonly Word[]): Line {
  const confidence = meanConfidence(words);
  return {
    text: words.map((word) => word.text).join(" "),
    words,
    box: surround(words.map((word) => word.box)),
    confidence: confidence === null ? null : round(confidence),
  };
}

/** The mean of the known confidences; null if none is known. */
export function meanConfidence(parts: readonly (Word | Line)[]): number | null {
  const known = parts.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
  return known.length === 0 ? null : known.reduce((sum, confidence) => sum + confidence, 0) / known.length;
}

/** The smallest box around all boxes. */
export function surround(boxes: readonly Box[]): Box {
  let [left, top, right, bottom] = [1, 1, 0, 0];
  // A loop, because a line may have more words than Math.min accepts arguments.
  for (const box of boxes) {
    left = Math.min(left, box.left);
    top = Math.min(top, box.top);
    right = Math.max(right, box.left + box.width);
    bottom = Math.max(bottom, box.top + box.height);
  }
  return toBox(left, top, right, bottom);
}

/** Limited to the page, and rounded to six digits, which are finer than any pixel. */
export function toBox(left: number, top: number, right: number, bottom: number): Box {
  const [x, y] = [clamp(left), clamp(top)];
  return { left: round(x), top: round(y), width: round(clamp(right) - x), height: round(clamp(bottom) - y) };
}

/** The page with boxes that refer to the picture as it was sent. */
export function asSent(page: Page): Page {
  const { turned } = page;
  if (turned === null) return page;
  const toOriginal = (word: Word) => {
    const { left, top, width, height } = slant(word.box, page, -turned.radians);
    return { ...word, box: turnBack[turned.degrees](left, top, left + width, top + height) };
  };
  const lines = page.lines.map((line) => toLine(line.words.map(toOriginal)));
  return { ...page, ...turnSize(page, turned), turned: null, lines };
}

/** The opposite of `asSent`: a page that was not rotated, as it appears after the rotation. */
export function turnPage(page: Page, turned: Turned | null): Page {
  if (turned === null) return page;
  const size = turnSize(page, turned);
  const toTurned = (word: Word) => {
    const { left, top, width, height } = word.box;
    const box = turnForward[turned.degrees](left, top, left + width, top + height);
    return { ...word, box: slant(box, size, turned.radians) };
  };
  return { ...page, ...size, turned, lines: page.lines.map((line) => toLine(line.words.map(toTurned))) };
}

// A box of three characters, such as "7,5", is about as high as wide, because networks draw it around the line and not around the ink.
const elongated = 1.5;

/** The page turned so that its lines are horizontal, if its words stand on end. Some recognisers read such lines without turning the page. */
export function turnUpright(page: Page): Page {
  const words = page.lines.flatMap((line) => line.words.filter((word) => word.text.length >= 3));
  const ratios = words.map(({ box }) => (box.height * page.height) / Math.max(box.width * page.width, 1e-9));
  const standing = ratios.filter((ratio) => ratio >= elongated).length;
  const lying = ratios.filter((ratio) => ratio <= 1 / elongated).length;
  const high = ratios.filter((ratio) => ratio > 1).length;
  if (standing <= lying || high <= words.length / 2) return page;
  // The direction of the lines: down the page or up.
  const falling = page.lines.reduce((sum, { words: [first, ...others] }) => {
    const last = others.at(-1);
    return first === undefined || last === undefined ? sum : sum + Math.sign(last.box.top - first.box.top);
  }, 0);
  const before = page.turned ?? { degrees: 0, radians: 0 };
  const degrees = toDegrees(before.degrees + (falling >= 0 ? 270 : 90));
  return turnPage(asSent(page), { degrees, radians: before.radians });
}

function toDegrees(sum: number): Turned["degrees"] {
  return ([0, 90, 180, 270] as const)[(sum / 90) % 4] ?? 0;
}

function turnSize({ width, height }: Page, { degrees }: Turned): Pick<Page, "width" | "height"> {
  return degrees === 90 || degrees === 270 ? { width: height, height: width } : { width, height };
}

/** Moves the centre of the box; the box itself stays upright. */
function slant({ left, top, width, height }: Box, page: Pick<Page, "width" | "height">, radians: number): Box {
  const [x, y] = [(left + width / 2 - 0.5) * page.width, (top + height / 2 - 0.5) * page.height];
  const [cosine, sine] = [Math.cos(radians), Math.sin(radians)];
  const middleX = (x * cosine - y * sine) / page.width + 0.5;
  const middleY = (x * sine + y * cosine) / page.height + 0.5;
  return toBox(middleX - width / 2, middleY - height / 2, middleX + width / 2, middleY + height / 2);
}

type TurnEdges = typeof toBox;

const turnRight: TurnEdges = (left, top, right, bottom) => toBox(1 - bottom, left, 1 - top, right);
const turnLeft: TurnEdges = (left, top, right, bottom) => toBox(top, 1 - right, bottom, 1 - left);
const turnOver: TurnEdges = (left, top, right, bottom) => toBox(1 - right, 1 - bottom, 1 - left, 1 - top);

/** Converts the edges of a box on the page to a box on the page that was rotated clockwise by these degrees. */
const turnForward: Readonly<Record<Turned["degrees"], TurnEdges>> = {
  0: toBox,
  90: turnRight,
  180: turnOver,
  270: turnLeft,
};
const turnBack: typeof turnForward = { 0: toBox, 90: turnLeft, 180: turnOver, 270: turnRight };

export function toText(page: Page): string {
  return page.lines.map((line) => line.text).join("\n");
}

function round(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
