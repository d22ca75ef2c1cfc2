// Answers of vendors that somebody else recorded, each with a normal form. What we make of an answer fits the task's schema and says all
// that the normal form says; where we mean to differ, the reason is named. The recordings lie in a folder beside the checkout, or in the
// one that SWITCHYARD_TASK_RECORDINGS names; they are not a part of this project.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { affinda } from "../../src/providers/affinda/index.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import { api4ai } from "../../src/providers/api4ai/index.ts";
import { base64 } from "../../src/providers/base64/index.ts";
import { deepgram } from "../../src/providers/deepgram/index.ts";
import { deepl } from "../../src/providers/deepl/index.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { eagledoc } from "../../src/providers/eagledoc/index.ts";
import { gladia } from "../../src/providers/gladia/index.ts";
import { klippa } from "../../src/providers/klippa/index.ts";
import { mindee } from "../../src/providers/mindee/index.ts";
import { minimax } from "../../src/providers/minimax/index.ts";
import { mistral } from "../../src/providers/mistral/index.ts";
import { modernmt } from "../../src/providers/modernmt/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { originalityai } from "../../src/providers/originalityai/index.ts";
import { privateai } from "../../src/providers/privateai/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { sapling } from "../../src/providers/sapling/index.ts";
import { sentisight } from "../../src/providers/sentisight/index.ts";
import { tabscanner } from "../../src/providers/tabscanner/index.ts";
import { veryfi } from "../../src/providers/veryfi/index.ts";
import { winstonai } from "../../src/providers/winstonai/index.ts";
import { type Job, runJob } from "./vendors-jobs/job.ts";
import { type Answer, ask, document, fileOf, image, type Seen } from "./vendors-others/ask.ts";

interface Recorded {
  readonly original_response: unknown;
  readonly standardized_response: JsonObject;
}

const folder = process.env["SWITCHYARD_TASK_RECORDINGS"] ?? join(import.meta.dir, "../../../shared/data/task-fixtures");

/** Members where we mean to differ from the normal form, as a pattern of their path → why. */
type Excuses = Readonly<Record<string, string>>;

const inPixels = "the normal form has pixels, or takes width and height for edges";
const inCents = "the vendor tells cents, and the normal form took them for units";
const cases: readonly (readonly [task: string, row: ProviderRow, excuses: Excuses])[] = [
  ["text/ai_detection", originalityai, {}],
  ["text/ai_detection", sapling, {}],
  ["text/ai_detection", winstonai, {}],
  ["text/anonymization", privateai, {}],
  [
    "text/moderation",
    openai,
    { "^items\\.4\\.(sub)?category$": "the normal form has no word for the vendor's fifth category" },
  ],
  ["text/plagia_detection", winstonai, { "^plagia_score$": "a percentage, where scores are 0 to 1" }],
  ["text/sentiment_analysis", sapling, {}],
  ["text/spell_check", sapling, {}],
  ["translation/automatic_translation", deepl, {}],
  ["translation/language_detection", modernmt, {}],
  ["image/ai_detection", winstonai, {}],
  ["image/anonymization", api4ai, { bounding_boxes: inPixels }],
  ["image/face_compare", base64, { bounding_box: inPixels }],
  ["image/logo_detection", api4ai, { "vertices\\.[23]\\.y": inPixels }],
  ["image/object_detection", api4ai, {}],
  ["image/explicit_content", sentisight, { label$: "a word of its own for the vendor's" }],
  ["image/object_detection", sentisight, { "(x|y)_(min|max)$": "the image, and so its size, was not recorded" }],
  ["ocr/ocr", sentisight, { "(left|top|width|height)$": "the image, and so its size, was not recorded" }],
  ["ocr/ocr", base64, {}],
  ["ocr/ocr", mistral, {}],
  ["ocr/financial_parser", affinda, { invoice_date$: "as it is written, where the vendor understood the date" }],
  ["ocr/financial_parser", eagledoc, { address$: "the same parts in another order" }],
  [
    "ocr/financial_parser",
    klippa,
    {
      "(amount_due|total|subtotal|amount_line|unit_price)$": inCents,
      tax_rate$: "the rate of an income tax",
    },
  ],
  ["ocr/financial_parser", mindee, {}],
  [
    "ocr/identity_parser",
    affinda,
    { "country\\.name$": "another name of the same country", "birth_date\\.value$": "guessed from a cut date" },
  ],
  [
    "ocr/identity_parser",
    mindee,
    { "country\\.name$": "another name of the same country", "mrz\\.value$": "the first of two lines" },
  ],
  ["ocr/resume_parser", klippa, { "education.*description$": "the title once more" }],
  ["ocr/bank_check_parsing", mindee, { payer_name$: "the payee, who is the receiver" }],
  ["ocr/bank_check_parsing", veryfi, {}],
];

