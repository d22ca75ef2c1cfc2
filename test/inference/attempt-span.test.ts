// The attributes of an attempt that come from the caller's request.

import { expect, test } from "bun:test";
import { AttemptSpan } from "../../src/inference/attempt-span.ts";
import type { Attributes, Span } from "../../src/tracing/span.ts";

/** The attributes of the span of a call with this request. */
function describe(request: Readonly<Record<string, unknown>>, address: string | null = null): Attributes {
  let started: Attributes = {};
  const span: Span = {
    isRecorded: true,
    headers: { traceparent: "" },
    content: null,
    child({ attributes }) {
      started = attributes;
      return span;
    },
    set() {},
    end() {},
    linesFor: () => "",
  };
  const call = { operation: "chat", provider: "mock", model: "m", address, isStream: false, attributes: {} };
  new AttemptSpan(span, { ...call, request });
  return started;
}

const schema = { type: "json_schema" };

test.each([
  ["chat", { response_format: schema, reasoning_effort: "high" }],
  ["Messages", { output_config: { format: schema, effort: "high" } }],
  ["Responses", { text: { format: schema }, reasoning: { effort: "high" } }],
])("the output type and the reasoning level of a request in the %s format are recorded", (_, request) => {
  expect(describe(request)).toMatchObject({
    "gen_ai.output.type": "json",
    "gen_ai.request.reasoning.level": "high",
  });
});

test("a text format is no JSON, and one choice is not counted", () => {
  const attributes = describe({ text: { format: { type: "text" } }, n: 1, stop: "END" });
  expect(attributes["gen_ai.output.type"]).toBeUndefined();
  expect(attributes["gen_ai.request.choice.count"]).toBeUndefined();
  expect(attributes["gen_ai.request.stop_sequences"]).toEqual(["END"]);
});

test.each([
  ["http://[::1]:8080/v1", "::1", 8080],
  ["https://models.example/v1", "models.example", 443],
])("the server at %s is %s, port %d", (address, host, port) => {
  expect(describe({}, address)).toMatchObject({ "server.address": host, "server.port": port });
});
