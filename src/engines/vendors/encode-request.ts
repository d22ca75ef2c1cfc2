// Encodes the request of a task for the wire: path, query, headers, body and credentials.

import { ValidationError } from "../../errors.ts";
import type { Address } from "../../providers/deployment.ts";
import type { FormPart, TaskRequest, TaskRequestBody } from "../../providers/task.ts";
import { mergeFields } from "./merge-params.ts";

// A path may contain a name that the caller chose. It must not lead to another path, or start another request.
const unsafePath = /[^\x21-\x7e]|#|\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

export async function encodeRequest(
  request: TaskRequest,
  address: Address,
): Promise<{ readonly head: string; readonly body: string | Uint8Array }> {
  const { method = "POST" } = request;
  if (unsafePath.test(request.path)) {
    const msg = "The request names something that cannot be part of an address";
    throw new ValidationError([{ loc: ["body"], msg, type: "value_error" }]);
  }
  const { content: body, mediaType } = encodeBody(withCredentials(request.body, address.members));
  const path = `${address.basePath}${request.path}${toQuery(request, address)}`;
  const headers: Record<string, string> = {
    host: address.host,
    accept: "application/json",
    // Compressed bytes would have to be decompressed before their size can be limited.
    "accept-encoding": "identity",
    "user-agent": "Switchyard/1",
    ...(mediaType !== null && { "content-type": mediaType }),
    ...withLowerCaseNames(request.headers),
    ...withLowerCaseNames(address.headers),
  };
  if (address.authorizer !== null)
    Object.assign(headers, await address.authorizer.authorize({ method, host: address.host, path, body, headers }));
  // `Headers` refuses names and values that contain a line break.
  const lines = Array.from(new Headers(headers), ([name, value]) => `${name}: ${value}\r\n`);
  return { head: `${method} ${path} HTTP/1.1\r\n${lines.join("")}`, body };
}

function withLowerCaseNames(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function toQuery({ path, query = {}, body }: TaskRequest, address: Address): string {
  const parameters = new URLSearchParams();
  // A request without a body has the members that are credentials in its query.
  const members = body === undefined ? address.members : {};
  for (const [name, value] of Object.entries({ ...query, ...address.query, ...members }))
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  if (parameters.size === 0) return "";
  // Signatures are computed over spaces that are written as %20, which every server accepts.
  return `${path.includes("?") ? "&" : "?"}${parameters.toString().replaceAll("+", "%20")}`;
}

/** Some providers expect the key in the body. It is added last, so that no other member can replace it. */
function withCredentials(body: TaskRequestBody | undefined, members: Address["members"]): TaskRequestBody | undefined {
  if (body === undefined || Object.keys(members).length === 0) return body;
  if (body.kind === "json") return { ...body, value: { ...(body.value as object), ...members } };
  if (body.kind === "form" || body.kind === "fields") return mergeFields(body, members);
  throw new Error("a credential that is a member needs a body that has members");
}

function encodeBody(body: TaskRequestBody | undefined): { content: string | Uint8Array; mediaType: string | null } {
  switch (body?.kind) {
    case undefined:
      return { content: "", mediaType: null };
    case "json":
      return { content: JSON.stringify(body.value), mediaType: body.mediaType ?? "application/json" };
    case "form": {
      const boundary = `switchyard-${crypto.randomUUID()}`;
      return { content: encodeForm(body.parts, boundary), mediaType: `multipart/form-data; boundary=${boundary}` };
    }
    case "fields":
      return { content: new URLSearchParams(body.fields).toString(), mediaType: "application/x-www-form-urlencoded" };
    case "bytes":
      return { content: body.bytes, mediaType: body.mediaType };
    case "text":
      return { content: body.text, mediaType: body.mediaType };
  }
}

function encodeForm(parts: readonly FormPart[], boundary: string): Uint8Array {
  const pieces = parts.flatMap((part) => {
    const isFile = "bytes" in part;
    const file = isFile ? `; filename="${quote(part.fileName)}"\r\ncontent-type: ${part.mediaType}` : "";
    return [
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quote(part.name)}"${file}\r\n\r\n`),
      isFile ? part.bytes : Buffer.from(part.value),
      Buffer.from("\r\n"),
    ];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** As browsers encode names in forms. */
function quote(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
