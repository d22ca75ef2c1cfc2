// The file of a task as a part of a chat message: images as data URLs, PDFs as files, plain text as text.

import type { ChatPart } from "../../contract/chat-format.ts";
import { ValidationError } from "../../errors.ts";
import type { ModelFacts } from "../../providers/provider.ts";
import type { InputFile } from "../engine.ts";
import type { Reading } from "./definition.ts";

export type Attachment = { readonly part: ChatPart } | { readonly text: string };

export interface Reader {
  /** `<provider>/<model>` */
  readonly name: string;
  /** Null: nothing is known about the model, so it is tried. */
  readonly facts: ModelFacts | null;
}

const imageTypes: readonly string[] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const pdf = "application/pdf";
/** About the limit of the vendors for one request, before base64. */
const maxBytes = 20 * 1_048_576;

export async function attach(file: InputFile, reads: Reading, reader: Reader): Promise<Attachment> {
  const { mediaType, name, size } = file;
  if (size > maxBytes)
    throw refused("too_large", `The file is larger than the ${maxBytes} bytes that a chat model is sent`);
  const takesDocuments = reads === "document" || reads === "pdf";
  if (takesDocuments && mediaType === pdf) {
    refuseUnable(reader, "file", "PDF files");
    const data = await readBase64(file);
    return { part: { type: "file", file: { filename: toPdfName(name), file_data: `data:${pdf};base64,${data}` } } };
  }
  if (reads !== "pdf" && imageTypes.includes(mediaType)) {
    refuseUnable(reader, "image", "images");
    return { part: { type: "image_url", image_url: { url: `data:${mediaType};base64,${await readBase64(file)}` } } };
  }
  if (reads === "document" && mediaType.startsWith("text/"))
    return { text: new TextDecoder().decode(await file.read()) };
  const wanted =
    reads === "pdf" ? "a PDF" : `a PNG, JPEG, WebP or GIF image${takesDocuments ? ", a PDF or a text" : ""}`;
  throw refused("unsupported_media_type", `The file should be ${wanted}, and is of type ${mediaType}`);
}

export interface VideoFrame {
  /** In seconds. */
  readonly time: number;
  /** In base64. */
  readonly jpeg: string;
}

/** The frames of a video as images, in the order of time. */
export function attachFrames(frames: readonly VideoFrame[], reader: Reader): readonly ChatPart[] {
  refuseUnable(reader, "image", "images");
  return frames.map(({ jpeg }) => ({ type: "image_url", image_url: { url: `data:image/jpeg;base64,${jpeg}` } }));
}

/** A model whose documentation does not state its input is tried. */
function refuseUnable({ name, facts }: Reader, modality: "image" | "file", what: string): void {
  if (facts?.input === undefined || facts.input.includes(modality)) return;
  const others = modality === "file" ? "; send its pages as images, or name a model that does" : "";
  throw refused("unsupported_media_type", `The model '${name}' does not read ${what}${others}`);
}

/** Some vendors read the type of a file from its name. */
function toPdfName(name: string): string {
  return name.toLowerCase().endsWith(".pdf") ? name : `${name || "document"}.pdf`;
}

async function readBase64(file: InputFile): Promise<string> {
  return Buffer.from(await file.read()).toString("base64");
}

function refused(type: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", "file"], msg, type }]);
}
