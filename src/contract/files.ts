// What we promise about files: `/v3/upload` and its siblings, requests and answers.

import { z } from "zod";
import { metadataValue } from "./metadata.ts";
import { pageOf, pageQuery, uuidText, wholeNumberText } from "./paging.ts";
import { limitedRecord } from "./problems.ts";

const longestLifetimeDays = 30;
const defaultPurpose = "general";
const mostPairs = 16;
const mostIds = 1_000;

/** Text for people: no control characters, which have no place in it and of which NUL cannot be stored everywhere. */
function line(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      if (!/[\u0000-\u001f\u007f]/.test(text)) return;
      context.addIssue({
        code: "custom",
        message: "Text must not contain control characters",
        params: { type: "value_error" },
      });
    });
}

const metadata = limitedRecord(line(64), metadataValue, mostPairs).superRefine((pairs, context) => {
  if (JSON.stringify(pairs).includes("\\u0000"))
    context.addIssue({
      code: "custom",
      message: "Text must not contain NUL characters",
      params: { type: "value_error" },
    });
});

/** The fields beside the file: text, as a form has nothing else, and `metadata` as what its text holds. */
export const uploadFields = z.object({
  expires_in_days: wholeNumberText(1, longestLifetimeDays).default(longestLifetimeDays),
  purpose: line(64).default(defaultPurpose),
  metadata: metadata.default({}),
});

/** The whole form, for the documents. */
export const uploadRequest = z.object({
  file: z.string().meta({ format: "binary", description: "The file. Its kind is told from its bytes." }),
  expires_in_days: z
    .int()
    .min(1)
    .max(longestLifetimeDays)
    .default(longestLifetimeDays)
    .describe("After so many days the file is deleted."),
  purpose: z.string().min(1).max(64).default(defaultPurpose).describe("A word of your own, to list files by."),
  metadata: z.string().optional().describe("A JSON object, given back as it is."),
});

export const listFilesQuery = z.object({ purpose: z.string().min(1).max(64).optional(), ...pageQuery });

export const filePath = z.object({ file_id: uuidText });

export const deleteFilesRequest = z.strictObject({ file_ids: z.array(uuidText).min(1).max(mostIds) });

/** Nothing narrows what is deleted: a parameter that seems to must not be passed over. */
export const deleteAllFilesQuery = z.strictObject({});

export const fileObject = z.strictObject({
  file_id: z.uuid(),
  file_name: z.string(),
  file_size: z.int(),
  file_mimetype: z.string(),
  purpose: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

export const fileList = pageOf(fileObject);

export const deletedFiles = z.strictObject({ deleted_count: z.int() });

export type UploadFields = z.output<typeof uploadFields>;
export type FileObject = z.output<typeof fileObject>;
export type FileList = z.output<typeof fileList>;
