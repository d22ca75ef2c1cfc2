// `/v3/manage/files`: the uploads of all owners, for the operator. Their content is for administrators only.

import { type Caller, ownerOfTeam, readOwner } from "../../access/caller.ts";
import * as contract from "../../contract/files.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import { GatewayError } from "../../errors.ts";
import { fileNotFound } from "../../files/file-errors.ts";
import type { ManagedFileRecord } from "../../storage/files.ts";
import { reply, replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";
import { toFileObject } from "./files.ts";

const common = { tag: "Files", key: "management", reach: "team" } as const;
const one = {
  path: "/v3/manage/files/{file_id}",
  params: contract.filePath,
  example: { path: { file_id: "$FILE_ID" } },
} as const;

export function managedFileRoutes({ files, audit }: Pick<RouteDependencies, "files" | "audit">): Route[] {
  async function find(id: string, { team }: Caller): Promise<ManagedFileRecord> {
    const file = await files.findAny(id);
    if (file === null || (team !== null && file.owner !== ownerOfTeam(team))) throw fileNotFound();
    return file;
  }

  return [
    defineRoute("listManagedFiles", "List the files of all owners", {
      ...common,
      description: "Newest first, a page at a time, without the content of files.",
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
        const { total, totalBytes, items } = await files.listAll({ owner, purpose, limit, offset: toOffset(query) });
        return replyJson({ ...toPage(items.map(toManagedFile), total, query), total_bytes: totalBytes });
      },
    }),
    defineRoute("retrieveManagedFile", "Describe a file of any owner", {
      ...common,
      ...one,
      method: "GET",
      role: "viewer",
      answers: [{ status: 200, description: "The file.", schema: contract.managedFile }],
      errors: ["file_not_found"],
      run: async ({ params, caller }) => replyJson(toManagedFile(await find(params.file_id, caller))),
    }),
    defineRoute("downloadManagedFile", "Download a file of any owner", {
      ...common,
      ...one,
      description: "A record of the audit log says who read it. While it cannot be written, the answer is 503.",
      method: "GET",
      path: `${one.path}/content`,
      role: "administrator",
      answers: [{ status: 200, description: "The bytes.", contentType: "application/octet-stream" }],
      errors: ["file_not_found", "dependency_unavailable"],
      example: { ...one.example, output: "file.bin" },
      async run({ params, caller, actor, request }) {
        const found = await find(params.file_id, caller);
        const target = { kind: "file", id: found.id, name: found.name, team: readOwner(found.owner).team };
        await audit.recordRead(actor, { action: "file.read", target });
        const file = files.toStoredFile(found);
        return reply(request.method === "HEAD" ? null : await file.stream(), {
          headers: {
            // Never shown in the browser: it has the origin of the dashboard, and callers chose the content.
            "content-type": "application/octet-stream",
            "content-disposition": toAttachment(file.name),
            "content-security-policy": "sandbox; default-src 'none'",
            "content-length": String(file.size),
          },
        });
      },
    }),
    defineRoute("deleteManagedFile", "Delete a file of any owner", {
      ...common,
      ...one,
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

/** As RFC 6266 asks for: a plain name for old clients, and the name itself. */
function toAttachment(name: string): string {
  const plain = name.replace(/[^\w. -]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function toManagedFile(file: ManagedFileRecord): contract.ManagedFile {
  const { team, keyId } = readOwner(file.owner);
  return { ...toFileObject(file), team, key_id: keyId, key_name: file.keyName };
}
