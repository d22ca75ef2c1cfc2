// A local server that behaves like Anthropic's Messages API. The wire format is documented
// (https://platform.claude.com/docs/en/api/messages, .../build-with-claude/streaming, .../build-with-claude/extended-thinking);
// what its model says is invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, replyTo, type Tool } from "./mind.ts";
import * as wire from "./wire.ts";

const bodyMembers = [
  ...["model", "max_tokens", "messages", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences"],
  ...["tools", "tool_choice", "thinking", "output_config", "metadata", "service_tier", "cache_control"],
];

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export function anthropic(request: VendorRequest): Script {
  return wire.serve(request, run, (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "api_error", message },
    request_id: "req_vendor",
  }));
}

function run(request: VendorRequest): Script {
  wire.demand(request.headers["anthropic-version"] === "2023-06-01", "anthropic-version: header is required");
  wire.demand(request.headers["x-api-key"], "x-api-key: header is required");
  if (request.path.endsWith("/v1/messages/count_tokens")) return count(request);
  wire.demand(request.path.endsWith("/v1/messages"), "no such path");
  const body = wire.bodyOf(request, "body", bodyMembers);
  const model = wire.textOf(body["model"], "model");
  const maxTokens = wire.numberOf(body["max_tokens"], "max_tokens", 1, 200_000);
  wire.failOnDemand(model);
  const question = readQuestion(body, model, maxTokens);
  const reply = replyTo(question);
  const message = toMessage(model, reply, countWords(question.said));
  return body["stream"] === true ? toStream(model, message) : answer(200, message);
}

function count(request: VendorRequest): Script {
  const allowed = ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"];
  const body = wire.bodyOf(request, "body", allowed);
  wire.failOnDemand(wire.textOf(body["model"], "model"));
  return answer(200, { input_tokens: countWords(JSON.stringify(body["messages"])) });
}

function readQuestion(body: wire.Members, model: string, maxTokens: number): Question {
  const tools = (body["tools"] === undefined ? [] : wire.listOf(body["tools"], "tools")).map(readTool);
  const choice = readChoice(body["tool_choice"], tools);
  const thinking = readThinking(body, model, maxTokens);
  wire.demand(
    !(thinking === "enabled" && choice.isForced),
    "thinking: does not go with a tool_choice that demands a call",
  );
  checkSampling(body, model, thinking !== "off");
  if (body["system"] !== undefined) readSystem(body["system"]);
  const { said, results } = readTurns(wire.listOf(body["messages"], "messages"), thinking === "enabled");
  return { said, results, tools, choice: choice.value, schema: readSchema(body), thinks: thinking !== "off" };
}

function readTool(value: unknown, index: number): Tool {
  const where = `tools.${index}`;
  const tool = wire.membersOf(value, where, [
    ...["type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming"],
  ]);
  wire.demand(tool["type"] === undefined || tool["type"] === "custom", `${where}.type: is not known`);
  wire.demand(
    /^[a-zA-Z0-9_-]{1,128}$/.test(wire.textOf(tool["name"], `${where}.name`)),
    `${where}.name: has a wrong form`,
  );
  const parameters = wire.membersOf(tool["input_schema"], `${where}.input_schema`);
  wire.demand(parameters["type"] === "object", `${where}.input_schema.type: Field required`);
  return { name: tool["name"] as string, parameters };
}

function readChoice(value: unknown, tools: readonly Tool[]): { value: Question["choice"]; isForced: boolean } {
  if (value === undefined) return { value: "auto", isForced: false };
  wire.demand(tools.length > 0, "tool_choice: there are no tools");
  const choice = wire.membersOf(value, "tool_choice", ["type", "name", "disable_parallel_tool_use"]);
  const type = wire.oneOf(choice["type"], "tool_choice.type", ["auto", "any", "tool", "none"]);
  if (type !== "tool") return { value: type, isForced: type === "any" };
  const name = wire.textOf(choice["name"], "tool_choice.name");
  wire.demand(
    tools.some((tool) => tool.name === name),
    `tool_choice.name: there is no tool ${name}`,
  );
  return { value: { name }, isForced: true };
}

const adaptiveOnly = /claude-(?:opus|sonnet|haiku|fable|mythos)-(?:4-[678]|5)/;

