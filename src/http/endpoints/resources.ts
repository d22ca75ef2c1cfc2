// `/v3/resources/{id}`: the files that a task produced, for every client with the signed URL.

import { z } from "zod";
import { resourceParams, resourceQuery } from "../../contract/files.ts";
import { fileNotFound } from "../../files/file-errors.ts";
import { type OpenedResource, type ResourceUrls, resourcePath } from "../../files/resource-urls.ts";
import { type Reply, reply } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import { documentHeaders, matchesEntityTag } from "../send-document.ts";

// Types that a browser may display. All other types, and those that could run a script, are only downloaded.
const displayedTypes = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain(?:;|$))/i;

export function resourceRoutes(resources: ResourceUrls): Route[] {
  return [
    defineRoute("retrieveResource", "Download a file that a task produced", {
      tag: "Files",
      description: "By the signed URL in a task's output, until it expires. Supports ranges and HEAD.",
      method: "GET",
      path: `${resourcePath}{resource_id}`,
      key: "none",
      params: resourceParams,
      query: resourceQuery,
      headers: documentHeaders.extend({ range: z.string().optional().describe("One range of bytes.") }),
      answers: [
        { status: 200, description: "The bytes.", contentType: "application/octet-stream" },
        { status: 206, description: "The requested range.", contentType: "application/octet-stream" },
        { status: 304, description: "The client's copy is still valid." },
      ],
      errors: ["file_not_found", "dependency_unavailable"],
      example: { path: { resource_id: "$RESOURCE_ID" }, query: "expires=$EXPIRES&signature=$SIGNATURE" },
      async run({ params, query, request }) {
        const opened = await resources.open(params.resource_id, query.expires ?? "", query.signature ?? "");
        if (opened === null) throw fileNotFound();
        return send(opened, request);
      },
    }),
  ];
}

async function send({ file, expiresAt }: OpenedResource, request: Request): Promise<Reply> {
  const tag = `"${file.id}"`;
  const disposition = displayedTypes.test(file.mediaType) ? "inline" : "attachment";
  const headers = {
    etag: tag,
    "accept-ranges": "bytes",
    "cache-control": `private, max-age=${Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))}, immutable`,
    "content-type": file.mediaType,
    "content-disposition": `${disposition}; filename="${file.name}"`,
    // The gateway's own pages have the same origin: content that a model generated must not run there.
    "content-security-policy": "sandbox; default-src 'none'",
    "referrer-policy": "no-referrer",
  };
  if (matchesEntityTag(request.headers.get("if-none-match"), tag)) return reply(null, { status: 304, headers });
  const range = readRange(request.headers, tag, file.size);
  if (range === "unsatisfiable")
    return reply(null, { status: 416, headers: { "content-range": `bytes */${file.size}` } });
  const { start, end } = range ?? { start: 0, end: file.size };
  const isHead = request.method === "HEAD";
  return reply(isHead ? null : await file.stream(range ?? undefined), {
    status: range === null ? 200 : 206,
    headers: {
      ...headers,
      "content-length": String(end - start),
      ...(range !== null && { "content-range": `bytes ${start}-${end - 1}/${file.size}` }),
    },
  });
}

/** Null for several ranges and for a malformed one: they are answered with the whole file, as RFC 9110 allows. */
function readRange(headers: Headers, tag: string, size: number) {
  const ifRange = headers.get("if-range");
  if (ifRange !== null && ifRange !== tag) return null;
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return null;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  return start >= size || end <= start ? ("unsatisfiable" as const) : { start, end };
}
