// What a provider of the operator's own made, in an output of our shape: base64, a `data:` URL, or an address from which it is fetched.
// Callers get the gateway's own copy, whose address lives as long as is promised.

import type { EgressAnswer } from "../egress/egress.ts";
import { detectMediaType, type MediaKind } from "../egress/media-type.ts";
import { GatewayError } from "../errors.ts";
import { isObject } from "../lib/lenient-json.ts";
import type { JsonObject } from "../providers/dialect.ts";
import type { BinaryResult, TaskResult } from "./engine.ts";

export interface DeclaredOutput {
  /** Of the task's output. */
  readonly schema: JsonObject;
  readonly output: JsonObject;
  /** The provider's name. */
  readonly provider: string;
  /** Of all files together. */
  readonly maxBytes: number;
  /** Throws a GatewayError that says why the file cannot be fetched. */
  readonly fetchResult: (url: string, maxBytes: number) => Promise<EgressAnswer>;
}

interface Binary {
  /** Members that may hold the bytes as base64: the one that the schema has, or else the first, which is then left out. */
  readonly bytesMembers: readonly string[];
  /** Null: a document of any kind. */
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
type Members = Record<string, unknown>;

/** One place of the output at which there is something binary. */
interface Place {
  readonly holder: Members;
  readonly path: Path;
  readonly urlMember: string;
  readonly bytesMember: string;
  readonly isInSchema: boolean;
  readonly kind: MediaKind | null;
}

interface Content {
  readonly bytes: Buffer;
  /** What it is said to be. */
  readonly stated: string;
}

const unknownType = "application/octet-stream";

export async function takeBinaries(made: DeclaredOutput): Promise<Pick<TaskResult, "output" | "binaries">> {
  const output = copyOf(made.output) as Members;
  const binaries: BinaryResult[] = [];
  let remainingBytes = made.maxBytes;
  for (const place of findPlaces(made.schema, output, [])) {
    const { holder, path, urlMember, bytesMember, isInSchema } = place;
    const content = await readContent(place, made, remainingBytes);
    if (content === null) continue;
    remainingBytes = Math.max(0, remainingBytes - content.bytes.length);
    // The gateway writes them anew.
    delete holder[bytesMember];
    delete holder[urlMember];
    binaries.push({
      base64Path: isInSchema ? [...path, bytesMember] : null,
      urlPath: [...path, urlMember],
      bytes: content.bytes,
      mediaType: typeOf(content, place, made.provider),
    });
  }
  return binaries.length === 0 ? { output } : { output, binaries };
}

/** Texts, which may be large, are shared with the original. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
}

function findPlaces(schema: unknown, value: unknown, path: Path): Place[] {
  if (!isObject(schema)) return [];
  if (Array.isArray(value)) return value.flatMap((one, index) => findPlaces(schema["items"], one, [...path, index]));
  const properties = schema["properties"];
  if (!isObject(value) || !isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, inner]) => {
    const binary = Object.hasOwn(binaryMembers, name) ? binaryMembers[name] : undefined;
    if (binary === undefined) return findPlaces(inner, value[name], [...path, name]);
    const { bytesMembers, kind } = binary;
    const own = bytesMembers.find((member) => Object.hasOwn(properties, member));
    const bytesMember = own ?? bytesMembers[0] ?? name;
    return [{ holder: value, path, urlMember: name, bytesMember, isInSchema: own !== undefined, kind }];
  });
}

/** The bytes where they are given, else what the address leads to. Null: there is neither, and the schema says what that means. */
async function readContent(
  { holder, bytesMember, urlMember }: Place,
  { provider, fetchResult }: DeclaredOutput,
  maxBytes: number,
): Promise<Content | null> {
  const [text, url] = [holder[bytesMember], holder[urlMember]];
  if (typeof text === "string" && text !== "") {
    const content = decodeUrl(text) ?? decodeBase64(text);
    if (content === null) throw badResponse(provider, `answered with '${bytesMember}' that is not base64`);
    return refuseEmpty(content, bytesMember, provider);
  }
  if (typeof url !== "string") return null;
  if (/^https?:\/\//i.test(url)) {
    const { body, header } = await fetchResult(url, maxBytes);
    return refuseEmpty({ bytes: body, stated: header("content-type") ?? "" }, urlMember, provider);
  }
  const content = decodeUrl(url);
  if (content === null)
    throw badResponse(provider, `answered with '${urlMember}' that is neither an http(s) address nor a data: URL`);
  return refuseEmpty(content, urlMember, provider);
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

function refuseEmpty(content: Content, member: string, provider: string): Content {
  if (content.bytes.length === 0) throw badResponse(provider, `answered with '${member}' that is empty`);
  return content;
}

/** Told from the bytes; what has no mark of its own, such as plain samples, is believed to be what it is said to be. */
function typeOf({ bytes, stated }: Content, { kind, urlMember }: Place, provider: string): string {
  const found = detectMediaType(bytes);
  if (found !== null && kind !== null && !found.kinds.includes(kind))
    throw badResponse(provider, `answered with ${found.mediaType} as '${urlMember}'`);
  // A container of films may hold sound alone.
  if (found !== null && found.mediaType !== "text/plain")
    return kind === "audio" ? found.mediaType.replace(/^video\//, "audio/") : found.mediaType;
  const type = stated.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const isLikely = kind === null ? /^[\w.+-]+\/[\w.+-]+$/.test(type) : type.startsWith(`${kind}/`);
  return isLikely ? type : (found?.mediaType ?? unknownType);
}

function badResponse(provider: string, what: string): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider}' ${what}.`);
}
