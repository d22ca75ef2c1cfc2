// Files for a message, read in the browser.

import { formatBytes } from "../lib/format.ts";
import type { Attachment } from "./attachment.ts";

const maxAttachments = 10;
/** Of all files of a message. As text they are a third larger, and the gateway reads 20 MB. */
const maxTotalBytes = 12_000_000;

export interface ReadAttachments {
  readonly attachments: readonly Attachment[];
  /** Why some files were left out; null: none was. */
  readonly problem: string | null;
}

/** `before`: the files that the message has already. */
export async function readAttachments(files: Iterable<File>, before: readonly Attachment[]): Promise<ReadAttachments> {
  const attachments: Attachment[] = [];
  let total = before.reduce((sum, { bytes }) => sum + bytes, 0);
  let problem: string | null = null;
  for (const file of files) {
    if (before.length + attachments.length >= maxAttachments) {
      problem = `A message has at most ${maxAttachments} files.`;
      break;
    }
    if (total + file.size > maxTotalBytes) {
      problem = `${file.name} is too large: the files of a message have at most ${formatBytes(maxTotalBytes)}.`;
      continue;
    }
    const dataUrl = await toDataUrl(file).catch(() => null);
    if (dataUrl === null) {
      problem = `${file.name} cannot be read. It may have been moved or changed since it was chosen.`;
      continue;
    }
    total += file.size;
    attachments.push({
      id: crypto.randomUUID(),
      name: file.name || "pasted file",
      type: file.type || "application/octet-stream",
      bytes: file.size,
      dataUrl,
    });
  }
  return { attachments, problem };
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      // A type such as `text/plain;charset=utf-8` would stand before the data.
      const data = String(reader.result);
      resolve(
        `data:${file.type.split(";", 1)[0] || "application/octet-stream"};base64,${data.slice(data.indexOf(",") + 1)}`,
      );
    };
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
