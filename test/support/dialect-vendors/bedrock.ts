// A local server that behaves like Amazon Bedrock's runtime: Converse, ConverseStream in AWS event-stream frames, and
// InvokeModel for embeddings. The wire formats are documented
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
// https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html); what its models say is invented.

import { answer, type Script } from "../answers.ts";
import { toAwsMessage } from "../aws-message.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, replyTo, type Tool, vectorOf } from "./mind.ts";
import * as wire from "./wire.ts";

export const awsSettings = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "not-a-secret-of-anybody",
};

export function bedrock(request: VendorRequest): Script {
  return wire.serve(request, run, (_status, message) => ({ message }));
}

function run(request: VendorRequest): Script {
  checkAuthorization(request);
  const found = /\/model\/([^/]+)\/([\w-]+)$/.exec(request.path);
  if (found === null) throw new wire.Violation("no such path", 404);
  const model = decodeURIComponent(found[1] ?? "");
  wire.failOnDemand(model);
  switch (found[2]) {
    case "invoke":
      return embed(request, model);
    case "converse":
    case "converse-stream": {
      const question = readQuestion(request, model);
      const reply = replyTo(question);
      const usage = toUsage(question, reply);
      return found[2] === "converse" ? answer(200, toAnswer(reply, usage)) : toStream(model, reply, usage);
    }
    default:
      throw new wire.Violation("no such operation", 404);
  }
}

/** That it is signed, for whom and what; whether the signature is right is held elsewhere to the vendor's examples. */
function checkAuthorization({ headers }: VendorRequest): void {
  const date = headers["x-amz-date"] ?? "";
  if (!/^\d{8}T\d{6}Z$/.test(date)) throw new wire.Violation("x-amz-date: is missing", 403);
  const scope = `${awsSettings.AWS_ACCESS_KEY_ID}/${date.slice(0, 8)}/${awsSettings.AWS_REGION}/bedrock/aws4_request`;
  const authorization = headers["authorization"] ?? "";
  const signed = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=[0-9a-f]{64}$/.exec(
    authorization,
  );
  if (signed?.[1] !== scope) throw new wire.Violation("The request signature is missing or for another service", 403);
  for (const name of ["host", "x-amz-date"])
    if (!signed[2]?.split(";").includes(name)) throw new wire.Violation(`'${name}' is not signed`, 403);
}

const bodyMembers = [
  ...["messages", "system", "inferenceConfig", "toolConfig", "outputConfig", "additionalModelRequestFields"],
  ...["serviceTier", "requestMetadata"],
];

function readQuestion(request: VendorRequest, model: string): Question {
  const body = wire.bodyOf(request, "body", bodyMembers);
  const config = wire.membersOf(body["inferenceConfig"] ?? {}, "inferenceConfig", [
    ...["maxTokens", "temperature", "topP", "stopSequences"],
  ]);
  if (config["temperature"] !== undefined) wire.numberOf(config["temperature"], "temperature", 0, 1);
  const instructions = wire.listOf(body["system"] ?? [], "system").flatMap((value) => {
    const block = wire.membersOf(value, "system", ["text", "cachePoint"]);
    if (isCachePoint(block, /anthropic|nova/, model)) return [];
    const text = wire.textOf(block["text"], "system");
    wire.demand(text.trim() !== "", "system: empty text");
    return [text];
  });
  const { tools, choice } = readTools(body["toolConfig"], model);
  const fields = wire.membersOf(body["additionalModelRequestFields"] ?? {}, "additionalModelRequestFields");
  const thinks = readThinking(fields["thinking"], config, model);
  wire.demand(!thinks || choice === "auto" || choice === "none", "thinking: does not go with a call that is demanded");
  const { said, results, hasTools } = readMessages(
    wire.listOf(body["messages"], "messages"),
    thinks,
    model.includes("anthropic"),
  );
  wire.demand(!hasTools || tools.length > 0, "toolConfig: is missing beside calls and results");
  const schema = readSchema(body["outputConfig"]);
  return { said, results, tools, choice, schema, thinks, instructions: instructions.join("\n") };
}

