// Signed addresses of results of tasks: they give access without a key until they expire. The signature covers the id and the
// expiry time, so neither can be changed.

import { createHmac, timingSafeEqual } from "node:crypto";
import { lookUp } from "../lib/look-up.ts";
import type { FileStore, StoredFile } from "./file-store.ts";

export interface ResourceUrlsOptions {
  readonly secret: Uint8Array;
  readonly store: FileStore;
  /** Start of every address, such as `https://gateway.example`. Null: the address of the request that produced the result. */
  readonly baseUrl: string | null;
  readonly lifetimeMs: number;
}

export type ResourceUrls = ReturnType<typeof createResourceUrls>;

export interface PublishTarget {
  readonly base: string;
  /** Overrides the configured lifetime. */
  readonly lifetimeMs?: number;
}

export interface OpenedResource {
  readonly file: StoredFile;
  readonly expiresAt: number;
}

export const resourcePath = "/v3/resources/";
const minSecretBytes = 32;
const mediaTypePattern = /^[\w.+-]{1,64}\/[\w.+-]{1,100}(?:; ?[\w-]{1,32}=[\w.+-]{1,64})?$/;

export function createResourceUrls(options: ResourceUrlsOptions) {
  const { secret, store, baseUrl, lifetimeMs } = options;
  if (secret.length < minSecretBytes)
    throw new Error(`The secret for signed addresses needs at least ${minSecretBytes} bytes`);

  // The prefix keeps these signatures apart from other uses of the same secret.
  const sign = (id: string, expires: string) =>
    createHmac("sha256", secret).update(`resource\0${id}\0${expires}`).digest("base64url");

  return {
    /** Stores a result and returns its address. `base` is used when no public address is configured. */
    async publish(content: Uint8Array, mediaType: string, owner: string, target: PublishTarget): Promise<string> {
      const { base, lifetimeMs: own = lifetimeMs } = target;
      const record = await store.put(content, {
        owner,
        kind: "result",
        name: `result${extensionOf(mediaType)}`,
        mediaType: mediaTypePattern.test(mediaType) ? mediaType : "application/octet-stream",
        purpose: "result",
        metadata: {},
        lifetimeMs: own,
      });
      const expires = String(Math.floor(record.expiresAt / 1000));
      const root = (baseUrl ?? base).replace(/\/+$/, "");
      return `${root}${resourcePath}${record.id}?expires=${expires}&signature=${sign(record.id, expires)}`;
    },
    /** Null when the address is forged or has expired, or when its file no longer exists. The caller does not learn which. */
    async open(id: string, expires: string, signature: string): Promise<OpenedResource | null> {
      const expected = Buffer.from(sign(id, expires));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      const expiresAt = Number(expires) * 1000;
      if (!(expiresAt > Date.now())) return null;
      const file = await store.openResult(id);
      return file === null ? null : { file, expiresAt };
    },
  };
}

const office = "application/vnd.openxmlformats-officedocument.";
/** Types whose extension is their subtype. */
const namedBySubtype =
  /^(?:image\/(?:png|webp|gif|avif|tiff)|audio\/(?:wav|ogg|flac|aac)|video\/(?:mp4|webm)|application\/(?:pdf|json|zip)|text\/(?:html|csv))$/;
const otherExtensions: Readonly<Record<string, string>> = {
  "image/jpeg": ".jpg",
  "image/svg+xml": ".svg",
  "audio/mpeg": ".mp3",
  "audio/mp4": ".m4a",
  "video/quicktime": ".mov",
  [`${office}wordprocessingml.document`]: ".docx",
  [`${office}spreadsheetml.sheet`]: ".xlsx",
  [`${office}presentationml.presentation`]: ".pptx",
  "text/plain": ".txt",
};

function extensionOf(mediaType: string): string {
  const [essence = ""] = mediaType.toLowerCase().split(";", 1);
  const type = essence.trim();
  return namedBySubtype.test(type) ? type.replace(/^.*\//, ".") : (lookUp(otherExtensions, type) ?? "");
}
