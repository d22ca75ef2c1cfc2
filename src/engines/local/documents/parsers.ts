// The engines that parse documents by rules. The gateway imports this file, and only workers import the rules: to compile them takes a tenth of a
// second.

import { barcodePackage } from "./barcodes.ts";
import { createDocumentEngine } from "./document-engine.ts";

export const financialParser = createDocumentEngine({
  task: "ocr/financial_parser",
  packages: [barcodePackage],
  load: async () => (await import("./financial-parser.ts")).loadFinancialParser(),
});

export const identityParser = createDocumentEngine({
  task: "ocr/identity_parser",
  packages: ["mrz"],
  load: async () => (await import("./identity-parser.ts")).loadIdentityParser(),
});

export const resumeParser = createDocumentEngine({
  task: "ocr/resume_parser",
  isPricedByFile: true,
  load: async () => {
    const { parseResume } = await import("./resume-parser.ts");
    return (pages, _call, addDetails) => parseResume(pages, addDetails);
  },
});