function readTools(value: unknown, model: string): { tools: readonly Tool[]; choice: Question["choice"] } {
  if (value === undefined) return { tools: [], choice: "auto" };
  const config = wire.membersOf(value, "toolConfig", ["tools", "toolChoice"]);
  const tools = wire.listOf(config["tools"], "toolConfig.tools").flatMap((tool): Tool[] => {
    const members = wire.membersOf(tool, "toolConfig.tools", ["toolSpec", "cachePoint"]);
    if (isCachePoint(members, /anthropic/, model)) return [];
    const { toolSpec } = members;
    const spec = wire.membersOf(toolSpec, "toolSpec", ["name", "description", "inputSchema", "strict"]);
    wire.demand(/^[a-zA-Z0-9_-]{1,64}$/.test(wire.textOf(spec["name"], "toolSpec.name")), "toolSpec.name: wrong form");
    wire.demand(spec["description"] !== "", "toolSpec.description: should have at least one character");
    const { json } = wire.membersOf(spec["inputSchema"], "inputSchema", ["json"]);
    const parameters = wire.membersOf(json, "inputSchema.json");
    wire.demand(parameters["type"] === "object", "inputSchema.json.type: should be object");
    return [{ name: spec["name"] as string, parameters }];
  });
  wire.demand(tools.length > 0, "toolConfig.tools: should have at least one tool");
  if (config["toolChoice"] === undefined) return { tools, choice: "auto" };
  const choice = wire.membersOf(config["toolChoice"], "toolChoice", ["auto", "any", "tool"]);
  if (choice["any"] !== undefined) return { tools, choice: "any" };
  if (choice["tool"] === undefined) return { tools, choice: "auto" };
  wire.demand(/anthropic|nova/.test(model), "toolChoice.tool: is not known to this model");
  return {
    tools,
    choice: { name: wire.textOf(wire.membersOf(choice["tool"], "tool", ["name"])["name"], "tool.name") },
  };
}

/** Only some makers' models know it in this place. */
function isCachePoint({ cachePoint }: wire.Members, makers: RegExp, model: string): boolean {
  if (cachePoint === undefined) return false;
  wire.demand(makers.test(model), "cachePoint: is not known to this model");
  const { type, ttl } = wire.membersOf(cachePoint, "cachePoint", ["type", "ttl"]);
  wire.demand(
    type === "default" && (ttl === undefined || ttl === "5m" || ttl === "1h"),
    "cachePoint: has a wrong form",
  );
  return true;
}

function readThinking(value: unknown, config: wire.Members, model: string): boolean {
  if (value === undefined) return false;
  const thinking = wire.membersOf(value, "thinking", ["type", "budget_tokens", "display", "block_binding"]);
  if (thinking["type"] === "disabled") return false;
  wire.demand(model.includes("anthropic"), "thinking: is not known to this model");
  wire.demand(config["temperature"] === undefined, "temperature: does not go with thinking");
  if (thinking["type"] === "adaptive") return true;
  const budget = wire.numberOf(thinking["budget_tokens"], "thinking.budget_tokens", 1_024, 128_000);
  const cap = config["maxTokens"];
  wire.demand(typeof cap === "number" && budget < cap, "thinking.budget_tokens: should be below maxTokens");
  return true;
}

function readSchema(value: unknown): wire.Members | null {
  if (value === undefined) return null;
  const { textFormat } = wire.membersOf(value, "outputConfig", ["textFormat"]);
  const format = wire.membersOf(textFormat, "textFormat", ["type", "structure"]);
  wire.demand(format["type"] === "json_schema", "textFormat.type: should be json_schema");
  const { jsonSchema } = wire.membersOf(format["structure"], "structure", ["jsonSchema"]);
  const { schema } = wire.membersOf(jsonSchema, "jsonSchema", ["name", "description", "schema"]);
  return JSON.parse(wire.textOf(schema, "jsonSchema.schema")) as wire.Members;
}

