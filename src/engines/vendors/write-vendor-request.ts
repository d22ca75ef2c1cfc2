// How a task's request goes over the wire: path, query, headers, body and credentials.

import { ValidationError } from "../../errors.ts";
import type { Address } from "../../providers/deployment.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { FormPart, TaskRequest, TaskRequestBody } from "../../providers/task.ts";

// A name that a caller chose may stand in a path: it must not become another path, or another request.
const unsafePath = /[^\x21-\x7e]|#|\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

interface Written {
  readonly head: string;
  readonly body: string | Uint8Array;
}

/** The head and the body of a request, with the credentials of the address. */
export async function writeVendorRequest(request: TaskRequest, address: Address): Promise<Written> {
  const { method = "POST" } = request;
  if (unsafePath.test(request.path))
    throw new ValidationError([
      { loc: ["body"], msg: "A name in it can be no part of an address", type: "value_error" },
    ]);
  const { content, mediaType } = encodeBody(withMembers(request.body, address.members));
  const path = `${address.basePath}${request.path}${toQuery(request, address)}`;
  const headers: Record<string, string> = {
    host: address.host,
    accept: "application/json",
    // Compressed bytes would have to be taken apart before they can be limited.
    "accept-encoding": "identity",
    "user-agent": "Switchyard/1",
    ...(mediaType === null ? {} : { "content-type": mediaType }),
    ...lowerCase(request.headers),
    ...lowerCase(address.headers),
  };
  if (address.authorizer !== null) {
    const made = await address.authorizer.authorize({ method, host: address.host, path, body: content, headers });
    Object.assign(headers, made);
  }
  // `Headers` refuses names and values that would not stay on their line.
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (const [name, value] of new Headers(headers)) head += `${name}: ${value}\r\n`;
  return { head, body: content };
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function toQuery({ path, query = {} }: TaskRequest, address: Address): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...address.query }))
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  if (parameters.size === 0) return "";
  // A signature is made over spaces that are written as %20; everybody understands that.
  return `${path.includes("?") ? "&" : "?"}${parameters.toString().replaceAll("+", "%20")}`;
}

/** Some vendors want the key inside the body. It is put there last, so that nothing takes its place. */
function withMembers(body: TaskRequestBody | undefined, members: Address["members"]): TaskRequestBody | undefined {
  if (Object.keys(members).length === 0) return body;
  switch (body?.kind) {
    case "json":
      return { ...body, value: { ...(body.value as JsonObject), ...members } };
    case "form": {
      const others = body.parts.filter((part) => !Object.hasOwn(members, part.name));
      return { ...body, parts: [...others, ...Object.entries(members).map(([name, value]) => ({ name, value }))] };
    }
    case "fields":
      return { ...body, fields: { ...body.fields, ...members } };
    default:
      throw new Error("a credential that is a member needs a body that has members");
  }
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
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const isFile = "bytes" in part;
    const file = isFile ? `; filename="${quote(part.fileName)}"\r\ncontent-type: ${part.mediaType}` : "";
    pieces.push(
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quote(part.name)}"${file}\r\n\r\n`),
      isFile ? part.bytes : Buffer.from(part.value),
      Buffer.from("\r\n"),
    );
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(pieces);
}

/** As browsers write names in forms. */
function quote(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
