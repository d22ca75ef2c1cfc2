// OCR: whether streams stay smooth while the local engines work: the pauses between chunks with ten texts being recognised, beside
// those of an idle gateway, in turns.

import { join } from "node:path";
import { startChecked } from "../contestants.ts";
import { checkRatio, defineFigure, format, readMedians } from "../figure.ts";
import { readGaps } from "../load/gap-load.ts";
import { median } from "../statistics.ts";

const streams = 8;
const atOnce = 10;
const rounds = 3;
const roundMs = 5_000;
const settleMs = 300;

export const ocrLoad = defineFigure("OCR", "p99 of pauses in a stream, 10 OCRs", async (course) => {
  const { gateway, call } = await startChecked(course, "stream");
  const page = await upload(call.url, call.headers["authorization"] ?? "", course.projectFolder);
  const readP99Ms = async (durationMs: number) =>
    (await readGaps(course.children, { call, streams, durationMs })).p99Ms;
  // The first page loads the models, and the compilers come to rest.
  await recognise(page);
  await readP99Ms(2_000);

  const idle: number[] = [];
  const busy: number[] = [];
  let pages = 0;
  for (let round = 0; round < rounds; round++) {
    idle.push(await readP99Ms(roundMs));
    const work = startPages(page);
    await Bun.sleep(settleMs);
    busy.push(await readP99Ms(roundMs));
    pages += await work.stop();
    if (pages === 0) throw new Error("no page was recognised in the time");
  }
  await gateway.stop();
  const ratios = busy.map((value, round) => value / (idle[round] ?? Number.NaN));
  return {
    values: readMedians({ Switchyard: busy }),
    unit: "ms",
    checks: [checkRatio(median(ratios), 1, "itself, idle", 2)],
    notes: [
      `idle ${idle.map(format).join(", ")} ms; with ${atOnce} OCRs ${busy.map(format).join(", ")} ms; ratios ${ratios.map(format).join(", ")}`,
      `${pages} pages were recognised meanwhile; the vendor sends a chunk every 8 ms`,
    ],
    rounds: { idle, busy, ratios },
  };
});

type Page = { url: string; authorization: string; fileId: string };

async function upload(chatUrl: string, authorization: string, projectFolder: string): Promise<Page> {
  const url = new URL(chatUrl).origin;
  const form = new FormData();
  form.set("file", Bun.file(join(projectFolder, "examples/tasks/ocr/page.png")), "page.png");
  const response = await fetch(`${url}/v3/upload`, { method: "POST", headers: { authorization }, body: form });
  const { file_id: fileId } = (await response.json()) as { file_id?: string };
  if (fileId === undefined) throw new Error(`the page could not be uploaded: ${response.status}`);
  return { url, authorization, fileId };
}

async function recognise(page: Page, signal?: AbortSignal): Promise<void> {
  const response = await fetch(`${page.url}/v3/universal-ai`, {
    method: "POST",
    headers: { authorization: page.authorization, "content-type": "application/json" },
    body: JSON.stringify({ model: "ocr/ocr/local", input: { file: page.fileId } }),
    signal: signal ?? AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`a page failed: ${response.status} ${text.slice(0, 200)}`);
}

/** So many at once, each followed by another, until it is stopped. */
function startPages(page: Page): { stop: () => Promise<number> } {
  const ending = new AbortController();
  let done = 0;
  const failures: unknown[] = [];
  const work = async () => {
    while (!ending.signal.aborted) {
      try {
        await recognise(page, ending.signal);
        done += 1;
      } catch (error) {
        if (ending.signal.aborted) return;
        failures.push(error);
        return;
      }
    }
  };
  const running = Promise.all(Array.from({ length: atOnce }, work));
  return {
    async stop() {
      ending.abort();
      await running;
      if (failures.length > 0) throw failures[0];
      return done;
    },
  };
}
