// A request in the chat format is adapted to the rules of one vendor. The rules are invented; vendors declare such rules in their rows.

import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../src/contract/chat-format.ts";
import { toPlainChatRequest } from "../../src/inference/messages/to-plain-chat-request.ts";
import type { ChatRules } from "../../src/providers/provider.ts";

const hello = { role: "user", content: "hi" } as const;

function adapt(members: object, rules: ChatRules) {
  const request = { model: "m", messages: [hello], ...members } as unknown as ChatRequest;
  const { request: adapted, dropped } = toPlainChatRequest({ request, dropped: [], names: {} }, rules);
  const { model: _, messages, ...rest } = adapted;
  return { messages, rest, dropped };
}

describe("a member that the vendor refuses", () => {
  const refused = ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logprobs", "seed"];

  test.each([
    ["temperature", 0.5],
    ["top_p", 0.1],
    ["presence_penalty", 1],
    ["frequency_penalty", -1],
    ["logprobs", true],
    ["seed", 0],
  ])("%s is left out, and named as dropped", (name, value) => {
    expect(adapt({ [name]: value }, { refused })).toMatchObject({ rest: {}, dropped: [name] });
  });

  test.each([
    ["temperature", 1],
    ["top_p", 1],
    ["presence_penalty", 0],
    ["frequency_penalty", 0],
    ["logprobs", false],
    ["seed", null],
  ])("%s with its default is left out without a word: that changes nothing", (name, value) => {
    const { rest, dropped } = adapt({ [name]: value }, { refused });
    expect([rest, dropped]).toEqual([{}, []]);
  });

  test("is not missed when the request does not have it, and others stay", () => {
    const { rest, dropped } = adapt({ stop: ["x"] }, { refused });
    expect([rest, dropped]).toEqual([{ stop: ["x"] }, []]);
  });
});

test("members that the vendor wants are added", () => {
  expect(adapt({}, { added: { reasoning_split: true } }).rest).toEqual({ reasoning_split: true });
});

test("the output limit has the name that the vendor knows", () => {
  expect(adapt({ max_tokens: 5 }, {}).rest).toEqual({ max_tokens: 5 });
  expect(adapt({ max_tokens: 5 }, { outputLimit: "max_completion_tokens" }).rest).toEqual({ max_completion_tokens: 5 });
  expect(adapt({}, { outputLimit: "max_completion_tokens" }).rest).toEqual({});
});

describe("a reasoning effort", () => {
  const thinking = { on: { type: "enabled" }, off: { type: "disabled" } };
  const levels = { efforts: ["low", "high"] } as const;
  const withOff = { efforts: ["none", "low", "high"] } as const;

  test.each([
    ["passes where the vendor declares no efforts", "high", {}, { reasoning_effort: "high" }, []],
    ["that the vendor knows passes", "low", levels, { reasoning_effort: "low" }, []],
    ["of none passes where the vendor knows it", "none", withOff, { reasoning_effort: "none" }, []],
    [
      "of none becomes the least where the vendor always reasons",
      "none",
      levels,
      { reasoning_effort: "low" },
      ["reasoning_effort"],
    ],
    ["is dropped where the model never reasons", "high", { efforts: [] }, {}, ["reasoning_effort"]],
    ["of none is what a model that never reasons does", "none", { efforts: [] }, {}, []],
    ["switches thinking on", "high", { ...levels, thinking }, { thinking: thinking.on, reasoning_effort: "high" }, []],
    ["of none switches thinking off", "none", { ...levels, thinking }, { thinking: thinking.off }, []],
    [
      "switches thinking on where there are no levels",
      "high",
      { thinking },
      { thinking: thinking.on, reasoning_effort: "high" },
      [],
    ],
  ] as const)("%s", (_title, effort, rules, expected, expectedDropped) => {
    const { rest, dropped } = adapt({ reasoning_effort: effort }, rules as ChatRules);
    expect(rest).toEqual(expected);
    expect(dropped).toEqual([...expectedDropped]);
  });

  test("that came from a thinking budget is named by the member that the caller sent", () => {
    const members = { reasoning_effort: "high", thinking: { type: "enabled", budget_tokens: 9_000 } };
    expect(adapt(members, { efforts: [] })).toMatchObject({ rest: {}, dropped: ["thinking"] });
    expect(adapt({ thinking: { type: "adaptive" } }, {}).rest).toEqual({});
  });
});

describe("a turn of the assistant", () => {
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  const adaptTurn = (turn: object, rules: ChatRules) =>
    adapt({ messages: [hello, { role: "assistant", content: "A", ...turn }] }, rules).messages[1];
  const thoughts = { reasoning_content: "Hm", reasoning_details: [{ type: "reasoning.text", text: "Hm" }] };

  test.each([
    ["loses its reasoning where the vendor does not want it back", thoughts, {}, {}],
    [
      "keeps its text of reasoning where the vendor reads that",
      thoughts,
      { reasoningReturn: "reasoning_content" },
      { reasoning_content: "Hm" },
    ],
    [
      "keeps its details where the vendor reads those",
      thoughts,
      { reasoningReturn: "reasoning_details" },
      { reasoning_details: thoughts.reasoning_details },
    ],
    ["has no details where there are none", {}, { reasoningReturn: "reasoning_details" }, {}],
    [
      "with calls gets the text that the vendor requires",
      { tool_calls: [call] },
      { reasoningReturn: "reasoning_content", missingReasoning: " " },
      { tool_calls: [call], reasoning_content: " " },
    ],
    [
      "without calls needs no such text",
      { tool_calls: [] },
      { reasoningReturn: "reasoning_content", missingReasoning: " " },
      { tool_calls: [] },
    ],
    [
      "with calls and reasoning keeps its own",
      { ...thoughts, tool_calls: [call] },
      { reasoningReturn: "reasoning_content", missingReasoning: " " },
      { tool_calls: [call], reasoning_content: "Hm" },
    ],
  ] as const)("%s", (_title, turn, rules, expected) => {
    expect(adaptTurn(turn, rules as ChatRules)).toEqual({ role: "assistant", content: "A", ...expected } as never);
  });
});

test("texts become one string, and an image keeps the parts apart; cache marks are gone either way", () => {
  const marked = (text: string) => ({ type: "text", text, cache_control: { type: "ephemeral" } });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const { messages, dropped } = adapt(
    {
      cache_control: { type: "ephemeral" },
      messages: [
        { role: "user", content: [marked("A"), marked("B")] },
        { role: "assistant", content: [marked("C"), marked("D")] },
        { role: "user", content: [image, marked("E")] },
      ],
    },
    {},
  );
  expect(messages.map(({ content }) => content)).toEqual([
    ...["A\n\nB", "CD"],
    [image, { type: "text", text: "E" }] as never,
  ]);
  expect(dropped).toEqual([]);
});
