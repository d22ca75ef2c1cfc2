// Which requests are captured, and how much of their streams.

import { expect, test } from "bun:test";
import type { Caller } from "../../src/access/caller.ts";
import { Capture } from "../../src/http/capture.ts";
import type { BodyStream, BodyWriter } from "../../src/http/reply.ts";
import type { Captures } from "../../src/usage/captures.ts";
import { anyCaller } from "../support/any-caller.ts";

type Captured = Parameters<Captures["add"]>[0];

const ok = { status: 200, headers: {}, body: "answer" };
const writer: BodyWriter = { isStalled: false, write: () => undefined };
const megabyte = 1_048_576;

function startCapture() {
  const captured: Captured[] = [];
  const capture = new Capture({ add: (one) => void captured.push(one), take: (text) => text });
  return { captured, capture };
}

function exchangeOf(caller: Caller | null, method = "POST") {
  const request = new Request("http://gateway.example/v3/chat/completions", { method });
  return { request, requestId: "r", caller, trace: { path: "/v3/chat/completions" }, bodyText: null };
}

/** Writes this many bytes, and stays open until `end`. */
function streamOf(bytes: number, end: Promise<void> = Promise.resolve()): BodyStream {
  return {
    async writeTo(to) {
      await to.write([new Uint8Array(bytes)]);
      await end;
    },
    abandon() {},
  };
}

test("only calls of keys that call models are captured", () => {
  const { captured, capture } = startCapture();
  const manager: Caller = { ...anyCaller, kind: "management" };
  for (const method of ["POST", "GET"])
    for (const caller of [null, manager, anyCaller]) capture.record(exchangeOf(caller, method), ok);
  expect(captured.map(({ keyId, method, answer }) => [keyId, method, answer])).toEqual([["test", "POST", "answer"]]);
});

test("a stream is captured once, up to a megabyte", async () => {
  const { captured, capture } = startCapture();
  for (const bytes of [megabyte, megabyte + 1]) {
    const body = capture.watch(exchangeOf(anyCaller), ok, streamOf(bytes));
    await body.writeTo(writer);
    body.abandon();
  }
  expect(captured.map(({ answer, isAnswerCut }) => [answer?.length, isAnswerCut])).toEqual([
    [megabyte, false],
    [0, true],
  ]);
});

test("all open streams together are captured up to 64 megabytes, and those that ended no longer count", async () => {
  const { captured, capture } = startCapture();
  const last = Promise.withResolvers<void>();
  const open = Array.from({ length: 65 }, () =>
    capture.watch(exchangeOf(anyCaller), ok, streamOf(megabyte, last.promise)).writeTo(writer),
  );
  last.resolve();
  await Promise.all(open);
  expect(captured.filter(({ isAnswerCut }) => isAnswerCut)).toHaveLength(1);
  await capture.watch(exchangeOf(anyCaller), ok, streamOf(megabyte)).writeTo(writer);
  expect(captured.at(-1)?.isAnswerCut).toBe(false);
});
