// The limits of members of requests: the largest and smallest accepted values, and the nearest ones beyond them.

import { describe, expect, test } from "bun:test";
import type { z } from "zod";
import { createSpeechRequest } from "../../src/contract/audio.ts";
import { listAuditQuery } from "../../src/contract/audit.ts";
import { listBudgetsQuery } from "../../src/contract/budgets.ts";
import { createChatCompletionRequest } from "../../src/contract/chat-completions.ts";
import { createCollectionRequest } from "../../src/contract/collections.ts";
import { createEmbeddingsRequest } from "../../src/contract/embeddings.ts";
import { createImagesRequest } from "../../src/contract/images.ts";
import { createKeyRequest, listKeysQuery, rotateKeyRequest } from "../../src/contract/keys.ts";
import { latencyQuery } from "../../src/contract/latency.ts";
import { listManagedJobsQuery } from "../../src/contract/managed-jobs.ts";
import { createMessagesRequest } from "../../src/contract/messages.ts";
import { createModerationsRequest } from "../../src/contract/moderations.ts";
import { createResponseRequest, listInputItemsQuery, responseParams } from "../../src/contract/responses.ts";
import { signInRequest } from "../../src/contract/sessions.ts";
import { createTeamRequest, teamPath } from "../../src/contract/teams.ts";
import { listRequestsQuery, usageQuery } from "../../src/contract/usage.ts";

/** Values of one member, by its name. */
interface Limits {
  readonly accepted: readonly unknown[];
  readonly refused: readonly unknown[];
}
type Members = Readonly<Record<string, Limits>>;

