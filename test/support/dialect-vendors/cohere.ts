// A local server that behaves like Cohere's API, version 2. The wire format is documented
// (https://docs.cohere.com/reference/chat, https://docs.cohere.com/v2/docs/streaming, https://docs.cohere.com/reference/embed);
// what its model says is invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, readChat, type Tool, vectorOf } from "./mind.ts";
import * as wire from "./wire.ts";

export function cohere(request: VendorRequest): Script {
  return wire.serve(request, run, (_status, message) => ({ id: "9c1f", message }));
}

function run(request: VendorRequest): Script {
  wire.demand(request.headers["authorization"]?.startsWith("Bearer "), "there is no key");
  if (request.path.endsWith("/v2/embed")) return embed(request);
  if (!request.path.endsWith("/v2/chat")) throw new wire.Violation("no such path", 404);
  const { body, model, question, reply } = readChat(request, bodyMembers, readQuestion);
  const usage = toUsage(question, reply);
  const isReasoning = /reasoning|plus/.test(model);
  return body["stream"] === true
    ? toStream(model, reply, { usage, isReasoning })
    : answer(200, toAnswer(reply, { usage, isReasoning }));
}

const bodyMembers = [
  ...["model", "messages", "stream", "tools", "tool_choice", "strict_tools", "response_format", "max_tokens"],
  ...["temperature", "p", "k", "seed", "stop_sequences", "frequency_penalty", "presence_penalty", "logprobs"],
  ...["thinking", "documents", "citation_options", "safety_mode", "priority"],
];

function readQuestion(body: wire.Members): Question {
  for (const name of ["frequency_penalty", "presence_penalty"])
    if (body[name] !== undefined) wire.numberOf(body[name], name, 0, 1);
  if (body["p"] !== undefined) wire.numberOf(body["p"], "p", 0.01, 0.99);
  const tools = (body["tools"] === undefined ? [] : wire.listOf(body["tools"], "tools")).map(readTool);
  const choice = body["tool_choice"];
  if (choice !== undefined) wire.oneOf(choice, "tool_choice", ["REQUIRED", "NONE"]);
  wire.demand(choice === undefined || tools.length > 0, "tool_choice: there are no tools");
  const schema = readFormat(body["response_format"], tools.length > 0);
  const { said, results } = readMessages(wire.listOf(body["messages"], "messages"));
  const thinks = body["thinking"] !== undefined && readThinking(body["thinking"]);
  return {
    said,
    results,
    tools,
    choice: choice === "REQUIRED" ? "any" : choice === "NONE" ? "none" : "auto",
    schema,
    thinks,
  };
}

function readThinking(value: unknown): boolean {
  const { type } = wire.membersOf(value, "thinking", ["type", "token_budget"]);
  return wire.oneOf(type, "thinking.type", ["enabled", "disabled"]) === "enabled";
}

function readTool(value: unknown): Tool {
  const tool = wire.membersOf(value, "tools", ["type", "function"]);
  wire.demand(tool["type"] === "function", "tools.type: should be function");
  const { name, parameters } = wire.membersOf(tool["function"], "function", ["name", "description", "parameters"]);
  const schema = wire.membersOf(parameters, "parameters");
  wire.demand(schema["type"] === "object", "parameters.type: should be object");
  return { name: wire.textOf(name, "name"), parameters: schema };
}

function readFormat(value: unknown, hasTools: boolean): wire.Members | null {
  if (value === undefined) return null;
  const { type, json_schema: schema } = wire.membersOf(value, "response_format", ["type", "json_schema"]);
  wire.oneOf(type, "response_format.type", ["text", "json_object"]);
  wire.demand(!hasTools, "response_format: does not go with tools");
  if (schema === undefined) return null;
  const members = wire.membersOf(schema, "response_format.json_schema");
  wire.demand(
    members["type"] === "object" && Array.isArray(members["required"]) && members["required"].length > 0,
    "response_format.json_schema: the top level should be an object with at least one required field",
  );
  return members;
}

function readMessages(messages: readonly unknown[]): { said: string; results: { name: string; text: string }[] } {
  wire.demand(messages.length > 0, "messages: should not be empty");
  let said = "";
  let results: { name: string; text: string }[] = [];
  let open = new Map<string, string>();
  for (const [index, value] of messages.entries()) {
    const where = `messages[${index}]`;
    const message = wire.membersOf(value, where, [
      "role",
      "content",
      "tool_calls",
      "tool_plan",
      "tool_call_id",
      "citations",
    ]);
    const role = wire.oneOf(message["role"], `${where}.role`, ["system", "user", "assistant", "tool"]);
    if (role !== "tool") wire.demand(open.size === 0, `${where}: a tool call of the message before has no result`);
    switch (role) {
      case "tool": {
        const name = open.get(wire.textOf(message["tool_call_id"], `${where}.tool_call_id`));
        wire.demand(name !== undefined, `${where}: tool_call_id is not one of the calls before`);
        open.delete(String(message["tool_call_id"]));
        results.push({ name, text: wordsIn(message["content"], where) });
        break;
      }
      case "assistant": {
        const calls = message["tool_calls"] === undefined ? [] : wire.listOf(message["tool_calls"], where);
        wire.demand(
          message["content"] !== undefined || calls.length > 0,
          `${where}: should have content or tool_calls`,
        );
        if (message["content"] !== undefined) wordsIn(message["content"], where);
        open = new Map(calls.map(readCall));
        break;
      }
      default: {
        const words = wordsIn(message["content"], where);
        const hasParts = Array.isArray(message["content"]) && message["content"].length > 0;
        wire.demand(words !== "" || hasParts, `${where}.content: should not be empty`);
        if (role === "system") break;
        said = words;
        results = [];
      }
    }
  }
  wire.demand(open.size === 0, "messages: the last calls have no results");
  return { said, results };
}