const blockKinds = ["text", "image", "document", "toolUse", "toolResult", "reasoningContent", "cachePoint"];

interface Told {
  readonly said: string;
  readonly results: { name: string; text: string }[];
  readonly hasTools: boolean;
}

function readMessages(messages: readonly unknown[], needsThinking: boolean, beginsAnyhow: boolean): Told {
  wire.demand(messages.length > 0, "messages: should have at least one message");
  let said = "";
  let results: { name: string; text: string }[] = [];
  let hasTools = false;
  let before = "";
  let open = new Map<string, string>();
  for (const [index, value] of messages.entries()) {
    const where = `messages.${index}`;
    const { role, content } = wire.membersOf(value, where, ["role", "content"]);
    wire.demand(role === "user" || role === "assistant", `${where}.role: should be user or assistant`);
    wire.demand(role !== before, "messages: user and assistant should take turns");
    // Some makers' models take it, others do not.
    wire.demand(index > 0 || role === "user" || beginsAnyhow, "messages: the user should begin");
    before = role;
    const calls = new Map<string, string>();
    const words: string[] = [];
    const blocks = wire.listOf(content, `${where}.content`).map((block) => wire.membersOf(block, where, blockKinds));
    wire.demand(blocks.length > 0, `${where}: has no content`);
    for (const block of blocks) {
      wire.demand(Object.keys(block).length === 1, `${where}: a block has exactly one member`);
      if (block["text"] !== undefined) {
        wire.demand(wire.textOf(block["text"], where).trim() !== "", `${where}: a text is blank`);
        words.push(String(block["text"]));
      }
      if (block["reasoningContent"] !== undefined) readReasoning(block["reasoningContent"], where);
      if (block["toolUse"] !== undefined) {
        const use = wire.membersOf(block["toolUse"], where, ["toolUseId", "name", "input"]);
        wire.membersOf(use["input"], `${where}.toolUse.input`);
        wire.demand(
          /^[a-zA-Z0-9_.:-]{1,64}$/.test(wire.textOf(use["toolUseId"], where)),
          `${where}.toolUseId: wrong form`,
        );
        calls.set(String(use["toolUseId"]), String(use["name"]));
      }
      if (block["toolResult"] === undefined) continue;
      const result = wire.membersOf(block["toolResult"], where, ["toolUseId", "content", "status"]);
      const name = open.get(String(result["toolUseId"]));
      wire.demand(name !== undefined, `${where}: a toolResult answers no call of the turn before`);
      open.delete(String(result["toolUseId"]));
      const texts = wire.listOf(result["content"], "toolResult.content").map((part) => {
        const { text, json } = wire.membersOf(part, "toolResult.content", ["text", "json", "image", "document"]);
        return text === undefined ? JSON.stringify(json) : wire.textOf(text, "text");
      });
      results.push({ name, text: texts.join("") });
    }
    wire.demand(
      open.size === 0,
      `${where}: calls of the turn before have no result here: ${[...open.keys()].join(", ")}`,
    );
    const isLast = index === messages.length - 2;
    if (needsThinking && isLast && calls.size > 0)
      wire.demand(blocks[0]?.["reasoningContent"] !== undefined, `${where}: should begin with thinking`);
    hasTools ||= calls.size > 0;
    if (role === "user" && words.length > 0) {
      said = words.join("\n");
      results = [];
    }
    open = calls;
  }
  return { said, results, hasTools };
}

function readReasoning(value: unknown, where: string): void {
  // It never writes the encrypted kind.
  const { reasoningText } = wire.membersOf(value, where, ["reasoningText"]);
  const { text, signature } = wire.membersOf(reasoningText, where, ["text", "signature"]);
  wire.demandSignature(wire.textOf(text, where), signature, where);
}

