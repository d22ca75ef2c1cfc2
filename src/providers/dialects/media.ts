// Reads the media of a chat request: data URLs, and media types by file name.

import type { ChatPart } from "../../contract/chat-format.ts";
import { lookUp } from "../../lib/look-up.ts";

export interface DataUrl {
  /** In lower case; empty when the address has none. */
  readonly type: string;
  /** In base64, whichever form the address has; null when it has a malformed percent escape. */
  readonly data: string | null;
}

export const malformedEscape = "The data URL has a malformed percent escape";

/** Null for any other address. */
export function readDataUrl(url: string): DataUrl | null {
  const head = /^data:([^,]*),/i.exec(url);
  if (head === null) return null;
  const [type = "", ...parameters] = (head[1] ?? "").split(";").map((part) => part.trim().toLowerCase());
  const data = url.slice(head[0].length);
  return { type, data: parameters.at(-1) === "base64" ? data : toBase64(data) };
}

/** Escapes stand for bytes, which need not be UTF-8. */
function toBase64(escaped: string): string | null {
  if (/%(?![0-9a-f]{2})/i.test(escaped)) return null;
  const pieces = escaped.split(/((?:%[0-9a-f]{2})+)/i);
  const bytes = pieces.map((piece, index) =>
    index % 2 === 0 ? Buffer.from(piece) : Buffer.from(piece.replaceAll("%", ""), "hex"),
  );
  return Buffer.concat(bytes).toString("base64");
}

/** Replaces the URL-safe alphabet of base64, which some vendors refuse. */
export function toPlainBase64(data: string): string {
  return data.includes("-") || data.includes("_") ? data.replaceAll("-", "+").replaceAll("_", "/") : data;
}

/** The name of the `detail` of images in the list of dropped parameters. */
export const imageDetailMember = "messages.image_url.detail";

/** Null for other parts, and for `auto`, which is the default. */
export function imageDetailOf(part: ChatPart): string | null {
  const detail = part.type === "image_url" ? part.image_url.detail : null;
  return detail && detail !== "auto" ? detail : null;
}

/** Endings that are also the name of the subtype, by the type. */
const subtypes: Readonly<Record<string, readonly string[]>> = {
  image: ["png", "jpeg", "webp", "heic", "heif", "gif"],
  text: ["html", "css", "csv", "xml"],
  application: ["pdf", "json", "yaml"],
  video: ["mp4", "webm", "mpeg"],
  audio: ["mp3", "wav", "flac", "ogg", "aac", "aiff", "m4a"],
};
const typesByEnding: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(subtypes).flatMap(([type, endings]) => endings.map((ending) => [ending, `${type}/${ending}`])),
  ),
  jpg: "image/jpeg",
  txt: "text/plain",
  md: "text/markdown",
  tsv: "text/tab-separated-values",
  yml: "application/yaml",
  mov: "video/quicktime",
};

/** The media type by the ending of a file name; undefined when the ending is unknown. */
export function typeByName(name: string | null | undefined): string | undefined {
  return lookUp(typesByEnding, name?.slice(name.lastIndexOf(".") + 1).toLowerCase() ?? "");
}
