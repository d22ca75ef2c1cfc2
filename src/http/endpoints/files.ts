// `/v3/upload`: files that callers send, to be named in later requests.

import { type Caller, ownerOf } from "../../access/caller.ts";
import {
  deleteAllFilesQuery,
  deleteFilesRequest,
  type FileList,
  type FileObject,
  filePath,
  listFilesQuery,
} from "../../contract/files.ts";
import type { KeyScope } from "../../contract/keys.ts";
import { parse } from "../../contract/problems.ts";
import { GatewayError } from "../../errors.ts";
import { fileNotFound } from "../../files/file-errors.ts";
import type { FileStore } from "../../files/file-store.ts";
import type { Uploads } from "../../files/uploads.ts";
import type { FileRecord } from "../../storage/files.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Call, Route } from "../route.ts";

interface Dependencies {
  readonly files: FileStore;
  readonly uploads: Uploads;
}

const key = "inference" as const;
// Whoever may send a file to any of these may keep one for it.
const scopesWithFiles: readonly KeyScope[] = ["universal", "chat", "responses"];

export function fileRoutes({ files, uploads }: Dependencies): Route[] {
  return [
    { method: "POST", path: "/v3/upload", key, run: upload },
    { method: "GET", path: "/v3/upload", key, run: list },
    { method: "DELETE", path: "/v3/upload", key, body: "optional-json", run: removeAll },
    { method: "POST", path: "/v3/upload/delete", key, body: "json", run: removeSome },
    { method: "GET", path: "/v3/upload/{file_id}", key, run: get },
    { method: "DELETE", path: "/v3/upload/{file_id}", key, run: removeOne },
  ];

  /** The scope first, unlike elsewhere: nobody should send a hundred megabytes to learn that they may not. */
  async function upload(call: Call): Promise<Reply> {
    const owner = ownerOf(requireScope(call.caller));
    return replyJson(toFileObject(await uploads.receive(call.request, owner)));
  }

  async function list(call: Call): Promise<Reply> {
    const { purpose, page, limit } = parse(listFilesQuery, Object.fromEntries(call.query), "query");
    const owner = ownerOf(requireScope(call.caller));
    const filter = { owner, purpose: purpose ?? null, limit, offset: (page - 1) * limit };
    const { total, files: found } = await files.list(filter);
    const answer: FileList = {
      items: found.map(toFileObject),
      total,
      page,
      limit,
      total_pages: Math.ceil(total / limit),
    };
    return replyJson(answer);
  }

  async function get(call: Call): Promise<Reply> {
    const { file_id } = parse(filePath, call.params, "path");
    const found = await files.find(file_id, ownerOf(requireScope(call.caller)));
    if (found === null) throw fileNotFound();
    return replyJson(toFileObject(found));
  }

  async function removeOne(call: Call): Promise<Reply> {
    const { file_id } = parse(filePath, call.params, "path");
    const deletedCount = await files.remove(ownerOf(requireScope(call.caller)), [file_id]);
    if (deletedCount === 0) throw fileNotFound();
    return replyJson({ deleted_count: deletedCount });
  }

  async function removeSome(call: Call): Promise<Reply> {
    const { file_ids } = parse(deleteFilesRequest, call.body?.value);
    const owner = ownerOf(requireScope(call.caller));
    return replyJson({ deleted_count: await files.remove(owner, file_ids) });
  }

  /** All of the caller's, unless a body names some. */
  async function removeAll(call: Call): Promise<Reply> {
    if (call.body !== null) return await removeSome(call);
    parse(deleteAllFilesQuery, Object.fromEntries(call.query), "query");
    const owner = ownerOf(requireScope(call.caller));
    return replyJson({ deleted_count: await files.remove(owner, null) });
  }
}

function requireScope(caller: Caller | null): Caller {
  if (caller === null) throw new TypeError("the route has no key");
  if (scopesWithFiles.some((scope) => caller.scopes.has(scope))) return caller;
  const names = scopesWithFiles.map((scope) => `'${scope}'`).join(", ");
  throw new GatewayError("insufficient_scope", `This key has none of the scopes ${names}.`);
}

function toFileObject(file: FileRecord): FileObject {
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