const characters = (count: number) => "a".repeat(count);
const list = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${index}`, "x"]));

const longest = (length: number): Limits => ({ accepted: ["", characters(length)], refused: [characters(length + 1)] });
const text = (length: number): Limits => ({
  accepted: ["a", characters(length)],
  refused: ["", characters(length + 1)],
});
const atMost = (count: number, item: unknown): Limits => ({
  accepted: [[], list(count, item)],
  refused: [list(count + 1, item)],
});
const range = (least: number, most: number): Limits => ({
  accepted: [least, most],
  refused: [least - 0.01, most + 0.01],
});
const integers = (least: number, most: number): Limits => ({
  accepted: [least, most],
  refused: [least - 1, most + 1, least + 0.5, String(least)],
});
const integerTexts = (least: number, most: number): Limits => ({
  accepted: [String(least), String(most)],
  refused: [String(least - 1), String(most + 1), "", "x", `${least}.5`],
});

const noAliases = new Set<string>();
const model = "sandbox/echo";
const user = { role: "user", content: "Hello" };
const functionTool = { type: "function", name: "tool" };

const gatewayMembers: Members = {
  fallbacks: atMost(3, model),
  session_id: longest(256),
  tags: {
    accepted: [{}, pairs(10), { [characters(64)]: characters(256) }, { name: "" }],
    refused: [pairs(11), { [characters(65)]: "x" }, { name: characters(257) }, { "": "x" }, { name: "a\nb" }],
  },
  routing: {
    accepted: [{}, { allowed_providers: list(64, "openai") }],
    refused: [{ allowed_providers: list(65, "openai") }, { other: 1 }],
  },
};

const bodies: Readonly<Record<string, readonly [schema: z.ZodType, others: object, members: Members]>> = {
  "a chat completion": [
    createChatCompletionRequest(noAliases),
    { model, messages: [user] },
    {
      ...gatewayMembers,
      messages: { accepted: [[user], list(2_048, user)], refused: [[], list(2_049, user)] },
      temperature: range(0, 2),
      top_p: range(0, 1),
      n: integers(1, 8),
      max_tokens: integers(1, 1_000_000),
      max_completion_tokens: integers(1, 1_000_000),
      presence_penalty: range(-2, 2),
      frequency_penalty: range(-2, 2),
      stop: { accepted: ["", ...atMost(4, "x").accepted], refused: atMost(4, "x").refused },
      top_logprobs: integers(0, 20),
      tools: atMost(128, { type: "function", function: { name: "tool" } }),
      user: longest(512),
    },
  ],
  "a message of Anthropic's format": [
    createMessagesRequest(noAliases),
    { model, messages: [user], max_tokens: 1 },
    {
      ...gatewayMembers,
      messages: { accepted: [[user], list(100_000, user)], refused: [[], list(100_001, user)] },
      max_tokens: integers(0, 1_000_000),
      temperature: range(0, 1),
      top_p: range(0, 1),
      top_k: { accepted: [0, 1], refused: [-1, 0.5] },
      tools: atMost(10_000, { name: "tool", input_schema: {} }),
      tool_choice: { accepted: [{ type: "tool", name: "a" }], refused: [{ type: "tool", name: "" }] },
      thinking: {
        accepted: [{ type: "enabled", budget_tokens: 1_024 }],
        refused: [{ type: "enabled", budget_tokens: 1_023 }],
      },
      metadata: {
        accepted: [{}, { user_id: characters(512) }, { user_id: null }],
        refused: [{ user_id: characters(513) }],
      },
    },
  ],
  "a response": [
    createResponseRequest(noAliases),
    { model, input: "Hello" },
    {
      ...gatewayMembers,
      input: { accepted: [[user], list(10_000, user)], refused: [[], list(10_001, user)] },
      previous_response_id: {
        accepted: ["resp_a", `resp_${characters(123)}`],
        refused: ["resp_", "msg_a", `resp_${characters(124)}`],
      },
      temperature: range(0, 2),
      top_p: range(0, 1),
      presence_penalty: range(-2, 2),
      frequency_penalty: range(-2, 2),
      top_logprobs: integers(0, 20),
      max_output_tokens: integers(1, 1_000_000),
      max_tool_calls: { accepted: [1, 2, 1_000], refused: [0, 1.5] },
      tools: {
        accepted: [
          ...atMost(128, functionTool).accepted,
          [{ type: "namespace", name: "n", tools: list(128, functionTool) }],
        ],
        refused: [
          ...atMost(128, functionTool).refused,
          [{ type: "namespace", name: "n", tools: list(129, functionTool) }],
        ],
      },
      prompt_cache_key: longest(512),
      safety_identifier: longest(512),
      user: longest(512),
      metadata: {
        accepted: [pairs(16), { [characters(64)]: 1 }, { a: characters(512) }, { a: [characters(4_092)] }],
        refused: [pairs(17), { [characters(65)]: 1 }, { a: characters(513) }, { a: [characters(4_093)] }],
      },
    },
  ],
  "an embedding": [
    createEmbeddingsRequest(noAliases),
    { model, input: "Hello" },
    {
      ...gatewayMembers,
      input: {
        accepted: ["a", list(2_048, "a"), [0], list(300_000, 1), list(2_048, [1])],
        refused: ["", [], list(2_049, "a"), [""], [-1], list(300_001, 1), list(2_049, [1]), [[]]],
      },
      dimensions: integers(1, 65_536),
      input_type: longest(64),
      user: longest(512),
    },
  ],
  "an image": [
    createImagesRequest(noAliases),
    { model: "sandbox", prompt: "A cat" },
    { prompt: { accepted: ["a"], refused: [""] }, n: integers(1, 10) },
  ],
  "a moderation": [
    createModerationsRequest(noAliases),
    {},
    {
      input: {
        accepted: ["a", list(32, "a"), list(32, { type: "text", text: "a" })],
        refused: ["", [], list(33, "a"), [""], ["a", { type: "text", text: "a" }]],
      },
    },
  ],
  speech: [
    createSpeechRequest(noAliases),
    { model: "sandbox", input: "Hello" },
    {
      input: { accepted: ["a"], refused: [""] },
      voice: {
        accepted: ["a", characters(256), { id: characters(256) }],
        refused: ["", characters(257), { id: "" }, { id: characters(257) }],
      },
      speed: range(0.25, 4),
      instructions: longest(4_096),
    },
  ],
  "a key": [
    createKeyRequest,
    { name: "a" },
    {
      name: { ...text(128), refused: [...text(128).refused, "a\0b", "a\ud800b"] },
      team: text(256),
      owner: text(256),
      scopes: { accepted: [["chat"]], refused: [[], list(5, "chat")] },
      allowed_models: {
        accepted: [list(256, "a/*"), [characters(256)]],
        refused: [[], list(257, "a/*"), [characters(257)]],
      },
      rate_limit: {
        accepted: [{ requests_per_second: 1 }, { tokens_per_minute: 1_000_000_000 }],
        refused: [{ requests_per_second: 0 }, { tokens_per_minute: 1_000_000_001 }],
      },
      budget: {
        accepted: [{ amount: 0 }, { amount: 0.000_001 }, { amount: 9_000_000 }],
        refused: [{ amount: -1 }, { amount: 9_000_001 }, { amount: 0.000_000_1 }],
      },
      model_limits: {
        accepted: [Array.from({ length: 20 }, (_, index) => ({ model: `a/${index}`, budget: { amount: 1 } }))],
        refused: [Array.from({ length: 21 }, (_, index) => ({ model: `a/${index}`, budget: { amount: 1 } }))],
      },
    },
  ],
  "the rotation of a key": [rotateKeyRequest, {}, { grace_seconds: integers(0, 86_400) }],
  "a team": [createTeamRequest, { name: "a" }, { name: text(256), display_name: text(256) }],
  "a sign-in": [signInRequest, {}, { key: text(512) }],
  "a collection": [createCollectionRequest, { provider: "local" }, { provider: text(64), name: text(255) }],
};

const queries: typeof bodies = {
  "the list of keys": [
    listKeysQuery,
    {},
    { page: integerTexts(1, 1_000_000), limit: integerTexts(1, 1_000), team: text(256), owner: text(256) },
  ],
  "the audit log": [
    listAuditQuery,
    {},
    { limit: integerTexts(1, 1_000), actor: text(256), action: text(64), target: text(256), team: text(256) },
  ],
  "the list of budgets": [listBudgetsQuery, {}, { limit: integerTexts(1, 10_000) }],
  latencies: [latencyQuery, {}, { step_hours: integerTexts(1, 744) }],
  "the list of jobs": [
    listManagedJobsQuery,
    {},
    { limit: integerTexts(1, 1_000), task: text(129), provider: text(64), team: text(256) },
  ],
  "the report of usage": [usageQuery, {}, { limit: integerTexts(1, 20_000) }],
  "the list of requests": [
    listRequestsQuery,
    {},
    {
      limit: integerTexts(1, 1_000),
      status: integerTexts(100, 599),
      min_latency_ms: integerTexts(0, 1_000_000_000),
    },
  ],
  "the path of a team": [teamPath, {}, { team: text(256) }],
  "the path of a response": [responseParams, {}, { response_id: { accepted: ["resp_a"], refused: ["", "a"] } }],
  "the input items of a response": [listInputItemsQuery, {}, { limit: integerTexts(1, 100), after: text(1_024) }],
};

for (const [title, [schema, others, members]] of Object.entries({ ...bodies, ...queries })) {
  describe(`${title} is accepted up to the limit of`, () => {
    test.each(Object.entries(members))("%s", (name, { accepted, refused }) => {
      const isAccepted = (value: unknown) => schema.safeParse({ ...others, [name]: value }).success;
      expect(accepted.filter((value) => !isAccepted(value)).map(shorten)).toEqual([]);
      expect(refused.filter(isAccepted).map(shorten)).toEqual([]);
    });
  });
}

/** A failure shows the value, which may be long. */
function shorten(value: unknown): string {
  return JSON.stringify(value).slice(0, 100);
}
