// The labelled documents of each parser. The two splits share no layouts, names or labels.

import { cvsToTest } from "./cv/test/set.ts";
import { cvsToTune } from "./cv/tune/set.ts";
import { identityToTest } from "./identity/test/set.ts";
import { identityToTune } from "./identity/tune/set.ts";
import { invoicesToTest } from "./invoices/test/set.ts";
import { invoicesToTune } from "./invoices/tune/set.ts";
import type { LabelledDocument, Split } from "./labelled-document.ts";

export type ParserName = "invoices" | "identity" | "cv";

interface DocumentSet {
  readonly task: string;
  readonly input: Readonly<Record<string, string>>;
  readonly splits: Readonly<Record<Split, () => LabelledDocument[]>>;
  /** The part of the output that the labels are paths into. */
  answerOf(output: Readonly<Record<string, unknown>>): unknown;
}

export const documentSets: Readonly<Record<ParserName, DocumentSet>> = {
  invoices: {
    task: "ocr/financial_parser",
    input: { document_type: "auto-detect" },
    splits: { tune: invoicesToTune, test: invoicesToTest },
    answerOf: ({ extracted_data }) => (extracted_data as unknown[])[0],
  },
  identity: {
    task: "ocr/identity_parser",
    input: {},
    splits: { tune: identityToTune, test: identityToTest },
    answerOf: ({ extracted_data }) => flattenIdentity((extracted_data as Record<string, unknown>[])[0]),
  },
  cv: {
    task: "ocr/resume_parser",
    input: {},
    splits: { tune: cvsToTune, test: cvsToTest },
    answerOf: ({ extracted_data }) => extracted_data,
  },
};

/** Values without their confidence. */
function flattenIdentity(document: Readonly<Record<string, unknown>> | undefined): unknown {
  return Object.fromEntries(
    Object.entries(document ?? {}).map(([name, member]) => {
      if (Array.isArray(member)) return [name, member.map((part) => part.value).join(" ")];
      const { value, alpha3 } = (member ?? {}) as { value?: unknown; alpha3?: unknown };
      return [name, name === "country" ? alpha3 : value];
    }),
  );
}
