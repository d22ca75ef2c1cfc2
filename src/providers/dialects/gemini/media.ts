// Images, sound and files as parts: bytes go inline, addresses that the vendor reads itself go as they are.

import type { ChatPart } from "../../../contract/chat-format.ts";
import type { Problem } from "../../../errors.ts";
import type { JsonObject } from "../../dialect.ts";
import { present } from "../completion.ts";
import { refuse } from "./refuse.ts";

type Loc = Problem["loc"];

const typesByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
  gif: "image/gif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  css: "text/css",
  csv: "text/csv",
  xml: "text/xml",
  json: "application/json",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpeg: "video/mpeg",
  mp3: "audio/mp3",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  aac: "audio/aac",
  aiff: "audio/aiff",
  m4a: "audio/m4a",
};

const youTube = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com|youtu\.be)\//;
const ownFile = /^https:\/\/generativelanguage\.googleapis\.com\/v1(?:alpha|beta)?\/files\//;

/** Addresses that only the vendor can read: they are handed on and must not be fetched. */
export function isReadByVendor(address: string): boolean {
  return address.startsWith("gs://") || youTube.test(address) || ownFile.test(address);
}

export function toMediaPart(part: Exclude<ChatPart, { type: "text" | "refusal" }>, loc: Loc): JsonObject {
  switch (part.type) {
    case "image_url":
      return toPart(part.image_url.url, "image/jpeg");
    case "input_audio":
      return toInline(`audio/${part.input_audio.format.toLowerCase()}`, part.input_audio.data);
    case "file":
      return toFilePart(part.file, loc);
    default:
      return refuse([...loc, "type"], "This provider takes text, image_url, input_audio and file parts");
  }
}

function toFilePart(file: Extract<ChatPart, { type: "file" }>["file"], loc: Loc): JsonObject {
  const { file_data, file_id, filename } = file;
  if (file_data) {
    if (/^(?:data:|https?:|gs:)/.test(file_data)) return toPart(file_data, typeByName(filename) ?? "application/pdf");
    // Bare base64 says nothing of its type: the name does, or the file's first bytes.
    return toInline(typeByName(filename) ?? sniff(file_data), file_data);
  }
  // The vendor knows the type of a file that it stores. A guess could contradict it.
  if (file_id && ownFile.test(file_id))
    return { fileData: present({ mimeType: typeByName(filename), fileUri: file_id }) };
  if (file_id && isReadByVendor(file_id)) return toPart(file_id, typeByName(filename) ?? "application/pdf");
  return refuse(
    [...loc, "file", file_id ? "file_id" : "file_data"],
    "A file should hold its data, or name one that is known",
  );
}

/** `fallback`: the type of an address that does not show it. */
function toPart(url: string, fallback: string): JsonObject {
  if (!url.startsWith("data:")) {
    const mimeType = youTube.test(url) ? "video/mp4" : (typeByName(url.split(/[?#]/, 1)[0]) ?? fallback);
    return { fileData: { mimeType, fileUri: url } };
  }
  const comma = url.indexOf(",");
  const type = url.slice("data:".length, comma).split(";", 1)[0];
  return toInline(type || fallback, url.slice(comma + 1));
}

function toInline(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

function typeByName(name: string | null | undefined): string | undefined {
  const ending = name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return Object.hasOwn(typesByEnding, ending) ? typesByEnding[ending] : undefined;
}

function sniff(base64: string): string {
  if (base64.startsWith("iVBORw0KGgo")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  return "application/pdf";
}
