// What all vendors of this folder share: strict reading of a request, so that a wrong translation fails loudly, and answers
// on the wire in awkward pieces.

import { createHash } from "node:crypto";
import { answer, fin, hang, httpChunk, lastHttpChunk, type Script, type Step, streamHead } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";

export type Members = Readonly<Record<string, unknown>>;

/** The request is not what the vendor documents. */
export class Violation extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.name = "Violation";
    this.status = status;
  }
}

export function demand(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Violation(message);
}

/** An object with no members but these; without a list, with any. */
export function membersOf(value: unknown, where: string, allowed?: readonly string[]): Members {
  demand(typeof value === "object" && value !== null && !Array.isArray(value), `${where}: should be an object`);
  const members = value as Members;
  for (const [name, member] of Object.entries(members)) {
    demand(allowed === undefined || allowed.includes(name), `${where}.${name}: is not a member of this format`);
    demand(member !== null, `${where}.${name}: should not be null`);
  }
  return members;
}

export function listOf(value: unknown, where: string): readonly unknown[] {
  demand(Array.isArray(value), `${where}: should be a list`);
  return value;
}

export function textOf(value: unknown, where: string): string {
  demand(typeof value === "string", `${where}: should be a string`);
  return value;
}

export function numberOf(value: unknown, where: string, least: number, most: number): number {
  demand(typeof value === "number" && value >= least && value <= most, `${where}: should be from ${least} to ${most}`);
  return value;
}

export function oneOf<Value extends string>(value: unknown, where: string, allowed: readonly Value[]): Value {
  demand((allowed as readonly unknown[]).includes(value), `${where}: should be one of ${allowed.join(", ")}`);
  return value as Value;
}

export function bodyOf(request: VendorRequest, where: string, allowed: readonly string[]): Members {
  demand(request.method === "POST", "the method should be POST");
  demand(request.headers["content-type"]?.startsWith("application/json"), "the content type should be JSON");
  return membersOf(parse(request.body.toString()), where, allowed);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Violation("the body is not JSON");
  }
}

/** Only who has seen a thought can sign it again: what was changed on the way does not fit. */
export function sign(thought: string): string {
  return createHash("sha256").update(`signed: ${thought}`).digest("base64");
}

export function demandSignature(thought: string, signature: unknown, where: string): void {
  demand(signature === sign(thought), `${where}: the signature does not belong to this thinking`);
}

/** What a model's name asks for: `…-fail-429`, `…-midway` (an error in the stream), `…-cut` and `…-hang` (in the stream). */
export interface Trouble {
  readonly status: number | null;
  readonly inStream: "midway" | "cut" | "hang" | null;
}

export function troubleOf(model: string): Trouble {
  const status = /-fail-(\d{3})/.exec(model)?.[1];
  const inStream = (["midway", "cut", "hang"] as const).find((word) => model.endsWith(`-${word}`));
  return { status: status === undefined ? null : Number(status), inStream: inStream ?? null };
}

interface Streamed {
  readonly contentType: string;
  readonly events: readonly Uint8Array[];
  /** The event of this vendor that says that it failed. */
  readonly failure: Uint8Array;
  readonly trouble: Trouble;
}

// Neither a divisor of any event's length nor long enough to hold one: events arrive in pieces.
const pieceBytes = 61;

export function streamScript({ contentType, events, failure, trouble }: Streamed): Script {
  const head = streamHead({ "content-type": contentType });
  // The head and the first words have come, the end has not.
  const begun = events.slice(0, Math.ceil(events.length / 2));
  switch (trouble.inStream) {
    case null:
      return [head, ...inPieces(events), lastHttpChunk];
    case "midway":
      return [head, ...inPieces([...begun, failure]), lastHttpChunk];
    case "cut":
      return [head, ...inPieces(begun), lastHttpChunk, fin];
    case "hang":
      return [head, ...inPieces(begun), hang];
  }
}

function inPieces(events: readonly Uint8Array[]): Step[] {
  const bytes = Buffer.concat(events);
  const steps: Step[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) steps.push(httpChunk(bytes.subarray(at, at + pieceBytes)));
  return steps;
}

export function eventBytes(payload: unknown, name?: string): Uint8Array {
  return Buffer.from(`${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(payload)}\n\n`);
}

/** The text in pieces as a model writes it. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/.{1,7}/gs) ?? [];
}

/** Runs the vendor; what it complains of is told in its own form of errors. */
export function serve(
  request: VendorRequest,
  run: (request: VendorRequest) => Script,
  toError: (status: number, message: string) => unknown,
): Script {
  try {
    return run(request);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return answer(error.status, toError(error.status, error.message));
  }
}

export function failOnDemand(model: string): void {
  const { status } = troubleOf(model);
  if (status !== null) throw new Violation(`asked to fail with ${status}`, status);
}
