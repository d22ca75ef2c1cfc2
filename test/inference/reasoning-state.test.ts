// Reasoning that a provider wants back: collected from a stream, packed into one text, and read again.

import { describe, expect, test } from "bun:test";
import type { ReasoningDetail } from "../../src/contract/chat-format.ts";
import {
  isEmpty,
  mergeExtraContent,
  ReasoningCollector,
  readEncryptedContent,
  toEncryptedContent,
} from "../../src/inference/reasoning-state.ts";
import { stream } from "../support/messages-translation.ts";

const thought = (index: number | undefined, text: string, signature?: string) => ({
  type: "reasoning.text" as const,
  ...(index !== undefined && { index }),
  text,
  ...(signature !== undefined && { signature }),
});

const summary = (index: number, text: string) => ({ type: "reasoning.summary" as const, index, summary: text });

/** Vendors omit an empty text, or write null, so the details are not of the documented type. */
function collect(...details: readonly unknown[]) {
  const collector = new ReasoningCollector("vendor");
  for (const detail of details) collector.addDetail(detail as ReasoningDetail);
  return collector.take().details;
}

describe("pieces of reasoning in a stream", () => {
  test.each([
    ["with the same number are one text", [thought(0, "Let me "), thought(0, "see")], [thought(0, "Let me see")]],
    ["keep the signature that comes last", [thought(0, "Hm"), thought(0, "", "s")], [thought(0, "Hm", "s")]],
    [
      "after a signature are another text",
      [thought(0, "A", "s"), thought(0, "B")],
      [thought(0, "A", "s"), thought(0, "B")],
    ],
    ["with other numbers stay apart", [thought(0, "A"), thought(1, "B")], [thought(0, "A"), thought(1, "B")]],
    [
      "without a number stay apart",
      [thought(undefined, "A"), thought(undefined, "B")],
      [thought(undefined, "A"), thought(undefined, "B")],
    ],
    [
      "belong to the text before them, not to the first one",
      [thought(0, "A"), thought(1, "B"), thought(1, "C")],
      [thought(0, "A"), thought(1, "BC")],
    ],
    ["of a summary are one summary", [summary(0, "In "), summary(0, "short")], [summary(0, "In short")]],
    ["of two kinds stay apart", [thought(0, "A"), summary(0, "B")], [thought(0, "A"), summary(0, "B")]],
    [
      "that have no text of their own are joined as empty ones",
      [
        { type: "reasoning.text", index: 0, text: null },
        { type: "reasoning.text", index: 0, signature: "s" },
      ],
      [thought(0, "", "s")],
    ],
  ] as const)("%s", (_title, details, expected) => {
    expect(collect(...details)).toEqual([...expected] as ReasoningDetail[]);
  });
});

test("what was collected is taken once", () => {
  const collector = new ReasoningCollector("vendor");
  expect(collector.isEmpty).toBe(true);
  const fill: readonly (() => void)[] = [
    () => collector.addDetail(thought(0, "Hm")),
    () => collector.setCall("call_1", { google: { thought_signature: "s" } }),
    () => collector.addMessage({ google: { parts: [1] } }),
  ];
  for (const add of fill) {
    add();
    expect(collector.isEmpty).toBe(false);
    collector.take();
    expect(collector.isEmpty).toBe(true);
  }
  for (const add of fill) add();
  expect(collector.take()).toEqual({
    origin: "vendor",
    details: [thought(0, "Hm")],
    calls: new Map([["call_1", { google: { thought_signature: "s" } }]]),
    message: { google: { parts: [1] } },
  });
  expect(collector.take()).toEqual({ origin: "vendor", details: [], calls: new Map(), message: null });
});

test("members for a vendor that come in pieces: lists are joined, and of other values the last counts", () => {
  expect(mergeExtraContent(null, { google: { parts: [1] } })).toEqual({ google: { parts: [1] } });
  const merged = mergeExtraContent(
    { google: { parts: [1], signature: "a", mixed: [1], object: {} }, other: 1 },
    { google: { parts: [2], signature: "b", mixed: "x", object: "y" }, other: { a: 1 }, third: 3 },
  );
  expect(merged).toEqual({
    google: { parts: [1, 2], signature: "b", mixed: "x", object: "y" },
    other: { a: 1 },
    third: 3,
  });
});

describe("a packed state", () => {
  const whole = {
    origin: "vendor",
    details: [thought(0, "Hm", "s"), summary(1, "Short"), { type: "reasoning.encrypted" as const, data: "x" }],
    calls: new Map([["call_1", { google: { thought_signature: "s" } }]]),
    message: { google: { parts: [1] } },
  };
  const empty = { origin: null, details: [], calls: new Map(), message: null };
  const pack = (value: unknown) => `sy1.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;

  test("is read as it was written, each member by itself and all together", () => {
    const { origin, details, calls, message } = whole;
    for (const state of [
      whole,
      empty,
      ...[{ origin }, { details }, { calls }, { message }].map((one) => ({ ...empty, ...one })),
    ])
      expect(readEncryptedContent(toEncryptedContent(state))).toEqual(state);
  });

  test("is empty when it has nothing that the provider wants back, whoever the provider is", () => {
    const { origin, details, calls, message } = whole;
    expect([empty, { ...empty, origin }].map(isEmpty)).toEqual([true, true]);
    expect([{ details }, { calls }, { message }].map((one) => isEmpty({ ...empty, ...one }))).toEqual([
      ...[false, false, false],
    ]);
  });

  test("that a caller changed has only the members that have the right form", () => {
    const details = [
      { type: "reasoning.text", text: 5 },
      { type: "reasoning.text", text: "ok", signature: 5 },
      { type: "reasoning.summary" },
      { type: "reasoning.encrypted", data: 1 },
      { type: "other", data: "x" },
      "text",
      null,
      { type: "reasoning.text" },
    ];
    const calls = [["call_1", {}], ["call_2", 5], [3, {}], "call_4"];
    expect(readEncryptedContent(pack({ origin: 5, details, calls, message: "m" }))).toEqual({
      ...{ origin: null, message: null },
      details: [{ type: "reasoning.text" } as ReasoningDetail],
      calls: new Map([["call_1", {}]]),
    });
    expect(readEncryptedContent(pack({ details: 5, calls: {} }))).toEqual(empty);
  });

  test("that the gateway did not write is none", () => {
    const deep = `{"message":${'{"a":'.repeat(100)}1${"}".repeat(101)}`;
    for (const text of [
      "",
      "abc",
      "sy1.",
      "sy1.e30x!",
      pack([1]),
      pack(null),
      `sy1.${Buffer.from(deep).toString("base64url")}`,
    ])
      expect([text, readEncryptedContent(text)]).toEqual([text, null]);
  });
});

test("a signature without a text before it is a thinking block of its own in the Messages format", () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk" as const, created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason: finish as null }],
  });
  const events = stream(
    chunk({ reasoning_details: [{ type: "reasoning.text", signature: "signed" }] }),
    chunk({ content: "Hi" }, "stop"),
  );
  expect(events.flatMap(({ content_block: block, delta }) => block?.["type"] ?? delta?.["type"] ?? [])).toEqual([
    ...["thinking", "signature_delta", "text", "text_delta"],
  ]);
});
