// The document engines. They share a reader, so a worker loads tesseract and pdfium once.

import type { LocalEngine } from "../local-engine.ts";
import { createDocumentReader } from "./document-reader.ts";
import { createFinancialParser } from "./financial-parser.ts";
import { createIdentityParser } from "./identity-parser.ts";
import { createResumeParser } from "./resume-parser.ts";
import { createOcr, createOcrAsync, createOcrTables } from "./text-recognition.ts";

function createDocumentEngines(): readonly LocalEngine[] {
  const reader = createDocumentReader();
  return [
    createOcr(reader),
    createOcrAsync(reader),
    createOcrTables(reader),
    createFinancialParser(reader),
    createIdentityParser(reader),
    createResumeParser(reader),
  ];
}

export const documentEngines = createDocumentEngines();
