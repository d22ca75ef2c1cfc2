// Pages of PDFs as a viewer shows them: rotated pages, pictures beside text, forms, watermarks. All files are made here.

import { describe, expect, test } from "bun:test";
import { type ReadOptions, readDocument } from "../../src/engines/local/documents/document-reader.ts";
import { asSent, type Page, toText } from "../../src/engines/local/documents/page.ts";
import { loadPdfReader } from "../../src/engines/local/documents/pdf.ts";
import { ValidationError } from "../../src/errors.ts";
import { toBitmap, toGreyPicture } from "../quality/ocr/rasters.ts";
import { type Jpeg, type PlainPage, place, write, writePlainPdf } from "../support/plain-pdf.ts";

const limits = { pages: 50, scannedPages: 3, advice: "Split it." };

async function read(pages: readonly PlainPage[], options: Partial<ReadOptions> = {}): Promise<Page[]> {
  const bytes = writePlainPdf(pages);
  const file = { name: "a.pdf", mediaType: "application/pdf", bytes };
  return readDocument(file, { language: null, limits, onProgress() {}, ...options });
}

// Pages that are recognised are as small as their text allows: recognition takes time in proportion to the pixels.
const small = [330, 150] as const;
const beside = [400, 190] as const;

/** A page of prose as a picture. */
async function scan(turn: 0 | 270 = 0): Promise<Jpeg> {
  const image = await draw({
    size: small,
    content: [
      write(20, 126, "The Thursday ferry", { size: 15 }),
      write(20, 104, "drew away from the quay with seven passengers on board."),
      write(20, 88, "Nobody on the quay knew where it was going that day."),
    ].join(""),
  });
  if (turn !== 0) image.rotate(turn);
  const bytes = await image.jpeg({ quality: 85 }).bytes();
  return { bytes, width: image.width, height: image.height };
}

/** A picture of one line of text. */
async function sign(text: string): Promise<Jpeg> {
  const image = await draw({ content: write(10, 30, text, { size: 30 }), size: [300, 90] });
  const bytes = await image.jpeg({ quality: 90 }).bytes();
  return { bytes, width: image.width, height: image.height };
}

async function draw(page: PlainPage): Promise<Bun.Image> {
  using pdf = (await loadPdfReader()).open(writePlainPdf([page]));
  return new Bun.Image(toBitmap(toGreyPicture(pdf.draw(0))));
}

const prose = Array.from({ length: 5 }, (_, row) =>
  write(20, 170 - row * 14, `Line ${row} of the report, which has enough text of its own to be read.`),
).join("");

describe("a page with a picture", () => {
  test("that fills it is recognised although a footer has digital text, which is not repeated", async () => {
    const footer = "Northwind Joinery Ltd, registered in England 04417, page 1 of 1";
    const content = place(0, 0, 0, ...small) + write(20, 12, footer, { size: 8 });
    const [page] = await read([{ content, size: small, pictures: [await scan()] }]);
    expect(page?.source).toBe("scan");
    const text = toText(page as Page);
    expect(text).toContain("The Thursday ferry");
    expect(text).toContain("drew away from the quay with seven passengers on board.");
    expect(text.split(footer).length).toBe(2);
    expect(text.indexOf(footer)).toBeGreaterThan(text.indexOf("drew away"));
    expect(page?.lines.find((line) => line.text === footer)?.confidence).toBeNull();
  });

  test("and an invisible layer of text is read by that layer", async () => {
    const layer = Array.from({ length: 14 }, (_, row) =>
      write(18, 132 - row * 9, `Hidden line ${row} stands for what another program recognised in this picture`, {
        size: 9,
        mode: 3,
      }),
    ).join("");
    const content = place(0, 0, 0, ...small) + layer;
    const [page] = await read([{ content, size: small, pictures: [await scan()] }]);
    expect(page?.source).toBe("text");
    expect(toText(page as Page)).not.toContain("ferry");
  });

  test("beside much text: the text in the picture is added in its place", async () => {
    const content = prose + place(0, 20, 36, 200, 60) + write(20, 14, "The last line below the picture.");
    const [page] = await read([{ content, size: beside, pictures: [await sign("Harbour closed")] }]);
    const text = toText(page as Page);
    expect(page?.source).toBe("text");
    expect(text).toContain(
      "Line 4 of the report, which has enough text of its own to be read.\nHarbour closed\nThe last line",
    );
  });

  test("beside much text is left out beyond the limit, and the page says so", async () => {
    const content = prose + place(0, 20, 36, 200, 60);
    const pictures = [await sign("Harbour closed")];
    const [page] = await read([{ content, size: beside, pictures }], { limits: { ...limits, scannedPages: 0 } });
    expect(page?.hasUnreadPictures).toBe(true);
    expect(toText(page as Page)).not.toContain("Harbour");
  });

  test("in a language that is not installed is left out beside much text, and refused where it fills the page", async () => {
    const options = { language: "he" };
    const besideText = { content: prose + place(0, 20, 36, 200, 60), size: beside, pictures: [await sign("Harbour")] };
    const [page] = await read([besideText], options);
    expect(page?.hasUnreadPictures).toBe(true);
    expect(toText(page as Page)).toContain("Line 4 of the report");
    const filling = read([{ content: place(0, 0, 0, ...small), size: small, pictures: [await scan()] }], options);
    await expect(filling).rejects.toBeInstanceOf(ValidationError);
  });

  test("that is a logo does not make a page of text a scan", async () => {
    const content = prose + place(0, 340, 20, 50, 15);
    const [page] = await read([{ content, size: beside, pictures: [await sign("Northwind")] }]);
    expect(page).not.toHaveProperty("hasUnreadPictures");
    expect(toText(page as Page)).not.toContain("Northwind");
  });

  test("counts as a scan in the limit, footer or not", async () => {
    const content = place(0, 0, 0, ...small) + write(20, 12, "A footer that has more than twenty characters");
    const pictures = [await scan()];
    const reading = read(Array.from({ length: 4 }, () => ({ content, size: small, pictures })));
    await expect(reading).rejects.toThrow("4 pages are pictures; at most 3 can be recognised here. Split it.");
    await expect(reading).rejects.toBeInstanceOf(ValidationError);
  });
});

