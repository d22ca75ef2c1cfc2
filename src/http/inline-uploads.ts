// Replaces uploads that a chat, responses or messages request names by `file_id` with their bytes, so that every provider receives them,
// whatever its format. An upload's id is a UUID; every other id belongs to the provider and is forwarded unchanged.

import { type Caller, ownerOf } from "../access/caller.ts";
import { type Problem, ValidationError } from "../errors.ts";
import { fileNotFound } from "../files/file-errors.ts";
import type { FileStore, StoredFile } from "../files/file-store.ts";
import { editMembers, scanJson } from "../lib/json-scan.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import { type JsonBody, jsonLimits } from "./read-body.ts";
import type { PrepareBody, ReserveBytes } from "./route.ts";

interface Format {
  /** The member that holds the conversation. */
  readonly member: "messages" | "input";
  /** The id that a part names, or null. */
  readonly idOf: (part: JsonObject) => unknown;
  readonly toInline: (part: JsonObject, file: InlineFile) => JsonObject;
}

interface InlineFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const maxFileBytes = 20 * 1_048_576;
const maxTotalBytes = 64 * 1_048_576;
const base64Factor = 4 / 3;
const uploadId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const chat: Format = {
  member: "messages",
  idOf: (part) => (part["type"] === "file" ? membersOf(part["file"])["file_id"] : null),
  toInline(part, file) {
    if (isImage(file)) return { type: "image_url", image_url: { url: toDataUrl(file) } };
    const { file_id: _, ...rest } = membersOf(part["file"]);
    return { ...part, file: { filename: file.name, ...rest, file_data: toDataUrl(file) } };
  },
};

const responses: Format = {
  member: "input",
  idOf: (part) => (part["type"] === "input_file" || part["type"] === "input_image" ? part["file_id"] : null),
  toInline({ file_id: _, ...part }, file) {
    if (part["type"] === "input_image") return { ...part, image_url: toDataUrl(file) };
    if (isImage(file)) return { type: "input_image", detail: "auto", image_url: toDataUrl(file) };
    return { filename: file.name, ...part, file_data: toDataUrl(file) };
  },
};

const messages: Format = {
  member: "messages",
  idOf: (part) => {
    const source = membersOf(part["source"]);
    return source["type"] === "file" ? source["file_id"] : null;
  },
  toInline(part, file) {
    const { mediaType, bytes } = file;
    if (mediaType.startsWith("text/"))
      return { ...part, source: { type: "text", media_type: "text/plain", data: bytes.toString("utf8") } };
    return { ...part, source: { type: "base64", media_type: mediaType, data: bytes.toString("base64") } };
  },
};

const formats = { chat, responses, messages };

type FormatName = keyof typeof formats;

/** For `prepare` of a route's body, and for messages of WebSockets. */
export function uploadsInliner(files: FileStore, format: FormatName): PrepareBody {
  return (body) =>
    body.text.includes('"file_id"')
      ? (caller, reserve) => inlineUploads(body, formats[format], { files, caller, reserve })
      : undefined;
}

interface InlineOptions {
  readonly files: FileStore;
  readonly caller: Caller;
  readonly reserve: ReserveBytes;
}

/** Nothing is read until the sizes of all uploads are known and the request may work on so many bytes. */
async function inlineUploads(
  body: JsonBody,
  format: Format,
  { files, caller, reserve }: InlineOptions,
): Promise<JsonBody> {
  const conversation = membersOf(body.value)[format.member];
  const named = findNamedUploads(conversation, format, ["body", format.member]);
  if (named.length === 0) return body;
  const found = new Map<string, StoredFile>();
  let totalBytes = 0;
  for (const { id, loc } of named) {
    const file = found.get(id) ?? (await files.open(id, ownerOf(caller)));
    if (file === null) throw fileNotFound();
    found.set(id, file);
    totalBytes += file.size;
    if (file.size > maxFileBytes || totalBytes > maxTotalBytes) throw tooLarge(loc);
  }
  await reserve(Math.ceil(totalBytes * base64Factor));
  const contents = new Map<string, InlineFile>();
  for (const [id, file] of found) contents.set(id, await readInline(file));
  const parts = new Map<JsonObject, JsonObject>();
  for (const { part, id } of named) parts.set(part, format.toInline(part, contents.get(id) as InlineFile));
  return withMember(body, format.member, replaceParts(conversation, parts));
}

interface NamedUpload {
  readonly part: JsonObject;
  /** In lower case. */
  readonly id: string;
  readonly loc: Problem["loc"];
}

/** Results of tools contain parts too, so every level of the conversation is searched. */
function findNamedUploads(value: unknown, format: Format, loc: Problem["loc"]): NamedUpload[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one, index) => findNamedUploads(one, format, [...loc, index]));
  const id = format.idOf(value as JsonObject);
  if (typeof id === "string" && uploadId.test(id)) return [{ part: value as JsonObject, id: id.toLowerCase(), loc }];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "content" || name === "output" ? findNamedUploads(member, format, [...loc, name]) : [],
  );
}

function replaceParts(value: unknown, parts: ReadonlyMap<JsonObject, JsonObject>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const replaced = parts.get(value as JsonObject);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((one) => replaceParts(one, parts));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceParts(member, parts)]));
}

function withMember({ text, scan, value }: JsonBody, name: string, member: unknown): JsonBody {
  const edited = editMembers(text, scan, {
    replace: [[name, JSON.stringify(member)]],
    remove: new Set(),
    append: [],
  });
  return { text: edited, scan: scanJson(edited, jsonLimits), value: { ...membersOf(value), [name]: member } };
}

async function readInline(file: StoredFile): Promise<InlineFile> {
  return { name: file.name, mediaType: file.mediaType.split(";")[0] ?? "", bytes: Buffer.from(await file.read()) };
}

function toDataUrl({ mediaType, bytes }: InlineFile): string {
  return `data:${mediaType};base64,${bytes.toString("base64")}`;
}

function isImage({ mediaType }: InlineFile): boolean {
  return mediaType.startsWith("image/");
}

function tooLarge(loc: Problem["loc"]): ValidationError {
  const msg = `An upload in a request may have at most ${maxFileBytes} bytes, and all uploads together ${maxTotalBytes}`;
  return new ValidationError([{ loc, msg, type: "file_too_large" }]);
}

function membersOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}
