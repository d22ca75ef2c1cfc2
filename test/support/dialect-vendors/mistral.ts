// A local server that behaves like Mistral's API. The wire format is documented (https://docs.mistral.ai/api/,
// https://docs.mistral.ai/capabilities/reasoning/); that it signs and checks its thoughts, and what its model says, is invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, readChat, type Tool, vectorOf } from "./mind.ts";
import * as wire from "./wire.ts";

export function mistral(request: VendorRequest): Script {
  return wire.serve(request, run, toError);
}

function toError(status: number, message: string): wire.Members {
  return { object: "error", message, type: "invalid_request_error", param: null, code: null, raw_status_code: status };
}

function run(request: VendorRequest): Script {
  wire.demand(request.headers["authorization"]?.startsWith("Bearer "), "Unauthorized");
  if (request.path.endsWith("/v1/embeddings")) return embed(request);
  if (!request.path.endsWith("/v1/chat/completions")) throw new wire.Violation("no such path", 404);
  const { body, model, question, reply } = readChat(request, bodyMembers, readQuestion);
  const usage = toUsage(question, reply);
  const count = Number(body["n"] ?? 1);
  return body["stream"] === true
    ? toStream(model, reply, { usage, count })
    : answer(200, toAnswer(model, reply, { usage, count }));
}

const bodyMembers = [
  ...["model", "messages", "stream", "temperature", "top_p", "max_tokens", "stop", "random_seed", "response_format"],
  ...["tools", "tool_choice", "presence_penalty", "frequency_penalty", "n", "prediction", "parallel_tool_calls"],
  ...["prompt_mode", "reasoning_effort", "safe_prompt", "metadata", "guardrails", "prompt_cache_key", "service_tier"],
];

function readQuestion(body: wire.Members): Question {
  const tools = (body["tools"] === undefined ? [] : wire.listOf(body["tools"], "tools")).map(readTool);
  const effort = body["reasoning_effort"];
  if (effort !== undefined)
    wire.oneOf(effort, "reasoning_effort", ["none", "minimal", "low", "medium", "high", "xhigh"]);
  if (body["service_tier"] !== undefined) wire.oneOf(body["service_tier"], "service_tier", ["auto", "standard_only"]);
  const { said, results } = readMessages(wire.listOf(body["messages"], "messages"));
  const thinks = effort !== undefined && effort !== "none";
  return { said, results, tools, choice: readChoice(body["tool_choice"]), schema: readFormat(body), thinks };
}

function readTool(value: unknown): Tool {
  const tool = wire.membersOf(value, "tools", ["type", "function"]);
  const { name, parameters } = wire.membersOf(tool["function"], "function", [
    "name",
    "description",
    "parameters",
    "strict",
  ]);
  return { name: wire.textOf(name, "name"), parameters: wire.membersOf(parameters, "parameters") };
}

function readChoice(value: unknown): Question["choice"] {
  if (value === undefined) return "auto";
  if (typeof value === "string") {
    const choice = wire.oneOf(value, "tool_choice", ["auto", "none", "any", "required"]);
    return choice === "required" ? "any" : choice;
  }
  const { function: called } = wire.membersOf(value, "tool_choice", ["type", "function"]);
  return { name: wire.textOf(wire.membersOf(called, "function", ["name"])["name"], "tool_choice.function.name") };
}

function readFormat(body: wire.Members): wire.Members | null {
  if (body["response_format"] === undefined) return null;
  const format = wire.membersOf(body["response_format"], "response_format", ["type", "json_schema"]);
  const type = wire.oneOf(format["type"], "response_format.type", ["text", "json_object", "json_schema"]);
  if (type !== "json_schema") return null;
  const members = ["name", "description", "schema", "strict"];
  const { name, schema } = wire.membersOf(format["json_schema"], "json_schema", members);
  wire.textOf(name, "json_schema.name");
  return wire.membersOf(schema, "json_schema.schema");
}

const messageMembers = ["role", "content", "tool_calls", "tool_call_id", "prefix", "name"];

function readMessages(messages: readonly unknown[]): { said: string; results: { name: string; text: string }[] } {
  let said = "";
  let results: { name: string; text: string }[] = [];
  let open = new Map<string, string>();
  let before = "";
  for (const [index, value] of messages.entries()) {
    const where = `messages[${index}]`;
    const message = wire.membersOf(value, where, messageMembers);
    const role = wire.oneOf(message["role"], `${where}.role`, ["system", "user", "assistant", "tool"]);
    wire.demand(
      before !== "tool" || role === "tool" || role === "assistant",
      `${where}: after a result only the assistant may speak`,
    );
    wire.demand(
      before !== "assistant" || role !== "system",
      "messages: instructions stand behind the assistant's words",
    );
    if (role !== "tool") wire.demand(open.size === 0, "messages: calls and results should be of one number");
    const words = wordsIn(message["content"], where);
    if (role === "tool") {
      const name = open.get(wire.textOf(message["tool_call_id"], `${where}.tool_call_id`));
      wire.demand(name !== undefined, `${where}: answers no call`);
      open.delete(String(message["tool_call_id"]));
      results.push({ name, text: words });
    }
    if (role === "assistant") open = new Map(wire.listOf(message["tool_calls"] ?? [], where).map(readCall));
    if (role === "user") {
      said = words;
      results = [];
    }
    before = role;
  }
  wire.demand(open.size === 0, "messages: calls and results should be of one number");
  wire.demand(before !== "assistant", "messages: the last one is the assistant's");
  return { said, results };
}

