import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../dialect.ts";
import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart, languageOf } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { EngineCall } from "../task.ts";
import { type FormPart, type VendorAnswer, VendorFailure, type VendorRequest, type VendorTask } from "../task.ts";
import { toFinancialDocument } from "./financial.ts";
import { toIdentity } from "./identity.ts";
import { toResume } from "./resume.ts";

async function toRequest(call: EngineCall): Promise<VendorRequest> {
  const { workspace, collection } = call.providerParams;
  // The vendor knows what to read from the workspace or collection that a document is put into; there is none by default.
  if (workspace === undefined && collection === undefined)
    throw new ValidationError([
      {
        loc: ["body", "provider_params", "workspace"],
        msg: "This provider reads documents in a workspace or collection of its account: name one",
        type: "missing",
      },
    ]);
  const language = languageOf(call);
  const parts: FormPart[] = [
    { name: "wait", value: "true" },
    ...(language === null ? [] : [{ name: "language", value: language }]),
    await filePart("file", fileOf(call)),
  ];
  return { path: "/v3/documents", body: { kind: "form", parts } };
}

// https://docs.affinda.com/error-glossary: the credits are used up, which comes as a 403 and inside of good answers.
const errors: readonly ErrorRule[] = [{ says: /"no_parsing_credits"/, means: "rate_limit" }];

function dataOf({ json, text }: VendorAnswer): JsonObject {
  if (at(json, "meta", "failed") === true) {
    const status = readErrorRules(errors, 400, text) ?? 400;
    throw new VendorFailure(status, asText(at(json, "error", "errorDetail")) ?? "The document could not be read");
  }
  return asObject(at(json, "data"));
}

function unitsOf({ json }: VendorAnswer) {
  return { page: Math.max(1, objectsIn(at(json, "meta", "pages")).length), file: 1, request: 1 };
}

const parseFinancialDocument: VendorTask = {
  task: "ocr/financial_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  // What kind of document it is follows from the workspace.
  unused: ["document_type"],
  toRequest,
  fromAnswer(answer) {
    const document = toFinancialDocument(dataOf(answer), asObject(at(answer.json, "meta")));
    return { output: toShape("ocr/financial_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseIdentity: VendorTask = {
  task: "ocr/identity_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  toRequest,
  fromAnswer(answer) {
    const document = toIdentity(dataOf(answer));
    return { output: toShape("ocr/identity_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseResume: VendorTask = {
  task: "ocr/resume_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  toRequest,
  fromAnswer(answer) {
    const resume = toResume(dataOf(answer));
    return { output: toShape("ocr/resume_parser", { extracted_data: resume }), units: unitsOf(answer) };
  },
};

export const affinda: ProviderRow = {
  name: "affinda",
  title: "Affinda",
  docs: "https://docs.affinda.com/reference/getting-started",
  baseUrl: "https://api.affinda.com",
  auth: { kind: "bearer" },
  errors,
  // Instead of an upload it takes an address: that would be another file than the one that was checked.
  sealedParams: ["url", "file"],
  tasks: [parseFinancialDocument, parseIdentity, parseResume],
};
