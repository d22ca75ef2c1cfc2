// `/v3/resources/{id}`: what a task produced, to whoever holds the signed address.

import { fileNotFound } from "../../files/file-errors.ts";
import { type OpenedResource, type ResourceUrls, resourcePath } from "../../files/resource-urls.ts";
import { matchesEntityTag } from "../../lib/entity-tag.ts";
import { type Reply, reply } from "../reply.ts";
import type { Call, Route } from "../route.ts";

// What a browser may show in place. Everything else, and whatever could run a script, is only saved.
const shownTypes = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain(?:;|$))/i;

export function resourceRoutes(resources: ResourceUrls): Route[] {
  return [{ method: "GET", path: `${resourcePath}{resource_id}`, key: "none", run: get }];

  async function get(call: Call): Promise<Reply> {
    const { query, params } = call;
    const id = params["resource_id"] ?? "";
    const opened = await resources.open(id, query.get("expires") ?? "", query.get("signature") ?? "");
    if (opened === null) throw fileNotFound();
    return send(opened, call.request);
  }
}

function send({ file, expiresAt }: OpenedResource, request: Request): Reply {
  const tag = `"${file.id}"`;
  const disposition = shownTypes.test(file.mediaType) ? "inline" : "attachment";
  const headers = {
    etag: tag,
    "accept-ranges": "bytes",
    "cache-control": `private, max-age=${Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))}, immutable`,
    "content-type": file.mediaType,
    "content-disposition": `${disposition}; filename="${file.name}"`,
    // The gateway's own pages have the same origin: nothing that a model wrote may act there.
    "content-security-policy": "sandbox; default-src 'none'",
    "referrer-policy": "no-referrer",
  };
  if (matchesEntityTag(request.headers.get("if-none-match"), tag)) return reply(null, { status: 304, headers });
  const range = readRange(request.headers, tag, file.size);
  if (range === "unsatisfiable")
    return reply(null, { status: 416, headers: { "content-range": `bytes */${file.size}` } });
  const { start, end } = range ?? { start: 0, end: file.size };
  const isHead = request.method === "HEAD";
  return reply(isHead ? null : file.stream(range ?? undefined), {
    status: range === null ? 200 : 206,
    headers: {
      ...headers,
      "content-length": String(end - start),
      ...(range !== null && { "content-range": `bytes ${start}-${end - 1}/${file.size}` }),
    },
  });
}

/** One range. Several, and what is no range, are answered with the whole, as the standard allows. */
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
