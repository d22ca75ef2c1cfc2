// Generated images in the Messages format, whose answers have no blocks of images: each of them is a block of text, a Markdown image.

import type { ChatImage } from "../../contract/chat-format.ts";

const opening = "![image](";
const openingOfData = `${opening}data:image/`;

export function toImageText({ image_url: { url } }: ChatImage): string {
  return `${opening}${url})`;
}

/** The data URL of an image that `toImageText` wrote; null for any other text. As text, it would be hundreds of thousands of tokens. */
export function readImageText(text: string): string | null {
  if (!text.startsWith(openingOfData) || !text.endsWith(")")) return null;
  const url = text.slice(opening.length, -1);
  return isDataUrl.test(url) ? url : null;
}

const isDataUrl = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]+$/;
