// Writes the sample files of examples/tasks: documents from the labelled ones of test/quality/ocr, a recording that the local voice
// speaks, a picture that is computed. They are committed; run this after those were changed.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { textToSpeech } from "../src/engines/local/audio/text-to-speech.ts";
import { loadPdfReader } from "../src/engines/local/documents/pdf.ts";
import { packageFolder } from "../src/engines/local/resolve-package.ts";
import { drawPage, makeFile } from "../test/quality/ocr/measure.ts";
import { toBitmap } from "../test/quality/ocr/rasters.ts";
import { financialSamples, identitySamples, resumeSamples, storyPage } from "../test/quality/ocr/samples.ts";
import { text, writePdf } from "../test/quality/ocr/write-pdf.ts";
import { writeDocx } from "../test/quality/ocr/write-zip.ts";

const folder = join(import.meta.dir, "..", "examples", "tasks");
const pdfs = await loadPdfReader();
const [invoice, , , , receipt] = financialSamples;
const [passport] = identitySamples;
const [resume] = resumeSamples;
if (!invoice || !receipt || !passport || !resume) throw new Error("A labelled document is missing.");

await write("ocr/invoice.pdf", writePdf([invoice.page]));
await write("ocr/invoice.png", await toPng(writePdf([invoice.page])));
await write("ocr/receipt.jpg", (await makeFile(pdfs, receipt.page, "photo")).bytes);
await write("ocr/passport.png", await toPng(writePdf([passport.page])));
await write("ocr/resume.pdf", writePdf([resume.page]));
await write("ocr/page.png", await toPng(writePdf([storyPage])));
await write(
  "ocr/letter.docx",
  writeDocx(["Dear Ms Moreau,", "the parcel left our house on 3 May 2026.", "Northwind Joinery Ltd"]),
);
await write("ocr/ticket-with-qr-code.png", await drawTicket());
await write(
  "audio/announcement.mp3",
  await speak("The train to Edinburgh leaves from platform four at half past nine."),
);
await write("image/still-life.jpg", await drawStillLife());

async function write(name: string, bytes: Uint8Array): Promise<void> {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  await Bun.write(join(folder, name), bytes);
  console.log(`${name}  ${Math.ceil(bytes.length / 1024)} KB`);
}

/** Sixteen shades are enough for print, and a third of the size. */
async function toPng(pdf: Uint8Array): Promise<Uint8Array> {
  return new Bun.Image(toBitmap(drawPage(pdfs, pdf))).png({ palette: true, colors: 16, compressionLevel: 9 }).bytes();
}

async function drawTicket(): Promise<Uint8Array> {
  const { prepareZXingModule, writeBarcode } = await import("zxing-wasm/writer");
  const wasm = join(packageFolder("zxing-wasm"), "dist", "writer", "zxing_writer.wasm");
  prepareZXingModule({ overrides: { wasmBinary: await Bun.file(wasm).arrayBuffer() } });
  const { symbol } = await writeBarcode("https://tickets.example/t/8F3K-22", { format: "QRCode" });
  const marks = [
    text(20, 30, "Riverside Cinema", { font: "bold", size: 14 }),
    text(20, 50, "Receipt no: T-5521"),
    text(20, 64, "9 May 2026 19:30"),
    text(20, 84, "Adult ticket"),
    text(180, 84, "12.50", { align: "end" }),
    text(20, 102, "TOTAL", { font: "bold" }),
    text(180, 102, "£12.50", { align: "end", font: "bold" }),
  ];
  const page = drawPage(pdfs, writePdf([{ width: 200, height: 260, marks }]));
  const module = Math.floor(280 / symbol.width);
  for (let y = 0; y < symbol.height * module; y++) {
    for (let x = 0; x < symbol.width * module; x++) {
      const shade = symbol.data[Math.floor(y / module) * symbol.width + Math.floor(x / module)] ?? 255;
      page.pixels[(y + 340) * page.width + x + 130] = shade;
    }
  }
  return new Bun.Image(toBitmap(page)).png({ palette: true, colors: 16, compressionLevel: 9 }).bytes();
}

async function speak(said: string): Promise<Uint8Array> {
  const run = await textToSpeech.load();
  const { binaries } = await run({
    model: null,
    input: { text: said, voice: "slt", audio_format: "mp3" },
    files: {},
    onProgress() {},
  });
  const [audio] = binaries ?? [];
  if (audio === undefined) throw new Error("The local voice said nothing.");
  return audio.bytes;
}

/** Three oranges on a table: shaded balls, so that there is something to find and to cut out. */
async function drawStillLife(): Promise<Uint8Array> {
  const [width, height] = [480, 360];
  const balls = [
    { x: 170, y: 215, radius: 62 },
    { x: 290, y: 220, radius: 58 },
    { x: 232, y: 135, radius: 55 },
  ];
  const head = Buffer.alloc(54);
  head.write("BM", 0, "latin1");
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  // From the top down.
  head.writeInt32LE(-height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = colourAt(x, y);
      pixels.set([blue, green, red], (y * width + x) * 3);
    }
  }
  return new Bun.Image(Buffer.concat([head, pixels])).jpeg({ quality: 85 }).bytes();

  function colourAt(x: number, y: number): readonly [number, number, number] {
    const ball = balls.findLast((one) => Math.hypot(x - one.x, y - one.y) <= one.radius);
    if (ball !== undefined) return peelAt((x - ball.x) / ball.radius, (y - ball.y) / ball.radius);
    // A wall, and a table with the grain of wood.
    if (y < 200) return [205 - y / 8, 212 - y / 8, 214 - y / 8];
    const grain = 8 * Math.sin(x / 90 + Math.sin(y / 7) * 2);
    return [132 + grain, 88 + grain, 54 + grain];
  }

  /** Light from above on the left, and pores. */
  function peelAt(x: number, y: number): readonly [number, number, number] {
    const z = Math.sqrt(Math.max(0, 1 - x * x - y * y));
    const light = Math.max(0, -0.45 * x - 0.65 * y + 0.6 * z);
    const pores = 6 * Math.sin(x * 70) * Math.sin(y * 70);
    const shine = 255 * light ** 24 * 0.5;
    return [
      Math.min(255, 70 + 185 * light + pores + shine),
      Math.min(255, 30 + 110 * light + pores + shine),
      Math.min(255, 5 + 15 * light + shine),
    ];
  }
}
