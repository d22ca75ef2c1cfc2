// Reads the JSON body of a request: checks its size, content type, encoding, depth and syntax in that order, before any schema.

import { GatewayError, ProblemList, ValidationError } from "../errors.ts";
import { findForbiddenKey } from "../lib/forbidden-key.ts";
import { findJsonError } from "../lib/json-offset.ts";
import { type JsonScan, scanJson } from "../lib/json-scan.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { trimSpaces } from "./request-head.ts";

export interface JsonBody {
  /** As it arrived, without a byte order mark. */
  readonly text: string;
  readonly value: unknown;
  readonly scan: JsonScan;
}

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

export const jsonLimits = { maxDepth: 64, maxTokens: 250_000 };

export async function readJsonBody(request: Request, limits: BodyLimits, ticker: Ticker): Promise<JsonBody> {
  checkBodyHeaders(request.headers, limits.maxBodyBytes);
  return parseJson(await readBytes(request, limits, ticker));
}

function checkBodyHeaders(headers: Headers, maxBodyBytes: number): void {
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > maxBodyBytes) throw tooLarge(maxBodyBytes);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity")
    throw new GatewayError("unsupported_content_encoding", "Send the body without content encoding.", {
      headers: { "accept-encoding": "identity" },
    });
  const type = headers.get("content-type");
  if (type === "application/json") return;
  const [essence = "", ...parameters] = (type ?? "").split(";").map((part) => trimSpaces(part).toLowerCase());
  if (essence !== "application/json")
    throw new GatewayError("unsupported_media_type", "Send the body as Content-Type: application/json.", {
      headers: { accept: "application/json" },
    });
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw new GatewayError("unsupported_charset", "Send the body in UTF-8.", {
      headers: { accept: "application/json" },
    });
}

async function readBytes(request: Request, limits: BodyLimits, ticker: Ticker): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared === "0") return new Uint8Array(0);
  // Bun enforces the declared length, which has been checked. Only a body without one is read as a stream, to count its bytes: creating
  // a stream costs more than reading a small body.
  const whole = declared === null ? readCounted(request.body, limits.maxBodyBytes) : request.bytes();
  try {
    // Skip the timer when the body arrived together with its head, as small bodies do.
    return Bun.peek.status(whole) === "fulfilled"
      ? await whole
      : await withDeadline(whole, limits.bodyTimeoutMs, ticker);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("malformed_request", "The body ended before it was complete.", { cause: error });
  }
}

function withDeadline(whole: Promise<Uint8Array>, timeoutMs: number, ticker: Ticker): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const deadline = ticker.now + timeoutMs;
  const watched: Watched = {
    index: -1,
    check(now) {
      if (now >= deadline) reject(tookTooLong());
    },
  };
  ticker.watch(watched);
  whole.then(resolve, reject);
  return promise.finally(() => ticker.forget(watched));
}

async function readCounted(body: ReadableStream<Uint8Array> | null, maxBodyBytes: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > maxBodyBytes) throw tooLarge(maxBodyBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tookTooLong(): GatewayError {
  return new GatewayError("request_timeout", "The body took too long to arrive.", { headers: { connection: "close" } });
}

function tooLarge(maxBodyBytes: number): GatewayError {
  return new GatewayError("payload_too_large", `The body may hold at most ${maxBodyBytes} bytes.`, {
    headers: { connection: "close" },
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Also for messages of WebSockets. */
export function parseJson(bytes: Uint8Array): JsonBody {
  const text = decodeText(bytes);
  if (text === "") throw bodyProblem([], "missing", "Field required");
  const scan = scanJson(text, jsonLimits);
  if (scan.tooComplex) throw bodyProblem([], "too_complex", "Body should have fewer members and elements");
  if (scan.tooDeepIn !== null)
    throw bodyProblem(
      scan.tooDeepIn === "" ? [] : [scan.tooDeepIn],
      "max_depth",
      `Input should be nested at most ${jsonLimits.maxDepth} levels deep`,
    );
  const value = parseText(text);
  const forbidden = findForbiddenKey(text, value);
  if (forbidden !== null) throw bodyProblem(forbidden, "forbidden_key", "Name is not permitted");
  refuseRepeatedKeys(value, scan);
  refuseUnencodable(text, value, scan);
  return { text, value, scan };
}

/** Leaves out a byte order mark. */
function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new GatewayError("invalid_utf8", "The body is not valid UTF-8.");
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bodyProblem([findJsonError(text)], "json_invalid", "Body should be valid JSON");
  }
}

/** Parsers disagree about which of two members with the same name counts. */
function refuseRepeatedKeys(value: unknown, scan: JsonScan): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  if (Object.keys(value).length === scan.members.length) return;
  const seen = new Set<string>();
  for (const { name } of scan.members) {
    if (seen.has(name)) throw bodyProblem([name], "duplicate_key", "Name should not be repeated");
    seen.add(name);
  }
}

/** JSON can express values that cannot be forwarded: lone surrogates, and numbers beyond the range of a double. */
function refuseUnencodable(text: string, value: unknown, scan: JsonScan): void {
  // A lone surrogate needs an escape, because the bytes are valid UTF-8.
  if (!scan.hasLongNumber && !(text.includes("\\") && /\\u[dD]/.test(text))) return;
  const problems = new ProblemList();
  collectUnencodable(value, ["body"], problems);
  problems.throwIfAny();
}

function collectUnencodable(value: unknown, loc: readonly (string | number)[], problems: ProblemList): void {
  if (typeof value === "string") {
    if (!value.isWellFormed())
      problems.add({ loc, type: "string_unicode", msg: "Input should be a valid unicode string" });
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) problems.add({ loc, type: "finite_number", msg: "Input should be a finite number" });
  } else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) collectUnencodable(element, [...loc, index], problems);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const inner = [...loc, name.toWellFormed()];
      if (!name.isWellFormed())
        problems.add({ loc: inner, type: "string_unicode", msg: "Name should be a valid unicode string" });
      collectUnencodable(member, inner, problems);
    }
  }
}

function bodyProblem(path: readonly (string | number)[], type: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ["body", ...path], msg, type }]);
}