function readCall(value: unknown): [id: string, name: string] {
  const call = wire.membersOf(value, "tool_calls", ["id", "type", "function"]);
  const { name, arguments: args } = wire.membersOf(call["function"], "function", ["name", "arguments"]);
  wire.demand(wire.textOf(args, "arguments").trimStart().startsWith("{"), "arguments: should be the JSON of an object");
  return [wire.textOf(call["id"], "id"), wire.textOf(name, "name")];
}

function wordsIn(content: unknown, where: string): string {
  if (typeof content === "string") return content;
  const parts = wire.listOf(content, `${where}.content`).map((part) => {
    const members = wire.membersOf(part, where, ["type", "text", "thinking", "image_url", "document"]);
    wire.oneOf(members["type"], `${where}.type`, ["text", "thinking", "image_url", "document"]);
    return members["type"] === "text" ? wire.textOf(members["text"], `${where}.text`) : "";
  });
  return parts.join("");
}

function toUsage({ said }: Question, { thoughts, text, calls }: Reply): wire.Members {
  const input = countWords(said);
  const output = countWords(thoughts, text, JSON.stringify(calls));
  return {
    billed_units: { input_tokens: input, output_tokens: output },
    tokens: { input_tokens: input + 60, output_tokens: output + 2 },
    cached_tokens: 0,
  };
}

interface Told {
  readonly usage: wire.Members;
  /** Models that reason think in blocks, others plan their calls. */
  readonly isReasoning: boolean;
}

function toCalls({ calls }: Reply): wire.Members[] {
  return calls.map(({ name, input }, index) => ({
    id: `${name}_${index}x7`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function toAnswer(reply: Reply, { usage, isReasoning }: Told): wire.Members {
  const { thoughts, text } = reply;
  const calls = toCalls(reply);
  const content: wire.Members[] = [];
  if (isReasoning && thoughts !== "") content.push({ type: "thinking", thinking: thoughts });
  if (text !== "") content.push({ type: "text", text });
  const message = {
    role: "assistant",
    ...(content.length > 0 ? { content } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(!isReasoning && calls.length > 0 ? { tool_plan: "I will look it up." } : {}),
  };
  return { id: "cmpl-vendor-1", message, finish_reason: calls.length > 0 ? "TOOL_CALL" : "COMPLETE", usage };
}

function toStream(model: string, reply: Reply, { usage, isReasoning }: Told): Script {
  const events: Uint8Array[] = [];
  const push = (type: string, members: wire.Members) => events.push(wire.eventBytes({ type, ...members }, type));
  const empty = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  push("message-start", { id: "cmpl-vendor-1", delta: { message: empty } });
  let index = 0;
  const block = (type: "thinking" | "text", text: string) => {
    push("content-start", { index, delta: { message: { content: { type, [type]: "" } } } });
    for (const piece of wire.wordsOf(text))
      push("content-delta", { index, delta: { message: { content: { [type]: piece } } } });
    push("content-end", { index });
    index += 1;
  };
  const calls = toCalls(reply);
  if (isReasoning && reply.thoughts !== "") block("thinking", reply.thoughts);
  else if (calls.length > 0)
    for (const piece of wire.wordsOf("I will look it up."))
      push("tool-plan-delta", { delta: { message: { tool_plan: piece } } });
  if (reply.text !== "") block("text", reply.text);
  for (const [at, call] of calls.entries()) {
    const { name, arguments: args } = call["function"] as wire.Members;
    push("tool-call-start", {
      index: at,
      delta: { message: { tool_calls: { ...call, function: { name, arguments: "" } } } },
    });
    for (const piece of wire.wordsOf(String(args)))
      push("tool-call-delta", { index: at, delta: { message: { tool_calls: { function: { arguments: piece } } } } });
    push("tool-call-end", { index: at });
  }
  push("message-end", { delta: { finish_reason: calls.length > 0 ? "TOOL_CALL" : "COMPLETE", usage } });
  const failed = { type: "message-end", delta: { finish_reason: "ERROR", error: "the generation failed", usage } };
  return wire.streamScript({
    contentType: "text/event-stream",
    events,
    failure: wire.eventBytes(failed, "message-end"),
    trouble: wire.troubleOf(model),
  });
}

const maxTexts = 96;

function embed(request: VendorRequest): Script {
  const members = ["model", "texts", "input_type", "embedding_types", "output_dimension", "truncate"];
  const body = wire.bodyOf(request, "body", members);
  wire.failOnDemand(wire.textOf(body["model"], "model"));
  wire.oneOf(body["input_type"], "input_type", ["search_query", "search_document", "classification", "clustering"]);
  const texts = wire.listOf(body["texts"], "texts").map((text) => wire.textOf(text, "texts"));
  wire.demand(texts.length <= maxTexts, `texts: should be at most ${maxTexts}`);
  const size = Number(body["output_dimension"] ?? 4);
  return answer(200, {
    id: "emb-1",
    texts,
    embeddings: { float: texts.map((text) => vectorOf(text, size)) },
    meta: { api_version: { version: "2" }, billed_units: { input_tokens: 3 * texts.length } },
  });
}
