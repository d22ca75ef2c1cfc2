// Images and files of a message as the vendor's blocks. The vendor fetches addresses itself.

import type { ChatPart } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { TranslationReport } from "../../translation-report.ts";

export type Block = { type: string; [member: string]: unknown };

type Place = readonly (string | number)[];
type ImagePart = Extract<ChatPart, { type: "image_url" }>;
type FilePart = Extract<ChatPart, { type: "file" }>;

const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

const typesByEnding: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  html: "text/html",
  xml: "application/xml",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
};

export function toImageBlock(part: ImagePart, place: Place, report: TranslationReport): Block | null {
  const { url } = part.image_url;
  if (!url.startsWith("data:")) return { type: "image", source: { type: "url", url } };
  const { mediaType, data } = readDataUrl(url);
  return toDataBlock(mediaType, data, null, () =>
    report.invalid([...place, "image_url", "url"], "The image should be a JPEG, PNG, GIF or WebP"),
  );
}

export function toFileBlock(part: FilePart, place: Place, report: TranslationReport): Block | null {
  const { file_data: fileData, filename = null } = part.file;
  if (!fileData) {
    report.unsupported([...place, "file"], "This provider takes a file by its data only: file_data should be given");
    return null;
  }
  if (fileData.startsWith("https://"))
    return { type: "document", source: { type: "url", url: fileData }, ...(filename ? { title: filename } : {}) };
  const { mediaType, data } = fileData.startsWith("data:") ? readDataUrl(fileData) : { mediaType: "", data: fileData };
  return toDataBlock(mediaType || guessType(filename, data), data, filename, () =>
    report.unsupported([...place, "file", "file_data"], "The file should be a PDF, a text or an image"),
  );
}

function toDataBlock(mediaType: string, data: string, title: string | null, refuse: () => void): Block | null {
  const type = mediaType === "image/jpg" ? "image/jpeg" : mediaType;
  if (imageTypes.has(type))
    return { type: "image", source: { type: "base64", media_type: type, data: toBase64(data) } };
  const document = { type: "document", ...(title ? { title } : {}) };
  if (type === "application/pdf")
    return { ...document, source: { type: "base64", media_type: type, data: toBase64(data) } };
  if (isText(type)) {
    const text = Buffer.from(data, "base64").toString("utf8");
    return { ...document, source: { type: "text", media_type: "text/plain", data: text } };
  }
  refuse();
  return null;
}

function isText(type: string): boolean {
  return type.startsWith("text/") || /^application\/(?:json|xml|yaml|x-yaml|javascript|.*\+(?:json|xml))$/.test(type);
}

function readDataUrl(url: string): { mediaType: string; data: string } {
  const comma = url.indexOf(",");
  const [mediaType = ""] = url.slice("data:".length, comma).split(";");
  return { mediaType: mediaType.trim().toLowerCase(), data: url.slice(comma + 1) };
}

function guessType(filename: string | null, data: string): string {
  // "%PDF-", as base64 begins.
  if (data.startsWith("JVBERi")) return "application/pdf";
  const ending = filename?.slice(filename.lastIndexOf(".") + 1).toLowerCase() ?? "";
  return lookUp(typesByEnding, ending) ?? "";
}

/** The vendor knows the plain alphabet only. */
function toBase64(data: string): string {
  return data.includes("-") || data.includes("_") ? data.replaceAll("-", "+").replaceAll("_", "/") : data;
}
