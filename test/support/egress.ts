// An egress with names that the test chooses.

import {
  createEgress,
  type Egress,
  type EgressAnswer,
  type EgressRequest,
  type EgressSettings,
} from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { createLog } from "../../src/log.ts";
import { within } from "./wait.ts";

export const logged: string[] = [];

export const log = createLog({ level: "info", format: "json", secrets: [], write: (lines) => void logged.push(lines) });

export interface FakeNames {
  /** Each lookup of a name takes the next of its answers, the last one again and again. */
  readonly [name: string]: readonly (readonly string[])[];
}

export interface Guarded {
  readonly egress: Egress;
  readonly lookups: string[];
}

export function guard(
  names: FakeNames = {},
  allow: readonly string[] = ["127.0.0.0/8"],
  more: Partial<EgressSettings> = {},
): Guarded {
  const lookups: string[] = [];
  const lookup = async (name: string) => {
    const before = lookups.filter((other) => other === name).length;
    lookups.push(name);
    const answers = names[name];
    if (answers === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return answers[Math.min(before, answers.length - 1)] ?? [];
  };
  return { egress: createEgress({ ...more, allow, lookup, log }), lookups };
}

export const request: EgressRequest = {
  maxBytes: 100_000,
  timeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  protocols: ["https:", "http:"],
};

/** Starts nothing that the test does not end. */
export function fetchWith(egress: Egress, url: string, more: Partial<EgressRequest> = {}): Promise<EgressAnswer> {
  return within(60_000, `an answer from ${url}`, egress.fetch(url, { ...request, ...more }));
}

export async function failureOf(promise: Promise<unknown>): Promise<EgressError> {
  const error = await promise.then(
    () => new Error("there was no failure"),
    (error: unknown) => error,
  );
  if (!(error instanceof EgressError)) throw error;
  return error;
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await failureOf(promise)).code;
}

export const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