function readThinking(body: wire.Members, model: string, maxTokens: number): "off" | "enabled" | "adaptive" {
  if (body["thinking"] === undefined) return "off";
  const thinking = wire.membersOf(body["thinking"], "thinking", ["type", "budget_tokens", "display", "block_binding"]);
  const type = wire.oneOf(thinking["type"], "thinking.type", ["enabled", "adaptive", "disabled", "between_tools"]);
  if (type === "adaptive") {
    wire.demand(adaptiveOnly.test(model), "thinking.type: this model does not adapt its thinking");
    return "adaptive";
  }
  if (type !== "enabled") return "off";
  wire.demand(!adaptiveOnly.test(model), "thinking.type: this model takes no budget");
  const budget = wire.numberOf(thinking["budget_tokens"], "thinking.budget_tokens", 1_024, 128_000);
  wire.demand(budget < maxTokens, "thinking.budget_tokens: should be below max_tokens");
  return "enabled";
}

function checkSampling(body: wire.Members, model: string, thinks: boolean): void {
  const { temperature, top_p: topP, top_k: topK } = body;
  if (temperature !== undefined) wire.numberOf(temperature, "temperature", 0, 1);
  if (topP !== undefined) wire.numberOf(topP, "top_p", 0, 1);
  wire.demand(!thinks || temperature === undefined || temperature === 1, "temperature: should be 1 beside thinking");
  wire.demand(!thinks || topK === undefined, "top_k: does not go with thinking");
  const takesNone = /claude-(?:opus|sonnet|haiku|fable|mythos)-(?:4-[78]|5)/.test(model);
  wire.demand(
    !takesNone || (temperature ?? topP ?? topK) === undefined,
    "temperature, top_p and top_k: this model takes none of them",
  );
  const takesOne = /claude-[a-z]+-4/.test(model);
  wire.demand(!takesOne || temperature === undefined || topP === undefined, "temperature and top_p: only one of them");
}

function readSystem(system: unknown): void {
  if (typeof system === "string") return;
  for (const [index, block] of wire.listOf(system, "system").entries()) {
    const { text } = wire.membersOf(block, `system.${index}`, ["type", "text", "cache_control", "citations"]);
    wire.demand(wire.textOf(text, `system.${index}.text`).trim() !== "", "system: a text is empty");
  }
}

/** Answers of this form are closed objects throughout. */
function readSchema(body: wire.Members): wire.Members | null {
  if (body["output_config"] === undefined) return null;
  const output = wire.membersOf(body["output_config"], "output_config", ["effort", "format"]);
  if (output["effort"] !== undefined)
    wire.oneOf(output["effort"], "output_config.effort", ["low", "medium", "high", "xhigh", "max"]);
  if (output["format"] === undefined) return null;
  const format = wire.membersOf(output["format"], "output_config.format", ["type", "schema"]);
  wire.oneOf(format["type"], "output_config.format.type", ["json_schema"]);
  const schema = wire.membersOf(format["schema"], "output_config.format.schema");
  demandClosed(schema);
  return schema;
}

function demandClosed(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  const { type, additionalProperties } = schema as wire.Members;
  wire.demand(
    type !== "object" || additionalProperties === false,
    "output_config.format: every object should be closed",
  );
  for (const member of Object.values(schema)) demandClosed(member);
}

interface Turns {
  readonly said: string;
  readonly results: Question["results"];
}

function readTurns(messages: readonly unknown[], needsThinking: boolean): Turns {
  wire.demand(messages.length > 0, "messages: there are none");
  let said = "";
  let results: { name: string; text: string }[] = [];
  /** Calls of the turn before, which have to be answered in this one. */
  let open = new Map<string, string>();
  for (const [index, value] of messages.entries()) {
    const where = `messages.${index}`;
    const { role, content } = wire.membersOf(value, where, ["role", "content"]);
    wire.oneOf(role, `${where}.role`, ["user", "assistant", "system"]);
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : wire.listOf(content, where);
    wire.demand(blocks.length > 0, `${where}: has no content`);
    const calls = new Map<string, string>();
    const words: string[] = [];
    for (const [at, blockValue] of blocks.entries()) {
      const block = withoutNulls(blockValue, `${where}.content.${at}`);
      readBlock(block, `${where}.content.${at}`);
      if (block["type"] === "text") words.push(String(block["text"]));
      if (block["type"] === "tool_use") calls.set(String(block["id"]), String(block["name"]));
      if (block["type"] !== "tool_result") continue;
      wire.demand(role === "user", `${where}: a tool_result stands in a turn of the assistant`);
      wire.demand(words.length === 0, `${where}: a tool_result stands behind words`);
      const name = open.get(String(block["tool_use_id"]));
      wire.demand(name !== undefined, `${where}: a tool_result answers no call of the turn before`);
      open.delete(String(block["tool_use_id"]));
      results.push({ name, text: textOfResult(block["content"]) });
    }
    wire.demand(open.size === 0, `${where}: calls of the turn before have no result here`);
    wire.demand(calls.size === 0 || role === "assistant", `${where}: a tool_use stands in a turn of the user`);
    if (role === "assistant" && needsThinking && calls.size > 0 && isLastCall(messages, index))
      wire.demand(
        String((blocks[0] as wire.Members)["type"]).endsWith("thinking"),
        `${where}: should begin with thinking`,
      );
    if (role === "user" && words.length > 0) {
      said = words.join("\n");
      results = [];
    }
    open = calls;
  }
  wire.demand(open.size === 0, "messages: the last calls have no results");
  return { said, results };
}

