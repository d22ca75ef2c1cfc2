// Coding agents on a task of ten steps, in front of vendors that refuse what the real ones refuse. The requests have the shape that
// Claude Code 2.1.325 and Codex 0.166.0 were seen to send; both programs are too large (785 MB) to be
// installed for the tests; scripts/agents.ts runs an installed one against these vendors.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startAgentGateway, startAgentVendors } from "../support/agent-vendors/index.ts";
import { closingText, type Members, objects, stepAfter, stepCount } from "../support/agent-vendors/plan.ts";
import { ask } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";

const vendor = await startAgentVendors();
const gateway = await startAgentGateway(vendor);
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

const ephemeral = { cache_control: { type: "ephemeral" } };
const claudeTools = [
  {
    name: "Bash",
    description: "Executes a given bash command and returns its output.",
    input_schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { command: { type: "string" }, description: { type: "string" }, timeout: { type: "number" } },
      required: ["command"],
      additionalProperties: false,
    },
  },
];

/** One request of Claude Code. */
function claudeRequest(model: string, messages: readonly unknown[], more: Members): Members {
  return {
    model,
    messages,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.325.b2e; cc_entrypoint=sdk-cli;" },
      { type: "text", text: "You are a Claude agent, built on Anthropic's Claude Agent SDK.", ...ephemeral },
      { type: "text", text: "\nYou are an agent working with the user toward their goals.", ...ephemeral },
    ],
    tools: claudeTools,
    metadata: {
      user_id: JSON.stringify({ device_id: "eeaef6c0".repeat(8), account_uuid: "", session_id: "7ca2e563" }),
    },
    max_tokens: 32_000,
    thinking: { type: "adaptive", display: "omitted" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    output_config: { effort: "high" },
    stream: true,
    ...more,
  };
}

const claudeHeaders = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta":
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24",
};

interface Answer {
  readonly content: readonly Members[];
  readonly dropped: string | null;
}

/** The members of a block that the format documents: a client may leave out all others. */
const documented: Readonly<Record<string, readonly string[]>> = {
  text: ["type", "text"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
  tool_use: ["type", "id", "name", "input"],
};

async function askAsClaude(model: string, messages: readonly unknown[], more: Members): Promise<Answer> {
  const body = claudeRequest(model, messages, more);
  const response = await ask(gateway.url, key, body, { path: "/v3/v1/messages?beta=true", headers: claudeHeaders });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  const dropped = response.headers.get("x-switchyard-dropped-params");
  const content = more["stream"] === false ? objects(JSON.parse(text).content) : readBlocks(text);
  return { content: content.map(withoutOthers), dropped };
}

function withoutOthers(block: Members): Members {
  const names = documented[String(block["type"])] ?? [];
  return Object.fromEntries(names.map((name) => [name, block[name]]));
}

function readBlocks(text: string): Members[] {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const { data } of readEvents(text).events) {
    const event = JSON.parse(data);
    if (event.type === "error") throw new Error(data);
    const block = blocks[event.index] ?? {};
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type !== "content_block_delta") continue;
    const { type, partial_json, ...delta } = event.delta;
    if (type === "input_json_delta") inputs.set(event.index, `${inputs.get(event.index) ?? ""}${partial_json}`);
    for (const [name, piece] of Object.entries(delta)) block[name] = `${block[name] ?? ""}${piece}`;
  }
  for (const [index, input] of inputs) blocks[index] = { ...blocks[index], input: JSON.parse(input) };
  return blocks;
}

/** Claude Code runs the tools and goes on until the model calls none. */
async function runClaude(
  model: string,
  more: Members = {},
): Promise<{ steps: number; last: Answer; messages: unknown[] }> {
  const messages: unknown[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "<system-reminder>…</system-reminder>" },
        { type: "text", text: "Go." },
      ],
    },
    { role: "system", content: [{ type: "text", text: "# Environment\nLinux", ...ephemeral }] },
  ];
  for (let steps = 0; steps <= stepCount + 1; steps++) {
    const last = await askAsClaude(model, messages, more);
    const calls = last.content.filter((block) => block["type"] === "tool_use");
    if (calls.length === 0) return { steps, last, messages };
    const results = calls.map((call, index) => ({
      type: "tool_result",
      tool_use_id: call["id"],
      content: steps === 4 ? "command not found" : `output ${steps}.${index}`,
      ...(steps === 4 && { is_error: true }),
      ...(steps === 6 && { content: [{ type: "text", text: "see" }, ...(index === 0 ? [pixel] : [])] }),
    }));
    messages.push({ role: "assistant", content: last.content }, { role: "user", content: results });
  }
  throw new Error("the agent came to no end");
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/58BAwAI/AL+hc2rNAAAAABJRU5ErkJggg==";
const pixel = { type: "image", source: { type: "base64", media_type: "image/png", data: png } };

