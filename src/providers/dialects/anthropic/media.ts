// Writes images and files of a message as the vendor's blocks. The vendor fetches addresses itself.

import type { ChatPart } from "../../../contract/chat-format.ts";
import type { Path, TranslationReport } from "../../translation-report.ts";
import { filled } from "../completion.ts";
import { malformedEscape, readDataUrl, toPlainBase64, typeByName } from "../media.ts";

export type Block = { type: string; [member: string]: unknown };

type ImagePart = Extract<ChatPart, { type: "image_url" }>;
type FilePart = Extract<ChatPart, { type: "file" }>;

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export function toImageBlock({ image_url: { url } }: ImagePart, path: Path, report: TranslationReport): Block | null {
  const read = readDataUrl(url);
  if (read === null) return { type: "image", source: { type: "url", url } };
  const location = [...path, "image_url", "url"];
  if (read.data === null) {
    report.invalid(location, malformedEscape);
    return null;
  }
  const block = toDataBlock(read.type, read.data, null);
  if (block === null) report.invalid(location, "The image should be a JPEG, PNG, GIF or WebP");
  return block;
}

export function toFileBlock({ file }: FilePart, path: Path, report: TranslationReport): Block | null {
  const { file_data: fileData, filename = null } = file;
  if (!fileData) {
    report.unsupported([...path, "file"], "This provider accepts a file only as file_data");
    return null;
  }
  if (fileData.startsWith("https://"))
    return { type: "document", source: { type: "url", url: fileData }, ...filled({ title: filename }) };
  const { type, data } = readDataUrl(fileData) ?? { type: "", data: fileData };
  const location = [...path, "file", "file_data"];
  if (data === null) {
    report.invalid(location, malformedEscape);
    return null;
  }
  const block = toDataBlock(type || guessType(filename, data), data, filename);
  if (block === null) report.unsupported(location, "The file should be a PDF, a text or an image");
  return block;
}

/** Null for a type that the vendor does not accept. */
function toDataBlock(mediaType: string, data: string, title: string | null): Block | null {
  const type = mediaType === "image/jpg" ? "image/jpeg" : mediaType;
  const source = { type: "base64", media_type: type, data: toPlainBase64(data) };
  if (imageTypes.has(type)) return { type: "image", source };
  const document = { type: "document", ...filled({ title }) };
  if (type === "application/pdf") return { ...document, source };
  if (!isText(type)) return null;
  const text = Buffer.from(data, "base64").toString("utf8");
  return { ...document, source: { type: "text", media_type: "text/plain", data: text } };
}

function isText(type: string): boolean {
  return type.startsWith("text/") || /^application\/(?:json|xml|yaml|x-yaml|javascript|.*\+(?:json|xml))$/.test(type);
}

function guessType(filename: string | null, data: string): string {
  // "%PDF-" in base64.
  return data.startsWith("JVBERi") ? "application/pdf" : (typeByName(filename) ?? "");
}
