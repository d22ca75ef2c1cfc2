// Writes images, documents, audio and video as blocks of Converse. The vendor requires bytes, so addresses have already been fetched and are
// data URLs here.

import type { ChatPart } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { type Location, refuse } from "../chat-request.ts";
import { malformedEscape, readDataUrl, toPlainBase64 } from "../media.ts";

type Kind = "image" | "document" | "audio" | "video";

interface Format {
  readonly kind: Kind;
  readonly format: string;
}

const formats: readonly (readonly [kind: Kind, format: string, types: readonly string[]])[] = [
  ["image", "png", ["image/png"]],
  ["image", "jpeg", ["image/jpeg", "image/jpg"]],
  ["image", "gif", ["image/gif"]],
  ["image", "webp", ["image/webp"]],
  ["document", "pdf", ["application/pdf"]],
  ["document", "csv", ["text/csv"]],
  ["document", "doc", ["application/msword"]],
  ["document", "docx", ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]],
  ["document", "xls", ["application/vnd.ms-excel"]],
  ["document", "xlsx", ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"]],
  ["document", "html", ["text/html"]],
  ["document", "md", ["text/markdown", "text/x-markdown"]],
  ["document", "txt", ["text/plain"]],
  ["audio", "mp3", ["audio/mpeg", "audio/mp3"]],
  ["audio", "wav", ["audio/wav", "audio/x-wav", "audio/wave"]],
  ["audio", "flac", ["audio/flac", "audio/x-flac"]],
  ["audio", "ogg", ["audio/ogg"]],
  ["audio", "opus", ["audio/opus"]],
  ["audio", "aac", ["audio/aac"]],
  ["audio", "m4a", ["audio/mp4", "audio/m4a", "audio/x-m4a"]],
  ["audio", "webm", ["audio/webm"]],
  ["audio", "pcm", ["audio/pcm"]],
  ["video", "mp4", ["video/mp4"]],
  ["video", "mov", ["video/quicktime"]],
  ["video", "mkv", ["video/x-matroska"]],
  ["video", "webm", ["video/webm"]],
  ["video", "flv", ["video/x-flv"]],
  ["video", "mpeg", ["video/mpeg"]],
  ["video", "wmv", ["video/x-ms-wmv"]],
  ["video", "three_gp", ["video/3gpp"]],
];
const byType = new Map(formats.flatMap(([kind, format, types]) => types.map((type) => [type, { kind, format }])));
const byEnding = new Map<string, Format>([
  ...formats.map(([kind, format]) => [format, { kind, format }] as const).toReversed(),
  ["jpg", { kind: "image", format: "jpeg" }],
  ["htm", { kind: "document", format: "html" }],
]);
const audioFormats = new Set(formats.filter(([kind]) => kind === "audio").map(([, format]) => format));

/** The names of documents must be unique within a request. */
export type DocumentNames = Set<string>;

type MediaPart = Extract<ChatPart, { readonly type: "image_url" | "input_audio" | "file" }>;

export function toMediaBlock(part: MediaPart, location: Location, names: DocumentNames): JsonObject {
  switch (part.type) {
    case "image_url": {
      const at = [...location, "image_url", "url"];
      const { type, data } = requireDataUrl(part.image_url.url, at);
      const found = byType.get(type);
      if (found?.kind !== "image") throw refuse(at, "The image should be a PNG, JPEG, GIF or WebP", "value_error");
      return block(found, data);
    }
    case "input_audio": {
      const { format, data } = part.input_audio;
      const at = [...location, "input_audio", "format"];
      if (!audioFormats.has(format)) throw refuse(at, `Audio of format '${format}' is not supported`, "value_error");
      return block({ kind: "audio", format }, data);
    }
    case "file":
      return toFileBlock(part, [...location, "file"], names);
  }
}

function toFileBlock(part: Extract<ChatPart, { type: "file" }>, location: Location, names: DocumentNames): JsonObject {
  const { file_data: fileData, filename } = part.file;
  const at = [...location, "file_data"];
  if (!fileData) throw refuse(at, "file_data is required", "value_error");
  const { type, data } = fileData.startsWith("data:") ? requireDataUrl(fileData, at) : { type: "", data: fileData };
  const ending = filename?.split(".").at(-1)?.toLowerCase() ?? "";
  const found =
    byType.get(type) ?? byEnding.get(ending) ?? (type.startsWith("text/") ? byEnding.get("txt") : undefined);
  if (found === undefined) throw refuse(at, `Files of type '${type || ending}' are not supported`, "value_error");
  return block(found, data, found.kind === "document" ? nameDocument(filename ?? "", names) : null);
}

function block({ kind, format }: Format, data: string, name: string | null = null): JsonObject {
  return { [kind]: { format, ...(name === null ? {} : { name }), source: { bytes: toPlainBase64(data) } } };
}

/** A name may have letters, digits, single spaces, hyphens, parentheses and square brackets. */
function nameDocument(filename: string, names: DocumentNames): string {
  const stem = filename.replace(/\.[^.]*$/, "").replace(/[^a-zA-Z0-9 ()[\]-]+/g, "-");
  const clean = stem.replace(/ +/g, " ").trim().slice(0, 180) || "document";
  let name = clean;
  for (let number = 2; names.has(name); number += 1) name = `${clean} (${number})`;
  names.add(name);
  return name;
}

function requireDataUrl(url: string, location: Location): { type: string; data: string } {
  const read = readDataUrl(url);
  if (read === null) throw refuse(location, "Input should be a data URL", "value_error");
  const { type, data } = read;
  if (data === null) throw refuse(location, malformedEscape, "value_error");
  return { type, data };
}
