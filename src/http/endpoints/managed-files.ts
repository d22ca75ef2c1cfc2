// `/v3/manage/files`: the uploads of all owners, for the operator. Their content stays with their owners.

import { type Caller, ownerOfTeam, readOwner } from "../../access/caller.ts";
import * as contract from "../../contract/files.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import { GatewayError } from "../../errors.ts";
import { fileNotFound } from "../../files/file-errors.ts";
import type { FileStore } from "../../files/file-store.ts";
import type { FileRecord } from "../../storage/files.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import { toFileObject } from "./files.ts";

const common = { tag: "Files", key: "management", reach: "team" } as const;
const one = {
  path: "/v3/manage/files/{file_id}",
  params: contract.filePath,
  example: { path: { file_id: "$FILE_ID" } },
} as const;

export function managedFileRoutes(files: FileStore): Route[] {
  async function find(id: string, { team }: Caller): Promise<FileRecord> {
    const file = await files.findAny(id);
    if (file === null || (team !== null && file.owner !== ownerOfTeam(team))) throw fileNotFound();
    return file;
  }

  return [
    defineRoute({
      ...common,
      id: "listManagedFiles",
      summary: "List the files of all owners",
      description: "Newest first, a page at a time. The content of files is not shown.",
      method: "GET",
      path: "/v3/manage/files",
      role: "viewer",
      query: contract.listManagedFilesQuery,
      answers: [{ status: 200, description: "A page of files.", schema: contract.managedFileList }],
      errors: ["team_not_found"],
      example: { query: "limit=20" },
      async run({ query, caller }) {
        const { team = caller.team, purpose = null, limit } = query;
        if (caller.team !== null && team !== caller.team)
          throw new GatewayError("team_not_found", "There is no team with this name.");
        const owner = team === null ? null : ownerOfTeam(team);
        const { total, items } = await files.listAll({ owner, purpose, limit, offset: toOffset(query) });
        return replyJson(toPage(items.map(toManagedFile), total, query));
      },
    }),
    defineRoute({
      ...common,
      ...one,
      id: "retrieveManagedFile",
      summary: "Describe a file of any owner",
      method: "GET",
      role: "viewer",
      answers: [{ status: 200, description: "The file.", schema: contract.managedFile }],
      errors: ["file_not_found"],
      run: async ({ params, caller }) => replyJson(toManagedFile(await find(params.file_id, caller))),
    }),
    defineRoute({
      ...common,
      ...one,
      id: "deleteManagedFile",
      summary: "Delete a file of any owner",
      method: "DELETE",
      role: "operator",
      audit: { action: "file.delete" },
      answers: [{ status: 200, description: "The file was deleted.", schema: contract.deletedFiles }],
      errors: ["file_not_found"],
      async run({ params, caller, note }) {
        const file = await find(params.file_id, caller);
        const { team } = readOwner(file.owner);
        Object.assign(note, { name: file.name, team, before: { ...toManagedFile(file) } });
        const deletedCount = await files.remove(file.owner, [file.id]);
        if (deletedCount === 0) throw fileNotFound();
        return replyJson({ deleted_count: deletedCount });
      },
    }),
  ];
}

function toManagedFile(file: FileRecord): contract.ManagedFile {
  const { team, keyId } = readOwner(file.owner);
  return { ...toFileObject(file), team, key_id: keyId };
}
