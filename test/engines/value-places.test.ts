// The parsers of identity documents and CVs report where each value is printed. All persons are invented.

import { expect, test } from "bun:test";
import { identityParser, resumeParser } from "../../src/engines/local/documents/parsers.ts";
import type { LocalEngine } from "../../src/engines/local/local-engine.ts";
import { type PdfPage, text, writePdf } from "../quality/ocr/write-pdf.ts";
import { italianZone } from "../support/identity-zones.ts";

interface Place {
  readonly page: number;
  readonly text: string;
  readonly box: Readonly<Record<"left" | "top" | "width" | "height", number>>;
}

async function placesIn(engine: LocalEngine, pages: readonly PdfPage[]): Promise<Readonly<Record<string, Place>>> {
  const run = await engine.load();
  const file = { name: "a.pdf", mediaType: "application/pdf", bytes: writePdf(pages) };
  const { original } = await run({ model: null, input: {}, files: { file }, onProgress: () => {} });
  return (original as { documents: { fields: Record<string, Place> }[] }).documents[0]?.fields ?? {};
}

test("a labelled value and a value of the zone, on the page where they are printed", async () => {
  const size = { width: 400, height: 200 };
  const front: PdfPage = {
    ...size,
    marks: [
      text(20, 40, "IDENTITY CARD"),
      text(20, 80, "SURNAME"),
      text(200, 80, "BRANDT"),
      text(20, 120, "PLACE OF BIRTH"),
      text(200, 120, "LECCO"),
      text(20, 160, "DATE OF ISSUE"),
      text(200, 160, "12 FEB 2021"),
    ],
  };
  const back: PdfPage = {
    ...size,
    marks: italianZone.map((line, index) => text(12, 60 + index * 50, line, { font: "mono" })),
  };
  const places = await placesIn(identityParser, [front, back]);
  expect(places).toMatchObject({
    last_name: { page: 1, text: "BRANDT" },
    birth_place: { page: 1, text: "LECCO" },
    issuance_date: { page: 1, text: "12 FEB 2021" },
    birth_date: { page: 2, text: italianZone[1] },
    document_id: { page: 2, text: italianZone[0] },
  });
  expect(places["birth_place"]?.box.left).toBeCloseTo(200 / 400, 1);
  expect(places["birth_place"]?.box.top).toBeCloseTo(112 / 200, 1);
  expect(places["birth_date"]?.box.top).toBeCloseTo(102 / 200, 1);
});

test("the values of a CV", async () => {
  const marks = [
    text(50, 60, "Ada Brook", { size: 20 }),
    text(50, 90, "ada@brook.example"),
    text(50, 130, "EXPERIENCE"),
    text(50, 150, "Engineer, Lumen GmbH"),
    text(400, 150, "2019 – 2021"),
  ];
  const places = await placesIn(resumeParser, [{ marks }]);
  expect(places).toMatchObject({
    "personal_infos.name.raw_name": { page: 1, text: "Ada Brook" },
    "personal_infos.mails.0": { text: "ada@brook.example" },
    "work_experience.entries.0.company": { text: "Lumen GmbH" },
  });
  expect(places["work_experience.entries.0.company"]?.box.left).toBeGreaterThan(50 / 595);
});
