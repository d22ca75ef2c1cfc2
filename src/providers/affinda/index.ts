import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../dialect.ts";
import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart, languageOf } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { TaskCall } from "../task.ts";
import { type FormPart, type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toFinancialDocument } from "./financial.ts";
import { toIdentity } from "./identity.ts";
import { toResume } from "./resume.ts";

async function toRequest(call: TaskCall): Promise<TaskRequest> {
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

function dataOf({ json, text }: TaskResponse): JsonObject {
  if (at(json, "meta", "failed") === true) {
    const status = readErrorRules(errors, 400, text) ?? 400;
    throw new TaskFailure(status, asText(at(json, "error", "errorDetail")) ?? "The document could not be read");
  }
  return asObject(at(json, "data"));
}

function unitsOf({ json }: TaskResponse) {
  return { page: Math.max(1, objectsIn(at(json, "meta", "pages")).length), file: 1, request: 1 };
}

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  // What kind of document it is follows from the workspace.
  unsupported: ["document_type"],
  toRequest,
  fromResponse(answer) {
    const document = toFinancialDocument(dataOf(answer), asObject(at(answer.json, "meta")));
    return { output: toShape("ocr/financial_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseIdentity: ProviderTask = {
  task: "ocr/identity_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  toRequest,
  fromResponse(answer) {
    const document = toIdentity(dataOf(answer));
    return { output: toShape("ocr/identity_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseResume: ProviderTask = {
  task: "ocr/resume_parser",
  docs: "https://docs.affinda.com/reference/createdocument",
  toRequest,
  fromResponse(answer) {
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
