// A local server that behaves like Ollama's own API. The wire format is documented (https://docs.ollama.com/api/chat,
// https://docs.ollama.com/api/streaming, https://docs.ollama.com/api/embed); what its model says is invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, readChat, type Tool, vectorOf } from "./mind.ts";
import * as wire from "./wire.ts";

export function ollama(request: VendorRequest): Script {
  return wire.serve(request, run, (_status, message) => ({ error: message }));
}

function run(request: VendorRequest): Script {
  if (request.path.endsWith("/api/embed")) return embed(request);
  if (!request.path.endsWith("/api/chat")) throw new wire.Violation("no such path", 404);
  const { body, model, question, reply } = readChat(request, bodyMembers, readQuestion);
  const counts = {
    prompt_eval_count: countWords(question.said),
    eval_count: countWords(reply.thoughts, reply.text, JSON.stringify(reply.calls)),
    total_duration: 5_000_000,
  };
  if (body["stream"] === false) return answer(200, { ...toLine(model, toMessage(reply)), ...ending, ...counts });
  return toStream(model, reply, counts);
}

const bodyMembers = ["model", "messages", "stream", "tools", "format", "think", "options", "keep_alive"];
const ending = { done: true, done_reason: "stop" };

function readQuestion(body: wire.Members): Question {
  const tools = (body["tools"] === undefined ? [] : wire.listOf(body["tools"], "tools")).map(readTool);
  const format = body["format"];
  wire.demand(format === undefined || format === "json" || typeof format === "object", "format: invalid JSON schema");
  const think = body["think"];
  if (think !== undefined && typeof think !== "boolean") wire.oneOf(think, "think", ["low", "medium", "high"]);
  const { said, results } = readMessages(wire.listOf(body["messages"], "messages"));
  return {
    said,
    results,
    tools,
    choice: "auto",
    schema: typeof format === "object" ? (format as wire.Members) : null,
    thinks: think !== undefined && think !== false,
  };
}

function readTool(value: unknown): Tool {
  const tool = wire.membersOf(value, "tools", ["type", "function"]);
  wire.demand(tool["type"] === "function", "tools.type: should be function");
  const { name, parameters } = wire.membersOf(tool["function"], "function", ["name", "description", "parameters"]);
  return { name: wire.textOf(name, "name"), parameters: wire.membersOf(parameters, "parameters") };
}

const messageMembers = ["role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"];

function readMessages(messages: readonly unknown[]): { said: string; results: { name: string; text: string }[] } {
  let said = "";
  let results: { name: string; text: string }[] = [];
  for (const [index, value] of messages.entries()) {
    const message = wire.membersOf(value, `messages.${index}`, messageMembers);
    const role = wire.oneOf(message["role"], `messages.${index}.role`, ["system", "user", "assistant", "tool"]);
    const content = wire.textOf(message["content"], `messages.${index}.content`);
    for (const call of wire.listOf(message["tool_calls"] ?? [], "tool_calls")) {
      const called = wire.membersOf(wire.membersOf(call, "tool_calls", ["id", "function"])["function"], "function");
      wire.membersOf(called["arguments"], "tool_calls.function.arguments");
    }
    if (role === "tool") results.push({ name: wire.textOf(message["tool_name"], "tool_name"), text: content });
    if (role !== "user") continue;
    said = content;
    results = [];
  }
  return { said, results };
}

function toLine(model: string, message: wire.Members): wire.Members {
  return { model, created_at: "2026-01-01T00:00:00Z", message: { role: "assistant", ...message }, done: false };
}

function toMessage({ thoughts, text, calls }: Reply): wire.Members {
  return {
    content: text,
    ...(thoughts === "" ? {} : { thinking: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: toCalls(calls) }),
  };
}

function toCalls(calls: Reply["calls"]): wire.Members[] {
  return calls.map(({ name, input }, index) => ({ function: { index, name, arguments: input } }));
}

function toStream(model: string, { thoughts, text, calls }: Reply, counts: wire.Members): Script {
  const lines = [
    ...wire.wordsOf(thoughts).map((thinking) => toLine(model, { content: "", thinking })),
    ...wire.wordsOf(text).map((content) => toLine(model, { content })),
    ...toCalls(calls).map((call) => toLine(model, { content: "", tool_calls: [call] })),
    { ...toLine(model, { content: "" }), ...ending, ...counts },
  ];
  return wire.streamScript({
    contentType: "application/x-ndjson",
    events: lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`)),
    failure: Buffer.from(`${JSON.stringify({ error: "the runner has ended" })}\n`),
    trouble: wire.troubleOf(model),
  });
}

function embed(request: VendorRequest): Script {
  const members = ["model", "input", "truncate", "dimensions", "options", "keep_alive"];
  const body = wire.bodyOf(request, "body", members);
  const model = wire.textOf(body["model"], "model");
  wire.failOnDemand(model);
  const texts = wire.listOf(body["input"], "input").map((text) => wire.textOf(text, "input"));
  const size = Number(body["dimensions"] ?? 4);
  const embeddings = texts.map((text) => vectorOf(text, size));
  return answer(200, { model, embeddings, total_duration: 1, load_duration: 1, prompt_eval_count: 3 * texts.length });
}
