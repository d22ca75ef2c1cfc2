import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../dialect.ts";
import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toDocuments } from "../shapes/documents.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toFinancialDocument, toIdentity, toResume } from "./documents.ts";

const docs = "https://docs.affinda.com/reference/createdocument";

function toRequest(call: TaskCall): Promise<TaskRequest> {
  const { workspace, collection } = call.providerParams;
  // The workspace or collection determines what the vendor extracts, and the vendor has no default.
  if (workspace === undefined && collection === undefined)
    throw new ValidationError([
      {
        loc: ["body", "provider_params", "workspace"],
        msg: "This provider reads documents in a workspace or collection of its account: name one",
        type: "missing",
      },
    ]);
  return postForm("/v3/documents", { wait: true, language: languageOf(call), file: fileOf(call) });
}

// https://docs.affinda.com/error-glossary: no credits are left. The vendor reports it with status 403, and in answers of status 200.
const errors: readonly ErrorRule[] = [{ says: /"no_parsing_credits"/, means: "rate_limit" }];

function dataOf({ json, text }: TaskResponse): JsonObject {
  if (at(json, "meta", "failed") === true) {
    const status = readErrorRules(errors, 400, text) ?? 400;
    throw new TaskFailure(status, asText(at(json, "error", "errorDetail")) ?? "The document could not be read");
  }
  return asObject(at(json, "data"));
}

function pagesOf({ json }: TaskResponse): number {
  return objectsIn(at(json, "meta", "pages")).length;
}

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs,
  // The workspace determines the kind of document.
  unsupported: ["document_type"],
  toRequest,
  fromResponse(response) {
    const document = toFinancialDocument(dataOf(response), asObject(at(response.json, "meta")));
    return toDocuments("ocr/financial_parser", [document], pagesOf(response));
  },
});

const parseIdentity = defineTask("ocr/identity_parser", {
  docs,
  toRequest,
  fromResponse: (response) => toDocuments("ocr/identity_parser", [toIdentity(dataOf(response))], pagesOf(response)),
});

const parseResume = defineTask("ocr/resume_parser", {
  docs,
  toRequest,
  fromResponse: (response) => toDocuments("ocr/resume_parser", toResume(dataOf(response)), pagesOf(response)),
});

export const affinda = defineProvider("affinda", "Affinda", {
  docs: "https://docs.affinda.com/reference/getting-started",
  baseUrl: "https://api.affinda.com",
  errors,
  // They would replace the file that was checked.
  sealedParams: ["url", "file"],
  tasks: [parseFinancialDocument, parseIdentity, parseResume],
});