describe("a rotated page", () => {
  /** Where the text is written, and its direction, so that a viewer shows it upright at the top left. */
  const upright = {
    0: { x: 60, y: 780, turn: 0 },
    90: { x: 62, y: 60, turn: 90 },
    180: { x: 535, y: 62, turn: 180 },
    270: { x: 533, y: 782, turn: 270 },
  } as const;

  test.each([0, 90, 180, 270] as const)("by %d degrees has its text where a viewer shows it", async (rotate) => {
    const { x, y, turn } = upright[rotate];
    const [dx, dy] = [Math.sin((turn * Math.PI) / 180) * 20, -Math.cos((turn * Math.PI) / 180) * 20];
    const content =
      write(x, y, "First line of the page", { turn }) + write(x + dx, y + dy, "Second line of it", { turn });
    const [page] = await read([{ content, rotate }]);
    expect(toText(page as Page)).toBe("First line of the page\nSecond line of it");
    expect(page?.turned).toBeNull();
    expect((page?.width ?? 0) > (page?.height ?? 0)).toBe(rotate === 90 || rotate === 270);
    const [first, second] = page?.lines ?? [];
    expect(first?.box.left).toBeCloseTo(60 / (page?.width ?? 1), 1);
    expect(first?.box.top).toBeLessThan(0.12);
    expect(first?.box.width).toBeGreaterThan(first?.box.height ?? 1);
    expect(second?.box.top).toBeGreaterThan(first?.box.top ?? 1);
  });

  test.each([
    90, 180, 270,
  ] as const)("whose text lies on its side after %d degrees is read, with boxes as shown", async (rotate) => {
    const content = write(60, 780, "First line of the page") + write(60, 760, "Second line of it");
    const [page] = await read([{ content, rotate }]);
    expect(toText(page as Page)).toBe("First line of the page\nSecond line of it");
    const [first, second] = asSent(page as Page).lines;
    const isUpright = rotate === 180;
    expect((first?.box.width ?? 0) > (first?.box.height ?? 0)).toBe(isUpright);
    if (rotate === 90) expect(first?.box.left).toBeGreaterThan(second?.box.left ?? 1);
    if (rotate === 180) expect(first?.box.top).toBeGreaterThan(second?.box.top ?? 1);
    if (rotate === 270) expect(first?.box.left).toBeLessThan(second?.box.left ?? 0);
  });

  test("that is a scan with a digital footer has both, at the places where a viewer shows them", async () => {
    const footer = "Northwind Joinery Ltd, registered in England 04417";
    // Shown rotated by 90 degrees, the page is 330 wide and 150 high.
    const size = [small[1], small[0]] as const;
    const content = place(0, 0, 0, ...size) + write(147, 20, footer, { size: 8, turn: 90 });
    const [page] = await read([{ content, size, rotate: 90, pictures: [await scan(270)] }]);
    const text = toText(page as Page);
    expect(text).toContain("The Thursday ferry");
    expect(text).toContain(footer);
    const shown = asSent(page as Page).lines.find((line) => line.text === footer);
    expect(shown?.box.top).toBeGreaterThan(0.9);
  });
});

describe("other things on a page", () => {
  test("the values of a form are read", async () => {
    const annotation = { rectangle: [200, 700, 400, 720], appearance: write(2, 5, "Camille Moreau") };
    const [page] = await read([
      { content: `${prose}${write(60, 705, "Name of the holder:")}`, annotations: [annotation] },
    ]);
    expect(toText(page as Page)).toContain("Camille Moreau");
  });

  test("a watermark across the page neither hides the text of a scan nor mixes with it", async () => {
    const content = place(0, 0, 0, ...small) + write(110, 8, "CONFIDENTIAL COPY", { size: 17, turn: 45 });
    const [page] = await read([{ content, size: small, pictures: [await scan()] }]);
    const lines = page?.lines.map((line) => line.text) ?? [];
    expect(lines.at(-1)).toContain("CONFIDENTIAL");
    expect(lines.join("\n")).toContain("The Thursday ferry");
  });

  test("a blank page with a page number is not recognised", async () => {
    const [page] = await read([{ content: write(290, 30, "7") }], { limits: { ...limits, scannedPages: 0 } });
    expect(toText(page as Page)).toBe("7");
  });

  test.each([
    ["huge", { content: prose, size: [1_000_000, 1_000_000] }],
    ["flat", { content: prose, size: [14_000_000, 0.5] }],
  ] as const)("a page that is %s is answered", async (_name, page) => {
    expect(await read([page])).toHaveLength(1);
  });

  test("hundreds of pictures on a page are answered", async () => {
    const picture = await sign("x");
    const content = prose + place(0, 0, 0, ...beside).repeat(300);
    const tiny = {
      ...picture,
      bytes: await new Bun.Image(picture.bytes).resize(8, 8).jpeg().bytes(),
      width: 8,
      height: 8,
    };
    expect(await read([{ content, size: beside, pictures: [tiny] }])).toHaveLength(1);
  });
});
