// The sample files of a task.

import { lookUp } from "../../../../lib/look-up.ts";
import { drawCheque, drawIdentityCard, drawInvoice, drawReceipt, drawResume, drawTable } from "./documents.ts";
import { drawSign, drawStillLife, recordClip } from "./pictures.ts";
import { recordSpeech } from "./speech.ts";

export interface FileSample {
  readonly title: string;
  /** Takes no time and calls nothing. */
  readonly draw?: () => Promise<File>;
  readonly make: () => Promise<File>;
}

const invoice = drawn("Sample invoice", drawInvoice);
const receipt = drawn("Sample receipt", drawReceipt);
const table = drawn("Sample table", drawTable);
const passport = drawn("Sample passport", drawIdentityCard);
const resume = drawn("Sample résumé", drawResume);
const cheque = drawn("Sample cheque", drawCheque);
const stillLife = drawn("Sample picture", drawStillLife);
const sign = drawn("Sample sign", drawSign);
const speech = { title: "Sample recording", make: recordSpeech };
const clip = { title: "Sample clip", make: recordClip };
const letterText = "Dear Ada,\n\nthe meeting moves to Thursday at three o'clock.\n\nKind regards\nJordan\n";
const letter = drawn("Sample letter", async () => new File([letterText], "letter.txt", { type: "text/plain" }));

/** By task, or by the first part of its name. */
const samples: Readonly<Record<string, readonly FileSample[]>> = {
  "ocr/ocr_tables_async": [table, invoice],
  "ocr/financial_parser": [invoice, receipt],
  "ocr/identity_parser": [passport],
  "ocr/resume_parser": [resume],
  "ocr/bank_check_parsing": [cheque],
  "ocr/anonymization_async": [invoice, resume],
  "ocr/invoice_splitter_async": [invoice],
  ocr: [invoice, receipt, sign],
  "image/question_answer": [sign, stillLife],
  "image/logo_detection": [sign, stillLife],
  image: [stillLife, sign],
  "translation/document_translation": [letter],
  audio: [speech],
  "video/generation_async": [stillLife],
  video: [clip],
};

export function samplesFor(task: string): readonly FileSample[] {
  return lookUp(samples, task) ?? lookUp(samples, task.split("/")[0] ?? "") ?? [];
}

function drawn(title: string, draw: () => Promise<File>): FileSample {
  return { title, draw, make: draw };
}