const agentModels = [
  ...["openai/gpt-5.6", "openai/gpt-5", "openai/o4-mini", "openai/gpt-4o", "deepseek/deepseek-v4-pro"],
  ...["moonshot/kimi-k3", "moonshot/kimi-k2.6", "zai/glm-5.3", "zai/glm-4.7", "minimax/MiniMax-M3"],
  ...["openrouter/anthropic/claude-haiku-4.5", "groq/llama-3.3-70b-versatile", "groq/openai/gpt-oss-120b"],
];

const translatedModels = [
  ...["gemini/gemini-3.5-flash", "bedrock/openai.gpt-oss-120b-1:0", "bedrock/qwen.qwen3-32b-v1:0"],
  "bedrock/moonshotai.kimi-k2.5",
];

describe("Claude Code completes ten steps", () => {
  for (const model of [...agentModels, ...translatedModels])
    test(`with ${model}, streamed`, async () => {
      const { steps, last } = await runClaude(model);
      expect(steps).toBe(stepCount);
      expect(last.content.at(-1)).toMatchObject({ type: "text", text: closingText });
    });

  for (const model of [...agentModels, "gemini/gemini-3.5-flash"])
    test(`with ${model}, in whole answers`, async () => {
      const { steps, last } = await runClaude(model, { stream: false });
      expect(steps).toBe(stepCount);
      expect(last.content.at(-1)).toMatchObject({ type: "text", text: closingText });
    });

  for (const thinking of [{ type: "disabled" }, { type: "enabled", budget_tokens: 10_000 }])
    for (const model of [
      "openai/gpt-5.6",
      "openai/gpt-5",
      "deepseek/deepseek-v4-pro",
      "moonshot/kimi-k2.6",
      "zai/glm-5.3",
    ])
      test(`with ${model} and thinking ${thinking.type}`, async () => {
        const { steps } = await runClaude(model, { thinking, output_config: undefined, temperature: 1 });
        expect(steps).toBe(stepCount);
      });
});

