// A folder of recorded exchanges with vendors, beside the checkout: what was asked, and the answer to the byte.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Recording {
  /** `<provider>/<file>`, without the ending. */
  readonly name: string;
  readonly provider: string;
  readonly kind: Kind;
  readonly stream: boolean;
  readonly model: string;
  readonly url: string;
  readonly request: JsonObject;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const kinds = ["chat", "messages", "generateContent", "converse"] as const;
export type Kind = (typeof kinds)[number];

/** Null where there are none: they belong to others and are not a part of this project. */
export function findRecordings(): string | null {
  const folder = process.env["SWITCHYARD_RECORDINGS"] ?? join(import.meta.dir, "../../../shared/data/fixtures");
  return existsSync(folder) ? folder : null;
}

interface Stored {
  readonly provider: string;
  readonly kind: string;
  readonly stream: boolean;
  readonly model?: string | null;
  readonly request: { readonly url: string; readonly body?: unknown };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly body_base64?: string;
  };
}

/** Those of conversations, in the order of their names. */
export async function readRecordings(folder: string): Promise<readonly Recording[]> {
  const files = [...new Bun.Glob("*/*.json").scanSync(folder)].sort();
  const read = files.map(async (file) => {
    const stored = JSON.parse(await readFile(join(folder, file), "utf8")) as Stored;
    return isKind(stored.kind) ? [toRecording(file.slice(0, -".json".length), stored, stored.kind)] : [];
  });
  return (await Promise.all(read)).flat();
}

function isKind(kind: string): kind is Kind {
  return (kinds as readonly string[]).includes(kind);
}

function toRecording(name: string, { provider, stream, model, request, response }: Stored, kind: Kind): Recording {
  const { body = "", body_base64 } = response;
  const asked = typeof request.body === "object" && request.body !== null ? request.body : {};
  return {
    name,
    provider,
    kind,
    stream,
    model: model || "some-model",
    url: request.url,
    request: asked as JsonObject,
    status: response.status,
    headers: response.headers,
    body: body_base64 === undefined ? Buffer.from(body) : Buffer.from(body_base64, "base64"),
  };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