const audio = fileOf("talk.mp3", "audio/mpeg", Buffer.from("ID3"));
const kept = ({ url }: Seen) => ({
  json: {
    TranscriptionJob: { TranscriptionJobStatus: "COMPLETED", Transcript: { TranscriptFileUri: `${url.origin}/t` } },
  },
});

/** Work that takes a while: what comes before the recorded answer, and what after it. */
const jobs: readonly (readonly [
  task: string,
  row: ProviderRow,
  before: Job["answers"],
  after: Job["answers"],
  Excuses,
])[] = [
  ["audio/speech_to_text_async", amazon, [{}, { json: {} }, kept], [{}], {}],
  ["audio/speech_to_text_async", deepgram, [], [], { segment$: "with its punctuation" }],
  [
    "audio/speech_to_text_async",
    gladia,
    [{ json: { audio_url: "u" } }, { json: { id: "g1" } }],
    [],
    {
      speaker$: "counted from 0, where those of other vendors are counted from 1",
      total_speakers$: "the last of them",
    },
  ],
  ["audio/speech_to_text_async", openai, [], [], {}],
  ["ocr/ocr_async", mistral, [], [], { raw_text: "its pages run into each other" }],
];

/** Recorded under the names of tasks that are one task now: they have to fit, and have no normal form of that task. */
const olderCases: readonly (readonly [kind: string, row: ProviderRow])[] = [
  ["ocr/invoice_parser", affinda],
  ["ocr/invoice_parser", eagledoc],
  ["ocr/invoice_parser", klippa],
  ["ocr/receipt_parser", eagledoc],
  ["ocr/receipt_parser", mindee],
  ["ocr/receipt_parser", tabscanner],
  ["ocr/receipt_parser", veryfi],
];

if (!existsSync(folder))
  test.skip("recorded tasks: there is no folder of recordings beside the checkout, and SWITCHYARD_TASK_RECORDINGS names none", () => {});
else
  describe("recorded answers", () => {
    for (const [task, row, excuses] of cases)
      test(`${task} of ${row.title} fits, and says all that the normal form says`, async () => {
        const recorded = read(task, row);
        const { output } = await replay(task, row, recorded);
        expectSame(output, recorded.standardized_response, excuses);
      });

    for (const [task, row, before, after, excuses] of jobs)
      test(`${task} of ${row.title} fits, and says all that the normal form says`, async () => {
        const recorded = read(task, row);
        const answers = [...before, { json: recorded.original_response }, ...after];
        const { output } = await runJob({ row, task, answers, input: { file: "u" }, files: { file: audio } });
        expectSame(output, recorded.standardized_response, excuses);
      });

    test("video/generation_async of MiniMax: the recorded answer leads to the clip", async () => {
      const bytes = Buffer.from("....ftypisom");
      const { seen, output } = await runJob({
        row: minimax,
        task: "video/generation_async",
        answers: [
          { json: { task_id: "285550883516528" } },
          { json: read("video/generation_async", minimax).original_response },
          ({ url }) => ({ json: { file: { download_url: `${url.origin}/clip` } } }),
          { bytes, mediaType: "video/mp4" },
        ],
        input: { text: "A fox" },
      });
      expect(seen[2]?.url.search).toBe("?file_id=285555749093448");
      expect(output["video"]).toBe(bytes.toString("base64"));
    });

    for (const [kind, row] of olderCases)
      test(`${kind} of ${row.title} fits the task that it is now`, async () => {
        const { output } = await replay("ocr/financial_parser", row, read(kind, row));
        const [first] = output["extracted_data"] as [{ merchant_information: { name: string | null } }];
        expect(first.merchant_information.name ?? "").not.toBe("");
      });

    for (const row of [openai, deepgram])
      test(`speech of ${row.title} is passed on to the byte`, async () => {
        const recorded = read("audio/text_to_speech", row);
        const bytes = Buffer.from(String(recorded.standardized_response["audio"]), "base64");
        const answers = [{ bytes, mediaType: "audio/mpeg" }];
        const { answer } = await ask({ row, task: "audio/tts", answers, input: { text: "Hi" } });
        expect(Buffer.from(answer.binaries?.[0]?.bytes ?? []).equals(bytes)).toBeTrue();
      });
  });