/** Members of blocks may be null, which says nothing. */
function withoutNulls(block: unknown, where: string): wire.Members {
  wire.demand(typeof block === "object" && block !== null, `${where}: should be an object`);
  return Object.fromEntries(Object.entries(block).filter(([, member]) => member !== null));
}

/** Only the calls whose results stand last are part of the turn that goes on. */
function isLastCall(messages: readonly unknown[], index: number): boolean {
  return index === messages.length - 2;
}

function readBlock(block: wire.Members, where: string): void {
  const type = wire.oneOf(block["type"], `${where}.type`, [
    ...["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"],
  ]);
  switch (type) {
    case "text":
      wire.membersOf(block, where, ["type", "text", "cache_control", "citations"]);
      wire.demand(wire.textOf(block["text"], where).trim() !== "", `${where}: a text has no visible character`);
      return;
    case "tool_use":
      wire.membersOf(block, where, ["type", "id", "name", "input", "cache_control", "caller"]);
      wire.demand(/^[a-zA-Z0-9_-]+$/.test(wire.textOf(block["id"], `${where}.id`)), `${where}.id: has a wrong form`);
      wire.membersOf(block["input"], `${where}.input`);
      return;
    case "tool_result":
      wire.membersOf(block, where, ["type", "tool_use_id", "content", "is_error", "cache_control"]);
      return;
    case "thinking":
      wire.membersOf(block, where, ["type", "thinking", "signature"]);
      wire.demandSignature(wire.textOf(block["thinking"], where), block["signature"], where);
      return;
    case "redacted_thinking":
      wire.demand(false, `${where}.data: was not written by this vendor`);
      return;
    default:
      return;
  }
}

function textOfResult(content: unknown): string {
  if (content === undefined) return "";
  if (typeof content === "string") return content;
  return wire
    .listOf(content, "content")
    .map((block) => String((block as wire.Members)["text"] ?? ""))
    .join("");
}

interface Message {
  readonly id: string;
  readonly content: readonly wire.Members[];
  readonly stop_reason: string;
  readonly usage: wire.Members;
  readonly [member: string]: unknown;
}

function toMessage(model: string, { thoughts, text, calls }: Reply, inputTokens: number): Message {
  const content: wire.Members[] = [];
  if (thoughts !== "") content.push({ type: "thinking", thinking: thoughts, signature: wire.sign(thoughts) });
  if (text !== "") content.push({ type: "text", text });
  for (const [index, { name, input }] of calls.entries())
    content.push({ type: "tool_use", id: `toolu_0${index}${name}`, name, input });
  return {
    id: "msg_vendor01",
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: countWords(thoughts, text, JSON.stringify(calls)),
      service_tier: "standard",
    },
  };
}

function toStream(model: string, message: Message): Script {
  const events: Uint8Array[] = [];
  const push = (type: string, members: wire.Members = {}) => events.push(wire.eventBytes({ type, ...members }, type));
  const { output_tokens: outputTokens, ...counts } = message.usage;
  const begun = { ...message, content: [], stop_reason: null, usage: { ...counts, output_tokens: 1 } };
  push("message_start", { message: begun });
  push("ping");
  for (const [index, block] of message.content.entries()) {
    const { start, deltas } = taken(block);
    push("content_block_start", { index, content_block: start });
    for (const delta of deltas) push("content_block_delta", { index, delta });
    push("content_block_stop", { index });
  }
  const delta = { stop_reason: message.stop_reason, stop_sequence: null };
  push("message_delta", { delta, usage: { output_tokens: outputTokens } });
  push("message_stop");
  const failed = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  return wire.streamScript({
    contentType: "text/event-stream; charset=utf-8",
    events,
    failure: wire.eventBytes(failed, "error"),
    trouble: wire.troubleOf(model),
  });
}

function taken(block: wire.Members): { start: wire.Members; deltas: readonly wire.Members[] } {
  switch (block["type"]) {
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...wire.wordsOf(String(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      };
    case "text":
      return {
        start: { type: "text", text: "" },
        deltas: wire.wordsOf(String(block["text"])).map((text) => ({ type: "text_delta", text })),
      };
    default:
      return {
        start: { ...block, input: {} },
        deltas: ["", ...wire.wordsOf(JSON.stringify(block["input"]))].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      };
  }
}
