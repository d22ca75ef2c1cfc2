// What a request tells about itself: the header with its times, its attempts, and the sums of its calls.

import { describe, expect, test } from "bun:test";
import { type ReportedCalls, Trace } from "../../src/inference/trace.ts";

describe("the times of a request", () => {
  test("name every step that was taken, in milliseconds", () => {
    const trace = new Trace(1_000, 1.5);
    Object.assign(trace, { authorizedAt: 1_001, readAt: 1_003, routedAt: 1_006, sentAt: 1_010, connectedAt: 1_015 });
    trace.firstByteAt = 1_030;
    expect(trace.toServerTiming(1_100.256)).toBe(
      [
        ...["queue;dur=1.5", "auth;dur=1", "read;dur=2", "route;dur=3", "connect;dur=5", "provider;dur=20"],
        ...["transform;dur=70.26", "total;dur=100.26"],
      ].join(", "),
    );
  });

  test("leave out the steps that were not taken", () => {
    const refused = new Trace(1_000, 0);
    expect(refused.toServerTiming(1_002)).toBe("queue;dur=0, total;dur=2");
    refused.authorizedAt = 1_001;
    expect(refused.toServerTiming(1_002)).toBe("queue;dur=0, auth;dur=1, total;dur=2");
  });

  test("leave out the connection of an earlier attempt", () => {
    const trace = new Trace(1_000, 0);
    Object.assign(trace, { sentAt: 1_050, connectedAt: 1_010 });
    expect(trace.toServerTiming(1_060)).toBe("queue;dur=0, total;dur=60");
  });
});

describe("the calls of a request", () => {
  const call = (changes: Partial<ReportedCalls> = {}): ReportedCalls => ({
    ...{ provider: "one", model: "m", isStream: false, outcome: "completed" },
    ...{ inputTokens: 10, outputTokens: 5, cost: 0.5, ...changes },
  });
  const add = (...calls: readonly ReportedCalls[]) => {
    const trace = new Trace(0, 0);
    for (const one of calls) trace.addReport(one);
    return trace.reported;
  };

  test("are added up, and the last one names the provider and the outcome", () => {
    const last = call({ provider: "two", model: "n", outcome: "provider_error", isStream: true });
    expect(add(call(), last)).toEqual({ ...last, inputTokens: 20, outputTokens: 10, cost: 1 });
  });

  test("without known tokens leave the sum of the others", () => {
    const unknown = call({ inputTokens: undefined, outputTokens: undefined });
    for (const calls of [
      [call(), unknown],
      [unknown, call()],
    ])
      expect(add(...calls)).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    expect(add(unknown, unknown)).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
  });

  test("without a known cost leave the whole cost unknown, and a free one does not", () => {
    expect(add(call({ cost: null }), call())?.cost).toBeNull();
    expect(add(call(), call({ cost: null }))?.cost).toBeNull();
    expect(add(call(), call({ cost: 0 }))?.cost).toBe(0.5);
  });

  test("of its parts count for the whole", () => {
    const whole = new Trace(0, 0);
    whole.path = "/v3/universal-ai";
    const parts = [new Trace(0, 0, whole), new Trace(0, 0, whole)];
    for (const part of parts) part.addReport(call());
    expect(whole.reported).toMatchObject({ inputTokens: 20, cost: 1 });
    expect(parts.map((part) => part.countCall())).toEqual([1, 2]);
    expect(parts.map((part) => part.endpoint)).toEqual(["/v3/universal-ai", "/v3/universal-ai"]);
  });
});

test("attempts are told in their order, with what became of them", () => {
  const trace = new Trace(performance.now(), 0);
  expect(trace.attemptReason).toBe("first");
  trace.broke("provider_error");
  const target = (name: string) => ({ provider: { name }, deployment: { name: `${name}-1` }, model: "m" });
  trace.begin(target("one"), "first").wasSent = true;
  trace.broke("provider_error");
  trace.begin(target("two"), "fallback");
  expect(trace.attemptReason).toBe("fallback");
  expect(trace.countSent()).toBe(1);
  trace.isSticky = true;
  trace.dropped = ["top_k"];
  expect(trace.toMetadata("req_1")).toEqual({
    request_id: "req_1",
    attempts: [
      { ...{ provider: "one", model: "m", deployment: "one-1" }, reason: "first", outcome: "provider_error" },
      { ...{ provider: "two", model: "m", deployment: "two-1" }, reason: "fallback", outcome: "answered" },
    ].map((attempt) => ({ ...attempt, milliseconds: expect.any(Number) as number })),
    skipped: [],
    session_sticky: true,
    dropped_parameters: ["top_k"],
  });
});