function read(kind: string, { name }: ProviderRow): Recorded {
  return JSON.parse(readFileSync(join(folder, kind, `${name}.json`), "utf8")) as Recorded;
}

function replay(task: string, row: ProviderRow, { original_response: json, standardized_response: normal }: Recorded) {
  // One of them tells a token first, and then the recorded answer.
  const answers: Answer[] = row === tabscanner ? [{ json: { success: true, token: "t1" } }, { json }] : [{ json }];
  const text = typeof normal["text"] === "string" ? normal["text"] : textBefore(normal);
  return ask({
    row,
    task,
    answers,
    input: { text, target_language: "en", file: "https://a.example/file" },
    files:
      task === "image/face_compare"
        ? { file1: image, file2: image }
        : { file: [tabscanner, sentisight].includes(row) ? image : document },
    providerParams: row === affinda ? { workspace: "abc" } : {},
    settings: { VERYFI_USERNAME: "ada", VERYFI_CLIENT_ID: "client-1" },
  });
}

/** What was sent to be anonymized was not recorded: it is the result, with what was found in its place again. */
function textBefore({ result, entities }: JsonObject): string {
  if (typeof result !== "string") return "some text";
  const characters = [...result];
  for (const { offset, length, content } of entities as { offset: number; length: number; content: string }[])
    characters.splice(offset, length, ...content);
  return characters.join("");
}

function expectSame(output: JsonObject, normal: JsonObject, excuses: Excuses): void {
  const differences = compare(output, normal);
  const unexcused = differences.filter(({ path }) => !Object.keys(excuses).some((one) => new RegExp(one).test(path)));
  expect(unexcused).toEqual([]);
  // An excuse that nothing needs is one too many.
  for (const excuse of Object.keys(excuses))
    expect([excuse, differences.some(({ path }) => new RegExp(excuse).test(path))]).toEqual([excuse, true]);
}

interface Difference {
  readonly path: string;
  readonly ours: unknown;
  readonly normal: unknown;
}

/** What the normal form says and ours does not say. Nothing, in any form, says nothing; addresses are the recorder's own. */
function compare(ours: unknown, normal: unknown, path = ""): Difference[] {
  if (normal === null || normal === undefined || normal === "" || path.endsWith("_resource_url")) return [];
  if (typeof normal !== "object") return isSame(ours, normal) ? [] : [{ path, ours, normal }];
  return Object.entries(normal).flatMap(([name, member]) =>
    compare((ours as JsonObject | null | undefined)?.[name], member, path === "" ? name : `${path}.${name}`),
  );
}

/** Normal forms round to two decimals, and write names in a case of their own. */
function isSame(ours: unknown, normal: unknown): boolean {
  if (typeof ours === "number" && typeof normal === "number") return Math.abs(ours - normal) <= 0.005;
  if (typeof ours === "string" && typeof normal === "string") return ours.toLowerCase() === normal.toLowerCase();
  return ours === normal;
}
