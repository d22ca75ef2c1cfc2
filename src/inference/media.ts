// Fetches the addresses of images and files in a chat request through egress, and replaces them by their content, for providers that
// need bytes.

import type { ChatContent, ChatMessage, ChatPart, ChatRequest } from "../contract/chat-format.ts";
import type { Downloads } from "../egress/download-budget.ts";
import type { Egress } from "../egress/egress.ts";
import { EgressError } from "../egress/egress-error.ts";
import { fetchMedia, type Media, toDataUrl } from "../egress/media.ts";
import type { MediaKind } from "../egress/media-type.ts";
import { type Problem, ValidationError } from "../errors.ts";
import { startDeadline } from "../lib/deadline.ts";
import { CallerLeft, type Connection } from "../providers/call.ts";
import type { RequestContext } from "./request-context.ts";

/** Whether the gateway has to fetch the address, because the provider does not. */
export type MustFetch = (url: string, kind: "image" | "file") => boolean;

export type FetchMedia = (request: ChatRequest, mustFetch: MustFetch, limits: MediaLimits) => Promise<ChatRequest>;

/** The chat format allows the address of an image, but not that of a file. */
export const mustFetchFiles: MustFetch = (_, kind) => kind === "file";

/** `fetchesMedia` is declared by the dialect. */
export function toMustFetch(fetchesMedia: boolean | ((url: string) => boolean)): MustFetch {
  return typeof fetchesMedia === "boolean" ? (_, kind) => fetchesMedia || kind === "file" : fetchesMedia;
}

/** Of the request that names the addresses. */
export interface MediaLimits extends Pick<RequestContext, "caller" | "trace"> {
  /** Further attempts for the same connection reuse the fetched content. */
  readonly connection: Connection;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
}

const maxBytes = 20 * 1_048_576;
const maxTotalBytes = 64 * 1_048_576;
const mostAddresses = 32;
const concurrency = 4;
const maxFetchMs = 30_000;

const imageKinds: readonly MediaKind[] = ["image"];
const fileKinds: readonly MediaKind[] = ["document", "text", "image", "audio", "video"];

interface Address {
  readonly url: string;
  readonly kinds: readonly MediaKind[];
  readonly loc: Problem["loc"];
}

/** By address: its content as a data URL, or the reason why it could not be fetched. */
type Found = Map<string, string | ValidationError>;

export function createFetchMedia(egress: Egress): FetchMedia {
  const known = new WeakMap<Connection, Found>();

  return async (request, mustFetch, limits) => {
    const addresses = findAddresses(request, mustFetch);
    const [first] = addresses;
    if (first === undefined) return request;
    if (addresses.length > mostAddresses)
      throw refused(first.loc, `A request may name at most ${mostAddresses} addresses for this provider`, "too_long");
    const found = known.get(limits.connection) ?? new Map();
    known.set(limits.connection, found);
    await fetchAll(addresses, found, limits);
    const messages = request.messages.map((message) => withFound(message, found));
    return { ...request, messages };
  };

  /** An address that occurs twice is fetched once. */
  async function fetchAll(addresses: readonly Address[], found: Found, limits: MediaLimits): Promise<void> {
    for (const { url } of addresses) {
      const known = found.get(url);
      if (known instanceof ValidationError) throw known;
    }
    const missing = addresses.filter(({ url }) => !found.has(url));
    const waiting = [...new Map(missing.map((address) => [address.url, address])).values()];
    const stop = new AbortController();
    using download = startDeadline({ signals: [limits.connection.signal, stop.signal] });
    const downloads = limits.trace.openDownloads(() => egress.openDownloads(limits.caller.keyId));
    let totalBytes = 0;
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const media = await fetchOne(next, found, { signal: download.signal, deadline: limits.deadline, downloads });
        totalBytes += media.bytes.length;
        if (totalBytes > maxTotalBytes)
          throw refused(next.loc, `The files together are larger than ${maxTotalBytes} bytes`, "too_large");
        found.set(next.url, encode(media, downloads));
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, work));
    } catch (error) {
      // The request fails, so the other downloads are not needed.
      stop.abort();
      throw limits.connection.signal.aborted ? new CallerLeft() : error;
    }
  }

  async function fetchOne(
    { url, kinds, loc }: Address,
    found: Found,
    { signal, deadline, downloads }: { signal: AbortSignal; deadline: number; downloads: Downloads },
  ) {
    const timeoutMs = Math.max(1, Math.min(maxFetchMs, deadline - performance.now()));
    try {
      return await fetchMedia(egress, url, { kinds, maxBytes, timeoutMs, signal, downloads });
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      const failure = refused(loc, error.message, typeOf(error));
      found.set(url, failure);
      throw failure;
    }
  }
}

/** The data URL is held instead of the bytes. */
function encode(media: Media, downloads: Downloads): string {
  downloads.add(Math.ceil(media.bytes.length / 3) * 4);
  downloads.remove(media.bytes.length);
  return toDataUrl(media);
}

function typeOf({ code }: EgressError): string {
  if (code === "too_many_redirects") return "url_fetch_failed";
  return code === "url_not_allowed" ? code : `url_${code}`;
}

function findAddresses({ messages }: ChatRequest, mustFetch: MustFetch): Address[] {
  const addresses: Address[] = [];
  for (const [index, { content }] of messages.entries()) {
    if (typeof content === "string" || !content) continue;
    for (const [partIndex, part] of content.entries()) {
      const loc = ["body", "messages", index, "content", partIndex];
      const url = addressOf(part);
      const kind = part.type === "file" ? "file" : "image";
      if (url === null || !mustFetch(url, kind)) continue;
      if (kind === "file") addresses.push({ url, kinds: fileKinds, loc: [...loc, "file", "file_data"] });
      else addresses.push({ url, kinds: imageKinds, loc: [...loc, "image_url", "url"] });
    }
  }
  return addresses;
}

function addressOf(part: ChatPart): string | null {
  const text = part.type === "image_url" ? part.image_url.url : part.type === "file" ? (part.file.file_data ?? "") : "";
  return /^https?:/i.test(text) ? text : null;
}

function withFound(message: ChatMessage, found: Found): ChatMessage {
  const { content } = message;
  if (typeof content === "string" || !content) return message;
  return { ...message, content: content.map((part) => toFound(part, found)) as ChatContent } as ChatMessage;
}

function toFound(part: ChatPart, found: Found): ChatPart {
  const dataUrl = found.get(addressOf(part) ?? "");
  if (typeof dataUrl !== "string") return part;
  if (part.type === "image_url") return { ...part, image_url: { ...part.image_url, url: dataUrl } };
  return part.type === "file" ? { ...part, file: { ...part.file, file_data: dataUrl } } : part;
}

function refused(loc: Problem["loc"], msg: string, type: string): ValidationError {
  return new ValidationError([{ loc, msg, type }]);
}