describe("reasoning returns to the vendor that gave it", () => {
  for (const model of ["deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "zai/glm-5.3"])
    test(`as reasoning_content to ${model}`, async () => {
      await runClaude(model);
      const messages = objects(JSON.parse(vendor.last().body.toString()).messages);
      const [name = ""] = model.split("/");
      const told = messages.filter((message) => message["tool_calls"] !== undefined);
      expect(told.map((message) => message["reasoning_content"])).toEqual(
        Array.from({ length: stepCount }, (_, turn) => stepAfter(turn, name).thought),
      );
    });

  test("ids of tool calls come back unchanged", async () => {
    await runClaude("moonshot/kimi-k3");
    const messages = objects(JSON.parse(vendor.last().body.toString()).messages);
    const ids = messages.flatMap((message) => objects(message["tool_calls"]).map((call) => call["id"]));
    expect(ids).toEqual(Array.from({ length: stepCount + 1 }, (_, count) => `functions.Bash:${count}`));
  });

  test("and what another vendor signed is not sent to a vendor that checks signatures", async () => {
    const { messages } = await runClaude("openrouter/anthropic/claude-haiku-4.5");
    const begun = messages.slice(0, 4);
    vendor.clear();
    const answer = await askAsClaude("openai/gpt-5.6", begun, {}).catch((error: Error) => error.message);
    // The vendor of this test demands reasoning of its own for every call. What matters is that it got none of another vendor's.
    expect(answer).toContain("the reasoning of an earlier call is missing");
    expect(vendor.last().body.toString()).not.toContain('encrypted_content":');
    expect(vendor.last().body.toString()).not.toContain("openrouter-v1");
  });

  test("a call whose reasoning is lost is sent with the value that the vendor accepts", async () => {
    const lost = [
      { role: "user", content: "Go." },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
    ];
    for (const [model, value] of [
      ["deepseek/deepseek-v4-pro", ""],
      ["moonshot/kimi-k3", " "],
    ] as const) {
      await askAsClaude(model, lost, {});
      const messages = objects(JSON.parse(vendor.last().body.toString()).messages);
      expect(messages.find((message) => message["tool_calls"])?.["reasoning_content"]).toBe(value);
    }
  });
});

describe("what a model does not take", () => {
  const sent = () => JSON.parse(vendor.last().body.toString());

  test("is left out and named", async () => {
    const { dropped } = await askAsClaude("openai/gpt-4o", [{ role: "user", content: "Go." }], { temperature: 0.5 });
    expect(sent()).toMatchObject({ max_completion_tokens: 32_000, temperature: 0.5 });
    expect(sent()).not.toContainAnyKeys(["reasoning_effort", "thinking", "max_tokens"]);
    expect(dropped?.split(",").map((name) => name.trim())).toContain("thinking");
  });

  test("a temperature is left out for a model that reasons", async () => {
    const { dropped } = await askAsClaude("openai/gpt-5", [{ role: "user", content: "Go." }], {
      temperature: 0.5,
      stop_sequences: ["END"],
    });
    expect(sent()).not.toContainAnyKeys(["temperature", "stop"]);
    expect(dropped?.split(",").map((name) => name.trim())).toEqual(
      expect.arrayContaining(["temperature", "stop_sequences"]),
    );
  });

  test("a search on the web goes to the API that searches, and is named where the vendor has none", async () => {
    const search = { type: "web_search_20250305", name: "web_search", max_uses: 5 };
    const go = [{ role: "user", content: "Go." }];
    for (const model of ["openai/gpt-4o", "openai/gpt-5"]) {
      await askAsClaude(model, go, { tools: [...claudeTools, search] });
      expect(vendor.last().path).toBe("/openai/responses");
      expect(sent().tools.map((tool: Members) => tool["type"])).toEqual(["function", "web_search"]);
    }
    const { dropped } = await askAsClaude("moonshot/kimi-k3", go, { tools: [...claudeTools, search] });
    expect(sent()).not.toHaveProperty("web_search_options");
    expect(dropped).toContain("tools.web_search");
  });

  test("under strict_parameters it is refused before the vendor is called", async () => {
    const more = { temperature: 0.5, strict_parameters: true, context_management: undefined };
    const refused = askAsClaude("openai/gpt-5", [{ role: "user", content: "Go." }], more);
    await expect(refused).rejects.toThrow("temperature");
    expect(vendor.requests).toBeEmpty();
  });

  test("an effort that the model does not have becomes the nearest one below", async () => {
    const levels: [model: string, asked: string, sent: string][] = [
      ["openai/gpt-5", "max", "high"],
      ["groq/openai/gpt-oss-120b", "xhigh", "high"],
      ["moonshot/kimi-k3", "medium", "low"],
      ["moonshot/kimi-k3", "max", "max"],
    ];
    for (const [model, asked, expected] of levels) {
      await askAsClaude(model, [{ role: "user", content: "Go." }], { output_config: { effort: asked } });
      expect(sent().reasoning_effort).toBe(expected);
    }
  });

  test("a chat caller's bytes are not changed", async () => {
    const body = '{"model":"openai/gpt-5.6","max_tokens":5,"messages":[{"role":"user","content":"Go."}]}';
    const response = await ask(gateway.url, key, body);
    expect(response.status).toBe(400);
    expect(vendor.last().body.toString()).toBe(body.replace("openai/", ""));
    expect(await response.text()).toContain("Use 'max_completion_tokens' instead.");
  });
});

const codexTools = [
  {
    type: "function",
    name: "exec_command",
    description: "Runs a command in a PTY, returning output or a session ID for ongoing interaction.",
    strict: false,
    parameters: {
      type: "object",
      properties: { cmd: { type: "string" }, tty: { type: "boolean" }, yield_time_ms: { type: "number" } },
      required: ["cmd"],
      additionalProperties: false,
    },
  },
];

/** Beside the functions: tools in a namespace, and a search that stays off the network unless the user allows it. */
const otherCodexTools = [
  {
    type: "namespace",
    name: "multi_agent_v1",
    description: "Tools for spawning and managing sub-agents.",
    tools: [
      {
        type: "function",
        name: "close_agent",
        description: "Close an agent.",
        strict: false,
        parameters: { type: "object", properties: { target: { type: "string" } }, required: ["target"] },
      },
    ],
  },
  { type: "web_search", external_web_access: false },
];

/** Codex sends back every item that it was told as done, with these members. */
const ofItems: Readonly<Record<string, readonly string[]>> = {
  message: ["type", "status", "id", "role", "content"],
  reasoning: ["type", "id", "summary", "content", "encrypted_content"],
  function_call: ["type", "status", "id", "name", "arguments", "call_id"],
};

async function runCodex(model: string): Promise<{ steps: number; said: string }> {
  const said = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });
  const input: unknown[] = [
    said("developer", "You are a coding agent."),
    said("user", "<environment_context/>"),
    said("user", "Go."),
  ];
  for (let steps = 0; steps <= stepCount + 1; steps++) {
    const body = {
      model,
      stream: true,
      input,
      tools: [...codexTools, ...otherCodexTools],
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { effort: "high", summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "01a1e0f1-b591-7a60-9354-744b366a7502",
      text: { verbosity: "medium" },
      client_metadata: { session_id: "01a1e0f1-b591-7a60-9354-744b366a7502" },
    };
    const response = await ask(gateway.url, key, body, { path: "/v3/responses" });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    const events = readEvents(text).events.flatMap(({ data }) => (data === "[DONE]" ? [] : [JSON.parse(data)]));
    expect(events.at(-1)?.type).toBe("response.completed");
    const items = events.flatMap((event) =>
      event.type === "response.output_item.done" ? [event.item as Members] : [],
    );
    for (const item of items) {
      const names = ofItems[String(item["type"])] ?? [];
      input.push(Object.fromEntries(names.map((name) => [name, item[name] ?? null])));
    }
    const calls = items.filter((item) => item["type"] === "function_call");
    const texts = items.flatMap((item) => objects(item["content"]).map((part) => part["text"]));
    if (calls.length === 0) return { steps, said: String(texts.at(-1)) };
    for (const { call_id } of calls)
      input.push({ type: "function_call_output", call_id, output: `Process exited with code 0\nOutput:\n${steps}` });
  }
  throw new Error("the agent came to no end");
}

/** A chat client that keeps the assistant's message as it came, as the vendors' own examples do. */
async function runChat(model: string): Promise<number> {
  const messages: unknown[] = [{ role: "user", content: "Go." }];
  const tools = [{ type: "function", function: { name: "exec_command", parameters: { type: "object" } } }];
  // The vendor of this provider tells its reasoning apart only when it is asked to.
  const more = model.startsWith("minimax/") ? { reasoning_split: true } : {};
  for (let steps = 0; steps <= stepCount + 1; steps++) {
    const response = await ask(gateway.url, key, { model, messages, tools, ...more });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    const { message } = JSON.parse(text).choices[0];
    const calls = objects(message.tool_calls);
    if (calls.length === 0) return steps;
    messages.push(message, ...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "done" })));
  }
  throw new Error("the agent came to no end");
}

