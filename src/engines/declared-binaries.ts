// Binary results in the output of a declared provider: base64, a `data:` URL, or an address that is fetched. Callers get the gateway's own
// copy, whose address is valid for the documented time.

import type { EgressAnswer } from "../egress/egress.ts";
import { detectMediaType, type MediaKind } from "../egress/media-type.ts";
import { GatewayError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/lenient-json.ts";
import type { BinaryResult, TaskResult } from "./engine.ts";

export interface DeclaredOutput {
  /** The output schema of the task. */
  readonly schema: JsonObject;
  readonly output: JsonObject;
  /** The provider's name. */
  readonly provider: string;
  /** All files together. */
  readonly maxBytes: number;
  /** Throws a GatewayError. */
  readonly fetchResult: (url: string, maxBytes: number) => Promise<EgressAnswer>;
}

interface Binary {
  /** Members that may hold the bytes as base64: the one that the schema has, otherwise the first, which is then removed. */
  readonly bytesMembers: readonly string[];
  /** Null: any kind of document. */
  readonly kind: MediaKind | null;
}

/** By the member that holds the address. */
export const binaryMembers: Readonly<Record<string, Binary>> = {
  audio_resource_url: { bytesMembers: ["audio"], kind: "audio" },
  image_resource_url: { bytesMembers: ["image", "image_b64"], kind: "image" },
  video_resource_url: { bytesMembers: ["video"], kind: "video" },
  document_resource_url: { bytesMembers: ["file"], kind: null },
  document_url: { bytesMembers: ["document"], kind: null },
};

type Path = readonly (string | number)[];

/** Where the output may contain a binary result. */
interface Slot {
  readonly parent: Record<string, unknown>;
  readonly path: Path;
  readonly urlMember: string;
  readonly bytesMember: string;
  readonly isInSchema: boolean;
  readonly kind: MediaKind | null;
}

interface Content {
  readonly bytes: Buffer;
  /** The media type that the provider states. */
  readonly stated: string;
}

const unknownType = "application/octet-stream";

export async function takeBinaries(declared: DeclaredOutput): Promise<Pick<TaskResult, "output" | "binaries">> {
  const output = copyOf(declared.output) as Record<string, unknown>;
  const binaries: BinaryResult[] = [];
  let remainingBytes = declared.maxBytes;
  for (const slot of findSlots(declared.schema, output, [])) {
    const { parent, path, urlMember, bytesMember, isInSchema } = slot;
    const content = await readContent(slot, declared, remainingBytes);
    if (content === null) continue;
    remainingBytes = Math.max(0, remainingBytes - content.bytes.length);
    // The gateway fills in both again.
    delete parent[bytesMember];
    delete parent[urlMember];
    binaries.push({
      base64Path: isInSchema ? [...path, bytesMember] : null,
      urlPath: [...path, urlMember],
      bytes: content.bytes,
      mediaType: typeOf(content, slot, declared.provider),
    });
  }
  return binaries.length === 0 ? { output } : { output, binaries };
}

/** A copy that shares its strings, which may be large, with the original. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
}

function findSlots(schema: unknown, value: unknown, path: Path): Slot[] {
  if (!isObject(schema)) return [];
  if (Array.isArray(value)) return value.flatMap((one, index) => findSlots(schema["items"], one, [...path, index]));
  const properties = schema["properties"];
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const binary = Object.hasOwn(binaryMembers, name) ? binaryMembers[name] : undefined;
    if (binary === undefined) return findSlots(inner, value[name], [...path, name]);
    const { bytesMembers, kind } = binary;
    const own = bytesMembers.find((member) => Object.hasOwn(properties, member));
    const bytesMember = own ?? bytesMembers[0] ?? name;
    return [{ parent: value, path, urlMember: name, bytesMember, isInSchema: own !== undefined, kind }];
  });
}

/** The bytes in the answer, otherwise those at the address. Null: there is neither; the schema decides whether that is allowed. */
async function readContent(
  { parent, bytesMember, urlMember }: Slot,
  { provider, fetchResult }: DeclaredOutput,
  maxBytes: number,
): Promise<Content | null> {
  const [text, url] = [parent[bytesMember], parent[urlMember]];
  if (typeof text === "string" && text !== "") {
    const content = decodeUrl(text) ?? decodeBase64(text);
    return refuseUnusable(content, provider, bytesMember, "is not base64");
  }
  if (typeof url !== "string") return null;
  if (!/^https?:\/\//i.test(url))
    return refuseUnusable(decodeUrl(url), provider, urlMember, "is neither an http(s) address nor a data: URL");
  const { body, header } = await fetchResult(url, maxBytes);
  return refuseUnusable({ bytes: body, stated: header("content-type") ?? "" }, provider, urlMember, "is empty");
}

function refuseUnusable(content: Content | null, provider: string, member: string, why: string): Content {
  if (content === null) throw badResponse(provider, `answered with '${member}' that ${why}`);
  if (content.bytes.length === 0) throw badResponse(provider, `answered with '${member}' that is empty`);
  return content;
}

function decodeUrl(text: string): Content | null {
  const [head, stated = ""] = /^data:([^,]{0,200}?);base64,/i.exec(text) ?? [];
  if (head === undefined) return null;
  const content = decodeBase64(text.slice(head.length));
  return content === null ? null : { ...content, stated };
}

function decodeBase64(text: string): Content | null {
  const written = text.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(written) || written.replace(/=+$/, "").length % 4 === 1) return null;
  return { bytes: Buffer.from(written, "base64"), stated: "" };
}

/** Detected from the bytes. The stated type is used for formats without a signature, such as raw samples. */
function typeOf({ bytes, stated }: Content, { kind, urlMember }: Slot, provider: string): string {
  const found = detectMediaType(bytes);
  if (found !== null && kind !== null && !found.kinds.includes(kind))
    throw badResponse(provider, `answered with ${found.mediaType} as '${urlMember}'`);
  // A video container may hold audio only.
  if (found !== null && found.mediaType !== "text/plain")
    return kind === "audio" ? found.mediaType.replace(/^video\//, "audio/") : found.mediaType;
  const type = stated.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isLikely = kind === null ? /^[\w.+-]+\/[\w.+-]+$/.test(type) : type.startsWith(`${kind}/`);
  return isLikely ? type : (found?.mediaType ?? unknownType);
}

function badResponse(provider: string, what: string): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider}' ${what}.`);
}
