// What the answer to a bad input must look like: the matching rules of test/cases/bad-inputs.json.

import { expect } from "bun:test";
import type { Expectation } from "./bad-inputs.ts";
import { readChatStream } from "./events.ts";
import { providerSecret } from "./gateway-settings.ts";
import type { RawConnection, RawResponse } from "./raw-http.ts";

/** Holds an answer to a case's expectation, by the matching rules of the file. */
export async function checkResponse(
  expected: Expectation,
  response: RawResponse,
  connection: RawConnection,
): Promise<void> {
  const text = response.body.toString();
  const statuses = expected.status_any ?? [expected.status ?? 0];
  if (!statuses.includes(response.status)) {
    throw new Error(`expected ${statuses.join(" or ")}, got ${response.status}: ${text.slice(0, 500)}`);
  }
  if (expected.closes === true) {
    await connection.waitForClose();
    // Whatever was smuggled behind the first request must never be served.
    expect(connection.text()).toBe("");
  }
  expect(text).not.toContain(providerSecret);
  for (const forbidden of expected.forbid ?? []) expect(text).not.toContain(forbidden);

  // Bun's parser refuses a malformed request without a body; then the closed socket is the rest of the answer.
  const isRefusedByParser = text === "" && parserStatuses.includes(response.status) && mayBeRefusedByParser(expected);
  if (isRefusedByParser) {
    await connection.waitForClose();
    return;
  }

  expect(response.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  // Another status of the list has another code: only the envelope is known of it.
  const isFirstChoice = response.status === expected.status;
  if (isFirstChoice) {
    for (const [name, pattern] of Object.entries(expected.headers ?? {})) {
      expect(response.headers[name] ?? `no header ${name}`).toMatch(new RegExp(pattern, "i"));
    }
  }
  for (const name of expected.headers_absent ?? []) expect(response.headers).not.toHaveProperty([name]);
  if (response.status >= 400) checkEnvelope(response, text);
  if (!isFirstChoice) return;
  if (expected.shape === "error" || expected.shape === "validation") checkError(expected, text);
  if (expected.shape === "sse_error") checkBrokenStream(expected, response, text);
  if (expected.shape === "ok") checkSuccess(response, text);
}

// 0: the socket was closed without an answer, as Bun does after an unknown method.
const parserStatuses: readonly number[] = [0, 400, 413, 414, 431, 501, 505];

function mayBeRefusedByParser(expected: Expectation): boolean {
  return expected.closes === true || expected.status === 431;
}

interface ErrorBody {
  readonly error: {
    readonly message: unknown;
    readonly type: unknown;
    readonly code: unknown;
    readonly param: unknown;
  };
  readonly detail: unknown;
}

function readErrorBody(text: string): ErrorBody {
  return JSON.parse(text) as ErrorBody;
}

function checkEnvelope(response: RawResponse, text: string): void {
  expect(response.headers["content-type"]).toMatch(/^application\/json/);
  expect(response.headers["x-content-type-options"]).toBe("nosniff");
  const { error, detail } = readErrorBody(text);
  expect(error.message).toBeString();
  expect(error.message).not.toBe("");
  expect(error.type).toBeString();
  expect(error.code).toBeString();
  expect(error).toHaveProperty("param");
  if (response.status === 422) expect(detail).toBeArray();
  else expect(detail).toBe(error.message);
  const required = { 401: "www-authenticate", 405: "allow", 429: "retry-after", 503: "retry-after" }[response.status];
  if (required !== undefined) expect(response.headers).toHaveProperty([required]);
}

function checkError(expected: Expectation, text: string): void {
  const { error, detail } = readErrorBody(text);
  if (expected.error !== undefined) expect(error).toMatchObject(expected.error);
  for (const wanted of expected.detail ?? []) {
    const problems = detail as readonly { loc: readonly unknown[]; msg: unknown; type: unknown }[];
    const found = problems.find(
      ({ loc, type }) =>
        type === wanted.type &&
        loc.length === wanted.loc.length &&
        wanted.loc.every((step, index) => step === "*" || step === loc[index]),
    );
    if (found === undefined) throw new Error(`no problem ${JSON.stringify(wanted)} in ${JSON.stringify(problems)}`);
    expect(found.msg).toBeString();
    expect(found.msg).not.toBe("");
  }
}

function checkBrokenStream(expected: Expectation, response: RawResponse, text: string): void {
  expect(response.headers["content-type"]).toMatch(/^text\/event-stream/);
  const { errors, done, content } = readChatStream(text);
  expect(content).not.toBe("");
  expect(errors).toHaveLength(1);
  expect(errors[0]?.error).toMatchObject(expected.error ?? {});
  if (expected.no_done === true) expect(done).toBe(false);
}

export function checkSuccess(response: RawResponse, text: string): void {
  if (!response.headers["content-type"]?.startsWith("text/event-stream")) {
    expect(JSON.parse(text)).toBeObject();
    return;
  }
  const { errors, done } = readChatStream(text);
  expect(errors).toEqual([]);
  expect(done).toBe(true);
}
