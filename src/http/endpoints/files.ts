// `/v3/upload`: files that callers send, to be named in later requests.

import { ownerOf } from "../../access/caller.ts";
import * as contract from "../../contract/files.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import { parse } from "../../contract/problems.ts";
import { fileNotFound } from "../../files/file-errors.ts";
import type { FileRecord } from "../../storage/files.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

// Each of these scopes has endpoints that accept files.
const common = { tag: "Files", key: "inference", scope: ["universal", "chat", "responses"] } as const;
const one = {
  path: "/v3/upload/{file_id}",
  params: contract.filePath,
  example: { path: { file_id: "$FILE_ID" } },
} as const;

export function fileRoutes({ files, uploads }: Pick<RouteDependencies, "files" | "uploads">): Route[] {
  return [
    defineRoute("uploadFile", "Upload a file", {
      ...common,
      description: "A form with the part `file`. The type of the file is detected from its bytes.",
      method: "POST",
      path: "/v3/upload",
      body: { kind: "form", schema: contract.uploadForm },
      answers: [{ status: 200, description: "The file.", schema: contract.fileObject }],
      example: { form: ["file=@document.pdf"] },
      run: async ({ caller, request }) => replyJson(toFileObject(await uploads.receive(request, ownerOf(caller)))),
    }),
    defineRoute("listFiles", "List files", {
      ...common,
      description: "Newest first, a page at a time.",
      method: "GET",
      path: "/v3/upload",
      query: contract.listFilesQuery,
      answers: [{ status: 200, description: "A page of files.", schema: contract.fileList }],
      async run({ caller, query }) {
        const filter = { owner: ownerOf(caller), purpose: query.purpose ?? null, limit: query.limit };
        const { total, items } = await files.list({ ...filter, offset: toOffset(query) });
        return replyJson(toPage(items.map(toFileObject), total, query));
      },
    }),
    defineRoute("deleteAllFiles", "Delete all files", {
      ...common,
      description:
        "Deletes all files of this key or its owner. With a body as in `/v3/upload/delete`, only the files that it names.",
      method: "DELETE",
      path: "/v3/upload",
      body: { kind: "optional-json", schema: contract.deleteFilesRequest },
      answers: [{ status: 200, description: "How many files were deleted.", schema: contract.deletedFiles }],
      async run({ caller, body, searchParams }) {
        if (body === null) parse(contract.deleteAllFilesQuery, Object.fromEntries(searchParams), "query");
        return replyJson({ deleted_count: await files.remove(ownerOf(caller), body?.file_ids ?? null) });
      },
    }),
    defineRoute("deleteFiles", "Delete files", {
      ...common,
      method: "POST",
      path: "/v3/upload/delete",
      body: { kind: "json", schema: contract.deleteFilesRequest },
      answers: [{ status: 200, description: "How many files were deleted.", schema: contract.deletedFiles }],
      example: { body: { file_ids: ["00000000-0000-4000-8000-000000000000"] } },
      run: async ({ caller, body }) => replyJson({ deleted_count: await files.remove(ownerOf(caller), body.file_ids) }),
    }),
    defineRoute("retrieveFile", "Describe a file", {
      ...common,
      ...one,
      method: "GET",
      answers: [{ status: 200, description: "The file.", schema: contract.fileObject }],
      errors: ["file_not_found"],
      async run({ caller, params }) {
        const found = await files.find(params.file_id, ownerOf(caller));
        if (found === null) throw fileNotFound();
        return replyJson(toFileObject(found));
      },
    }),
    defineRoute("deleteFile", "Delete a file", {
      ...common,
      ...one,
      method: "DELETE",
      answers: [{ status: 200, description: "The file was deleted.", schema: contract.deletedFiles }],
      errors: ["file_not_found"],
      async run({ caller, params }) {
        const deletedCount = await files.remove(ownerOf(caller), [params.file_id]);
        if (deletedCount === 0) throw fileNotFound();
        return replyJson({ deleted_count: deletedCount });
      },
    }),
  ];
}

export function toFileObject(file: FileRecord): contract.FileObject {
  return {
    file_id: file.id,
    file_name: file.name,
    file_size: file.size,
    file_mimetype: file.mediaType,
    purpose: file.purpose,
    metadata: file.metadata,
    created_at: new Date(file.createdAt).toISOString(),
    expires_at: new Date(file.expiresAt).toISOString(),
  };
}
