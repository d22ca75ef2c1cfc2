// Fetches a file that a caller named by URL, through the egress client. Its media type is detected from its bytes.

import type { EgressProtocol } from "./caller-url.ts";
import type { Downloads } from "./download-budget.ts";
import type { Egress } from "./egress.ts";
import { EgressError } from "./egress-error.ts";
import { detectMediaType, type MediaKind } from "./media-type.ts";

export interface MediaWish {
  readonly kinds: readonly MediaKind[];
  readonly maxBytes: number;
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Default: https only. */
  readonly protocols?: readonly EgressProtocol[];
  /** Counts the file until the request that named it ends. */
  readonly downloads?: Downloads;
  readonly signal?: AbortSignal;
}

export interface Media {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

const maxRedirects = 3;
const defaultTimeoutMs = 30_000;
const defaultConnectTimeoutMs = 10_000;

export async function fetchMedia(egress: Egress, url: string, wish: MediaWish): Promise<Media> {
  const { status, body } = await egress.fetch(url, {
    timeoutMs: defaultTimeoutMs,
    connectTimeoutMs: defaultConnectTimeoutMs,
    redirects: maxRedirects,
    ...wish,
  });
  if (status !== 200) throw new EgressError("bad_response", `The server answered with status ${status}`, { status });
  const detected = detectMediaType(body);
  if (detected === null || !detected.kinds.some((kind) => wish.kinds.includes(kind)))
    throw new EgressError("bad_response", `The file is not of a known kind of ${wish.kinds.join(" or ")}`, { status });
  return { bytes: body, mediaType: detected.mediaType };
}

export function toDataUrl({ bytes, mediaType }: Media): string {
  return `data:${mediaType};base64,${bytes.toString("base64")}`;
}