function toUsage({ said }: Question, { thoughts, text, calls }: Reply): wire.Members {
  const inputTokens = countWords(said);
  const outputTokens = countWords(thoughts, text, JSON.stringify(calls));
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function toAnswer({ thoughts, text, calls }: Reply, usage: wire.Members): wire.Members {
  const content: wire.Members[] = [];
  if (thoughts !== "")
    content.push({ reasoningContent: { reasoningText: { text: thoughts, signature: wire.sign(thoughts) } } });
  if (text !== "") content.push({ text });
  for (const [index, { name, input }] of calls.entries())
    content.push({ toolUse: { toolUseId: `tooluse_${index}${name}`, name, input } });
  return {
    output: { message: { role: "assistant", content } },
    stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    usage,
    metrics: { latencyMs: 12 },
  };
}

function toStream(model: string, { thoughts, text, calls }: Reply, usage: wire.Members): Script {
  const events: Uint8Array[] = [frame("messageStart", { role: "assistant", p: "abcd" })];
  let index = 0;
  const block = (deltas: readonly wire.Members[], start?: wire.Members) => {
    // Text and thinking have no event that begins them.
    if (start !== undefined) events.push(frame("contentBlockStart", { contentBlockIndex: index, start }));
    for (const delta of deltas) events.push(frame("contentBlockDelta", { contentBlockIndex: index, delta }));
    events.push(frame("contentBlockStop", { contentBlockIndex: index }));
    index += 1;
  };
  if (thoughts !== "") {
    const words = wire.wordsOf(thoughts).map((piece) => ({ reasoningContent: { text: piece } }));
    block([...words, { reasoningContent: { signature: wire.sign(thoughts) } }]);
  }
  if (text !== "") block(wire.wordsOf(text).map((piece) => ({ text: piece })));
  for (const [at, { name, input }] of calls.entries())
    block(
      wire.wordsOf(JSON.stringify(input)).map((piece) => ({ toolUse: { input: piece } })),
      { toolUse: { toolUseId: `tooluse_${at}${name}`, name } },
    );
  events.push(frame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }));
  events.push(frame("metadata", { usage, metrics: { latencyMs: 12 } }));
  const headers = { ":message-type": "exception", ":exception-type": "modelStreamErrorException" };
  return wire.streamScript({
    contentType: "application/vnd.amazon.eventstream",
    events,
    failure: toAwsMessage(headers, { message: "The model failed.", originalStatusCode: 500 }),
    trouble: wire.troubleOf(model),
  });
}

export function frame(type: string, payload: wire.Members): Uint8Array {
  return toAwsMessage({ ":event-type": type, ":message-type": "event" }, payload);
}

function embed(request: VendorRequest, model: string): Script {
  if (model.startsWith("cohere.")) {
    const members = ["texts", "input_type", "embedding_types", "truncate", "output_dimension"];
    const body = wire.bodyOf(request, "body", members);
    wire.demand(body["input_type"] !== undefined, "input_type: is required");
    const texts = wire.listOf(body["texts"], "texts");
    wire.demand(texts.length <= 96, "texts: at most 96");
    const size = Number(body["output_dimension"] ?? 4);
    return answer(200, {
      id: "emb-1",
      embeddings: { float: texts.map((text) => vectorOf(wire.textOf(text, "texts"), size)) },
      response_type: "embeddings_by_type",
    });
  }
  wire.demand(model.startsWith("amazon.titan-embed-text"), "no such model of embeddings here");
  const body = wire.bodyOf(request, "body", ["inputText", "dimensions", "normalize"]);
  const text = wire.textOf(body["inputText"], "inputText");
  return answer(200, { embedding: vectorOf(text, Number(body["dimensions"] ?? 4)), inputTextTokenCount: 3 });
}
