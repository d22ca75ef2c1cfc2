// `/v3/upload` and `/v3/resources`: requests and answers.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { metadataValue } from "./metadata.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { limitedRecord } from "./problems.ts";
import { plainText, uuidText, wholeNumberText } from "./text-values.ts";

const maxLifetimeDays = 30;
const defaultPurpose = "general";
const maxPairs = 16;
const maxIds = 1_000;

const metadata = limitedRecord(plainText(64), metadataValue, maxPairs).refine(
  (pairs) => !JSON.stringify(pairs).includes("\\u0000"),
  "Text must not contain NUL characters",
);

/** The fields of the form beside the file. `metadata` is checked after its JSON text has been parsed. */
export const uploadFields = z.object({
  expires_in_days: wholeNumberText(1, maxLifetimeDays)
    .default(maxLifetimeDays)
    .describe("The file is deleted after this number of days."),
  purpose: plainText(64).default(defaultPurpose).describe("A word of your own, to list files by."),
  metadata: metadata.default({}),
});

/** The form as it is sent: the file, and `metadata` as text. */
export const uploadForm = uploadFields
  .extend({
    file: z.string().meta({ format: "binary", description: "The file. Its type is detected from its bytes." }),
    metadata: z.string().optional().describe("A JSON object, returned unchanged."),
  })
  .meta({ id: "UploadRequest" });

export const listFilesQuery = z.object({
  purpose: z.string().min(1).max(64).optional().describe("Only files of this purpose."),
  ...pageQuery,
});

export const filePath = z.object({ file_id: uuidText.describe("The file's id.") });

export const deleteFilesRequest = strictComponent("DeleteFilesRequest", {
  file_ids: z.array(uuidText).min(1).max(maxIds),
});

/** Nothing narrows what is deleted, so a parameter that seems to is refused. */
export const deleteAllFilesQuery = z.strictObject({});

export const fileObject = strictComponent("File", {
  file_id: z.uuid(),
  file_name: z.string(),
  file_size: z.int().describe("Bytes."),
  file_mimetype: z.string(),
  purpose: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

export const fileList = pageOf(fileObject).meta({ id: "FileList" });

export const managedFile = fileObject
  .extend({
    team: z.string().nullable().describe("The team that the file belongs to; null: the key alone."),
    key_id: z.string().nullable().describe("The key that the file belongs to, if that key has no team."),
    key_name: z.string().nullable().describe("What people call that key."),
  })
  .meta({ id: "ManagedFile" });

export const managedFileList = pageOf(managedFile)
  .extend({ total_bytes: z.int().describe("The size of the files on all pages.") })
  .meta({ id: "ManagedFileList" });

export const listManagedFilesQuery = z.object({
  team: plainText(256).optional().describe("Only files of this team: its name."),
  purpose: z.string().min(1).max(64).optional().describe("Only files of this purpose."),
  ...pageQuery,
});

export const deletedFiles = strictComponent("DeletedFiles", { deleted_count: z.int() });

export const resourceParams = z.object({ resource_id: z.string().describe("The id in the signed URL.") });

export const resourceQuery = z.object({
  expires: z.string().optional().describe("As in the signed URL."),
  signature: z.string().optional().describe("As in the signed URL."),
});

export type UploadFields = z.output<typeof uploadFields>;
export type ManagedFile = z.output<typeof managedFile>;
export type FileObject = z.output<typeof fileObject>;