describe("a chat client that returns messages as they came completes ten steps", () => {
  for (const model of [
    ...["deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "zai/glm-5.3", "minimax/MiniMax-M3"],
    ...["openrouter/anthropic/claude-haiku-4.5", "groq/openai/gpt-oss-120b"],
  ])
    test(`with ${model}`, async () => expect(await runChat(model)).toBe(stepCount));
});

describe("reasoning items of a vendor's own Responses API", () => {
  const said = { type: "message", role: "user", content: "Go." };
  const called = { type: "function_call", call_id: "c1", name: "exec_command", arguments: '{"cmd":"ls"}' };
  const told = { type: "function_call_output", call_id: "c1", output: "a" };
  const send = async (model: string, reasoning: Members) => {
    const body = { model, input: [said, reasoning, called, told], tools: codexTools, store: false };
    const response = await ask(gateway.url, key, body, { path: "/v3/responses" });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };

  test("are not sent to another vendor in their encrypted form", async () => {
    const first = await ask(
      gateway.url,
      key,
      { model: "openai/gpt-5.6", input: "Go.", tools: codexTools, store: false },
      { path: "/v3/responses" },
    );
    const [reasoning] = objects(((await first.json()) as Members)["output"]);
    expect(reasoning?.["encrypted_content"]).toBeString();
    const answer = await send("deepseek/deepseek-v4-pro", reasoning as Members);
    expect(vendor.last().body.toString()).not.toContain("encrypted_content");
    expect(answer.text).toContain("must be passed back");
  });

  test("keep their text where the vendor stores nothing, also when their id is not known", async () => {
    const text = stepAfter(0, "deepseek").thought;
    const reasoning = { type: "reasoning", id: "rs_lost", summary: [], content: [{ type: "reasoning_text", text }] };
    expect((await send("deepseek/deepseek-v4-pro", reasoning)).status).toBe(200);
  });
});

describe("Codex completes ten steps", () => {
  for (const model of [
    ...["openai/gpt-5.6", "deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "moonshot/kimi-k2.6"],
    ...["zai/glm-5.3", "minimax/MiniMax-M3"],
    ...translatedModels,
  ])
    test(`with ${model}`, async () => expect(await runCodex(model)).toEqual({ steps: stepCount, said: closingText }));
});
