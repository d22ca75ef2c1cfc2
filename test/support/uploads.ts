// Forms with files, byte by byte, and the calls that send them.

import { existsSync, readdirSync } from "node:fs";
import type { FileServer } from "./file-server.ts";

export const megabyte = 1_048_576;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked member by member
  readonly body: any;
}

export type Part = { readonly name?: string; readonly head?: string; readonly content: string | Uint8Array };

export const boundary = "----a-boundary-7a1f";

export const formType = `multipart/form-data; boundary=${boundary}`;

/** A form, byte by byte as we want it. */
export function formOf(parts: readonly Part[], end = `--${boundary}--\r\n`): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(({ name, head, content }) => [
    Buffer.from(`--${boundary}\r\n${head ?? `Content-Disposition: form-data; name="${name}"`}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

export function filePart(content: string | Uint8Array, fileName = "a.txt"): Part {
  return { head: `Content-Disposition: form-data; name="file"; filename="${fileName}"`, content };
}

/** The id of the file. */
export async function uploadFile(url: string, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([bytes]), "scan.png");
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v3/upload`, { method: "POST", headers, body: form });
  if (response.status !== 200) throw new Error(`the upload was answered with ${response.status}`);
  return ((await response.json()) as { file_id: string }).file_id;
}

export async function toAnswer(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export function callsOf(door: () => FileServer) {
  const call = async (key: string, method: string, path: string, body?: unknown) =>
    toAnswer(
      await fetch(`${door().url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(100_000),
      }),
    );
  const send = async (
    key: string,
    body: string | Buffer<ArrayBuffer> | ReadableStream,
    headers: Record<string, string> = { "content-type": formType },
  ) =>
    toAnswer(
      await fetch(`${door().url}/v3/upload`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, ...headers },
        body,
        signal: AbortSignal.timeout(100_000),
      }),
    );
  const upload = (key: string, content: string | Uint8Array, fileName?: string) =>
    send(key, formOf([filePart(content, fileName)]));
  return { call, send, upload };
}

/** Every file below the folder that is no row's: unfinished ones, and bytes at their place. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile() && entry.name !== "store-id").map(({ name }) => name);
}
