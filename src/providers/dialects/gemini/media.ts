// Writes images, audio and files as parts: bytes are sent inline, addresses that the vendor reads itself as they are.

import type { ChatPart } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { type Location, refuse } from "../chat-request.ts";
import { present } from "../completion.ts";
import { malformedEscape, readDataUrl, typeByName } from "../media.ts";

const youTube = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com|youtu\.be)\//;
const ownFile = /^https:\/\/generativelanguage\.googleapis\.com\/v1(?:alpha|beta)?\/files\//;

/** Addresses that only the vendor can read: they are passed on and must not be fetched. */
export function isReadByVendor(address: string): boolean {
  return address.startsWith("gs://") || youTube.test(address) || ownFile.test(address);
}

export type MediaPart = Exclude<ChatPart, { type: "text" | "refusal" }>;

export function toMediaPart(part: MediaPart, location: Location): JsonObject {
  switch (part.type) {
    case "image_url":
      return toPart(part.image_url.url, "image/jpeg", [...location, "image_url", "url"]);
    case "input_audio":
      return toInline(`audio/${part.input_audio.format.toLowerCase()}`, part.input_audio.data);
    case "file":
      return toFilePart(part.file, location);
    default: {
      const message = "This provider accepts text, image_url, input_audio and file parts";
      throw refuse([...location, "type"], message, "value_error");
    }
  }
}

function toFilePart(file: Extract<ChatPart, { type: "file" }>["file"], location: Location): JsonObject {
  const { file_data, file_id, filename } = file;
  if (file_data) {
    if (/^(?:data:|https?:|gs:)/.test(file_data))
      return toPart(file_data, typeByName(filename) ?? "application/pdf", [...location, "file", "file_data"]);
    // Base64 without a data URL has no type, so the name or the first bytes decide.
    return toInline(typeByName(filename) ?? sniff(file_data), file_data);
  }
  // The vendor knows the type of a file that it stores; a guess could contradict it.
  if (file_id && ownFile.test(file_id))
    return { fileData: present({ mimeType: typeByName(filename), fileUri: file_id }) };
  if (file_id && isReadByVendor(file_id))
    return toPart(file_id, typeByName(filename) ?? "application/pdf", [...location, "file", "file_id"]);
  const message = "A file should have file_data, or the file_id of a file that the vendor stores";
  throw refuse([...location, "file", file_id ? "file_id" : "file_data"], message, "value_error");
}

/** `fallback`: the type of an address that does not reveal it. */
function toPart(url: string, fallback: string, location: Location): JsonObject {
  const read = readDataUrl(url);
  if (read?.data === null) throw refuse(location, malformedEscape, "value_error");
  if (read !== null) return toInline(read.type || fallback, read.data);
  const mimeType = youTube.test(url) ? "video/mp4" : (typeByName(url.split(/[?#]/, 1)[0]) ?? fallback);
  return { fileData: { mimeType, fileUri: url } };
}

function toInline(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

function sniff(base64: string): string {
  if (base64.startsWith("iVBORw0KGgo")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  return "application/pdf";
}