function readCall(value: unknown): [id: string, name: string] {
  const call = wire.membersOf(value, "tool_calls", ["id", "type", "function"]);
  const { name, arguments: args } = wire.membersOf(call["function"], "function", ["name", "arguments"]);
  wire.textOf(args, "arguments");
  wire.demand(
    /^[a-zA-Z0-9]{9}$/.test(wire.textOf(call["id"], "id")),
    "tool_calls.id: should be nine letters or digits",
  );
  return [call["id"] as string, wire.textOf(name, "name")];
}

function wordsIn(content: unknown, where: string): string {
  if (typeof content === "string") return content;
  const parts = wire.listOf(content, `${where}.content`).map((value) => {
    const part = wire.membersOf(value, where, ["type", "text", "thinking", "closed", "signature", "image_url"]);
    if (part["type"] === "text") return wire.textOf(part["text"], `${where}.text`);
    if (part["type"] !== "thinking") return "";
    const texts = wire
      .listOf(part["thinking"], `${where}.thinking`)
      .map((one) => String((one as wire.Members)["text"]));
    if (part["signature"] !== undefined) wire.demandSignature(texts.join(""), part["signature"], where);
    return "";
  });
  return parts.join("");
}

function toUsage({ said }: Question, { thoughts, text, calls }: Reply): wire.Members {
  const prompt = countWords(said);
  const completion = countWords(thoughts, text, JSON.stringify(calls));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function toCalls(calls: Reply["calls"]): wire.Members[] {
  return calls.map(({ name, input }, index) => ({
    id: `callVend${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
    index,
  }));
}

function toThinking(text: string, more: wire.Members = {}): wire.Members {
  return { type: "thinking", thinking: [{ type: "text", text }], ...more };
}

interface Told {
  readonly usage: wire.Members;
  /** How many answers were asked for. */
  readonly count: number;
}

function toAnswer(model: string, { thoughts, text, calls }: Reply, { usage, count }: Told): wire.Members {
  const content =
    thoughts === ""
      ? text
      : [
          toThinking(thoughts, { closed: true, signature: wire.sign(thoughts) }),
          ...(text === "" ? [] : [{ type: "text", text }]),
        ];
  const message = { role: "assistant", content, tool_calls: calls.length === 0 ? null : toCalls(calls) };
  const choices = Array.from({ length: count }, (_, index) => ({
    index,
    message,
    finish_reason: calls.length > 0 ? "tool_calls" : "stop",
  }));
  return { id: "cmpl-vendor-1", object: "chat.completion", created: 1_780_000_000, model, choices, usage };
}

function toStream(model: string, { thoughts, text, calls }: Reply, { usage, count }: Told): Script {
  const chunk = (delta: wire.Members, finish: string | null = null, more: wire.Members = {}) =>
    Buffer.concat(
      Array.from({ length: count }, (_, index) =>
        wire.eventBytes({
          id: "cmpl-vendor-1",
          object: "chat.completion.chunk",
          created: 1_780_000_000,
          model,
          choices: [{ index, delta, finish_reason: finish }],
          p: "abc",
          // Once, with the last.
          ...(index === count - 1 ? more : {}),
        }),
      ),
    );
  const events: Uint8Array[] = [chunk({ role: "assistant", content: "" })];
  for (const piece of wire.wordsOf(thoughts)) events.push(chunk({ content: [toThinking(piece)] }));
  if (thoughts !== "")
    events.push(chunk({ content: [toThinking("", { closed: true, signature: wire.sign(thoughts) })] }));
  for (const piece of wire.wordsOf(text)) events.push(chunk({ content: piece }));
  if (calls.length > 0) events.push(chunk({ tool_calls: toCalls(calls) }, "tool_calls", { usage }));
  else events.push(chunk({ content: "" }, "stop", { usage }));
  events.push(Buffer.from("data: [DONE]\n\n"));
  return wire.streamScript({
    contentType: "text/event-stream; charset=utf-8",
    events,
    failure: wire.eventBytes(toError(500, "the generation failed")),
    trouble: wire.troubleOf(model),
  });
}

function embed(request: VendorRequest): Script {
  const body = wire.bodyOf(request, "body", ["model", "input", "output_dimension", "metadata", "encoding_format"]);
  const model = wire.textOf(body["model"], "model");
  wire.failOnDemand(model);
  const texts = wire.listOf(body["input"], "input").map((text) => wire.textOf(text, "input"));
  const size = Number(body["output_dimension"] ?? 4);
  const data = texts.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text, size) }));
  const tokens = 3 * texts.length;
  return answer(200, {
    id: "emb-1",
    object: "list",
    data,
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
  });
}
