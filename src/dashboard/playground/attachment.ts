// A file that is attached to a chat message.

import type { ChatPart } from "../../contract/chat-format.ts";

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  readonly dataUrl: string;
}

const audioFormats: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

/** The file as a part of a message in the chat format. */
export function toChatPart({ name, type, dataUrl }: Attachment): ChatPart {
  if (type.startsWith("image/")) return { type: "image_url", image_url: { url: dataUrl } };
  const format = audioFormats.get(type);
  if (format !== undefined)
    return { type: "input_audio", input_audio: { data: dataUrl.slice(dataUrl.indexOf(",") + 1), format } };
  return { type: "file", file: { filename: name, file_data: dataUrl } };
}
