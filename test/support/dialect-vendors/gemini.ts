// A local server that behaves like Google's generateContent API. The wire format is documented
// (https://ai.google.dev/api/generate-content, .../gemini-api/docs/function-calling, .../gemini-api/docs/thought-signatures);
// what its model says is invented.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, replyTo, type Tool, vectorOf } from "./mind.ts";
import * as wire from "./wire.ts";

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

export function gemini(request: VendorRequest): Script {
  return wire.serve(request, run, toError);
}

function toError(code: number, message: string): wire.Members {
  return { error: { code, message, status: statuses[code] ?? "UNKNOWN" } };
}

/** https://ai.google.dev/api/tokens: the request stands in a wrapper, and names its model. */
function count(request: VendorRequest, model: string): Script {
  const { generateContentRequest } = wire.bodyOf(request, "body", ["generateContentRequest"]);
  const asked = wire.membersOf(generateContentRequest, "generateContentRequest");
  wire.demand(asked["model"] === `models/${model}`, "generateContentRequest.model: should be the model of the path");
  wire.listOf(asked["contents"], "contents");
  return answer(200, { totalTokens: countWords(JSON.stringify(asked).replace(/\W+/g, " ")) });
}

function run(request: VendorRequest): Script {
  wire.demand(request.headers["x-goog-api-key"], "x-goog-api-key: header is required");
  const [path = "", query = ""] = request.path.split("?");
  const found = /\/models\/([^/:]+):(\w+)$/.exec(decodeURIComponent(path));
  if (found === null) throw new wire.Violation("no such path", 404);
  const [, model = "", method = ""] = found;
  wire.failOnDemand(model);
  if (method === "batchEmbedContents") return embed(request, model);
  if (method === "countTokens") return count(request, model);
  if (method !== "generateContent" && method !== "streamGenerateContent")
    throw new wire.Violation("no such method", 404);
  const question = readQuestion(request, model);
  const reply = replyTo(question);
  const usage = toUsage(question, reply);
  if (method === "generateContent") return answer(200, toAnswer(model, toParts(reply, model), "STOP", usage));
  wire.demand(query === "alt=sse", "only alt=sse is streamed here");
  return toStream(model, reply, usage);
}

const bodyMembers = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"];
const configMembers = [
  ...["temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "presencePenalty", "seed"],
  ...["frequencyPenalty", "responseMimeType", "responseJsonSchema", "responseSchema", "thinkingConfig"],
];

function readQuestion(request: VendorRequest, model: string): Question {
  const body = wire.bodyOf(request, "body", bodyMembers);
  const config = wire.membersOf(body["generationConfig"] ?? {}, "generationConfig", configMembers);
  if (config["temperature"] !== undefined) wire.numberOf(config["temperature"], "temperature", 0, 2);
  wire.demand(
    config["responseJsonSchema"] === undefined || config["responseMimeType"] === "application/json",
    "responseJsonSchema needs the response type application/json",
  );
  if (body["systemInstruction"] !== undefined) {
    const { parts } = wire.membersOf(body["systemInstruction"], "systemInstruction", ["role", "parts"]);
    for (const part of wire.listOf(parts, "systemInstruction.parts"))
      wire.textOf((part as wire.Members)["text"], "systemInstruction");
  }
  const tools = readTools(body["tools"]);
  const isJson = config["responseMimeType"] === "application/json";
  wire.demand(
    isGeneration3(model) || tools.length === 0 || !isJson,
    "responseMimeType: this model gives no JSON beside functions",
  );
  const { said, results } = readContents(wire.listOf(body["contents"], "contents"), model);
  const schema = config["responseJsonSchema"];
  return {
    said,
    results,
    tools,
    choice: readChoice(body["toolConfig"]),
    schema: schema === undefined ? null : wire.membersOf(schema, "responseJsonSchema"),
    thinks: readThinking(config["thinkingConfig"]),
  };
}

function isGeneration3(model: string): boolean {
  return /^gemini-[34]/.test(model);
}

function readTools(value: unknown): readonly Tool[] {
  if (value === undefined) return [];
  return wire.listOf(value, "tools").flatMap((tool) => {
    const { functionDeclarations } = wire.membersOf(tool, "tools", ["functionDeclarations", "googleSearch"]);
    return wire.listOf(functionDeclarations ?? [], "functionDeclarations").map((declared): Tool => {
      const { name, parametersJsonSchema } = wire.membersOf(declared, "functionDeclarations", [
        ...["name", "description", "parametersJsonSchema"],
      ]);
      wire.demand(
        /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(wire.textOf(name, "name")),
        "functionDeclarations.name: wrong form",
      );
      const schema = wire.membersOf(parametersJsonSchema ?? {}, "parametersJsonSchema");
      for (const keyword of ["$schema", "strict", "const"])
        wire.demand(!(keyword in schema), `parametersJsonSchema.${keyword}: is not supported`);
      return { name: name as string, parameters: schema };
    });
  });
}

function readChoice(value: unknown): Question["choice"] {
  if (value === undefined) return "auto";
  const { functionCallingConfig } = wire.membersOf(value, "toolConfig", ["functionCallingConfig"]);
  const config = wire.membersOf(functionCallingConfig ?? {}, "functionCallingConfig", ["mode", "allowedFunctionNames"]);
  const mode = wire.oneOf(config["mode"] ?? "AUTO", "mode", ["AUTO", "ANY", "NONE", "VALIDATED"]);
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return "auto";
  const [name, ...others] = wire.listOf(config["allowedFunctionNames"] ?? [], "allowedFunctionNames");
  return typeof name === "string" && others.length === 0 ? { name } : "any";
}

function readThinking(value: unknown): boolean {
  if (value === undefined) return false;
  const config = wire.membersOf(value, "thinkingConfig", ["includeThoughts", "thinkingBudget", "thinkingLevel"]);
  wire.demand(
    config["thinkingBudget"] === undefined || config["thinkingLevel"] === undefined,
    "thinkingConfig: a budget and a level exclude each other",
  );
  if (config["thinkingLevel"] !== undefined)
    wire.oneOf(config["thinkingLevel"], "thinkingLevel", ["MINIMAL", "LOW", "MEDIUM", "HIGH"]);
  return config["includeThoughts"] === true;
}

// The documented way to say that a call has no signature.
export const noSignature = "skip_thought_signature_validator";
const partMembers = ["text", "functionCall", "functionResponse", "inlineData", "thought", "thoughtSignature"];

function readContents(
  contents: readonly unknown[],
  model: string,
): { said: string; results: { name: string; text: string }[] } {
  wire.demand(contents.length > 0, "contents: there are none");
  let said = "";
  let results: { name: string; text: string }[] = [];
  let open: wire.Members[] = [];
  const lastUser = contents.findLastIndex((content) => hasWords(content as wire.Members));
  for (const [index, value] of contents.entries()) {
    const where = `contents[${index}]`;
    const { role, parts } = wire.membersOf(value, where, ["role", "parts"]);
    wire.oneOf(role, `${where}.role`, ["user", "model"]);
    const list = wire
      .listOf(parts, `${where}.parts`)
      .map((part) => wire.membersOf(part, `${where}.parts`, partMembers));
    wire.demand(list.length > 0, `${where}.parts must not be empty`);
    const calls = list.flatMap((part) => (part["functionCall"] === undefined ? [] : [part]));
    const answers = list.flatMap((part) => (part["functionResponse"] === undefined ? [] : [part["functionResponse"]]));
    wire.demand(answers.length === open.length, "contents: there should be as many responses as calls");
    for (const [at, value] of answers.entries()) results.push(readResponse(value, callOf(value, open, at), model));
    wire.demand(calls.length === 0 || role === "model", `${where}: function calls are the model's`);
    const [first] = calls;
    if (first !== undefined && isGeneration3(model) && index > lastUser) checkSignature(first, where);
    const words = list.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
    if (role === "user" && words.length > 0) {
      said = words.join("\n");
      results = [];
    }
    open = calls;
  }
  wire.demand(open.length === 0, "contents: the last calls have no responses");
  return { said, results };
}

/** By its id where there are ids, else by its place. */
function callOf(response: unknown, open: readonly wire.Members[], place: number): wire.Members {
  const { id } = response as wire.Members;
  const named = open.find((part) => id !== undefined && (part["functionCall"] as wire.Members)["id"] === id);
  return wire.membersOf((named ?? open[place])?.["functionCall"], "functionCall");
}

function hasWords({ role, parts }: wire.Members): boolean {
  return (
    role === "user" && Array.isArray(parts) && parts.some((part) => typeof (part as wire.Members)["text"] === "string")
  );
}

function checkSignature(part: wire.Members, where: string): void {
  const { name, args } = wire.membersOf(part["functionCall"], where);
  const signature = part["thoughtSignature"];
  wire.demand(signature !== undefined, `Function call ${name} in ${where} has no signature`);
  const own = wire.sign(`${name} ${JSON.stringify(args)}`);
  wire.demand(signature === own || signature === noSignature, `${where}: the signature belongs to another call`);
}

function readResponse(value: unknown, call: wire.Members, model: string): { name: string; text: string } {
  const { id, name, response } = wire.membersOf(value, "functionResponse", ["id", "name", "response", "parts"]);
  wire.demand(name === call["name"], `functionResponse.name: ${name} is not the function that was called`);
  if (isGeneration3(model)) wire.demand(id === call["id"], "functionResponse.id: is not the id of the call");
  const told = wire.membersOf(response, "functionResponse.response");
  return { name: name as string, text: String(told["output"] ?? JSON.stringify(told)) };
}

function toUsage({ said }: Question, { thoughts, text, calls }: Reply): wire.Members {
  const prompt = countWords(said);
  const written = countWords(text, JSON.stringify(calls));
  const thought = countWords(thoughts);
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: written,
    ...(thought === 0 ? {} : { thoughtsTokenCount: thought }),
    totalTokenCount: prompt + written + thought,
  };
}

/** The signature of a step stands on its first call. */
function toParts({ thoughts, text, calls }: Reply, model: string): wire.Members[] {
  const parts: wire.Members[] = [];
  if (thoughts !== "") parts.push({ text: thoughts, thought: true });
  if (text !== "") parts.push({ text });
  for (const [index, { name, input }] of calls.entries()) {
    const id = isGeneration3(model) ? { id: `fc${index}` } : {};
    const signature = index > 0 ? {} : { thoughtSignature: wire.sign(`${name} ${JSON.stringify(input)}`) };
    parts.push({ functionCall: { ...id, name, args: input }, ...signature });
  }
  return parts;
}

function toAnswer(
  model: string,
  parts: readonly wire.Members[],
  finishReason: string | null,
  usage: wire.Members,
): wire.Members {
  const ended = finishReason === null ? {} : { finishReason };
  return {
    candidates: [{ content: { role: "model", parts }, ...ended, index: 0 }],
    usageMetadata: usage,
    modelVersion: model,
    responseId: "resp-vendor-1",
  };
}

function toStream(model: string, reply: Reply, usage: wire.Members): Script {
  const pieces = toParts(reply, model).flatMap((part): wire.Members[] => {
    const { text, ...others } = part;
    return typeof text === "string" ? wire.wordsOf(text).map((piece) => ({ ...others, text: piece })) : [part];
  });
  const events = pieces.map((part) => wire.eventBytes(toAnswer(model, [part], null, usage)));
  events.push(wire.eventBytes(toAnswer(model, [{ text: "" }], "STOP", usage)));
  return wire.streamScript({
    contentType: "text/event-stream",
    events,
    failure: wire.eventBytes(toError(503, "The model is overloaded.")),
    trouble: wire.troubleOf(model),
  });
}

const maxBatch = 100;

function embed(request: VendorRequest, model: string): Script {
  const { requests } = wire.bodyOf(request, "body", ["requests"]);
  const list = wire.listOf(requests, "requests");
  wire.demand(list.length <= maxBatch, `requests: at most ${maxBatch} requests can be in one batch`);
  const embeddings = list.map((value) => {
    const members = wire.membersOf(value, "requests", ["model", "content", "taskType", "outputDimensionality"]);
    wire.demand(members["model"] === `models/${model}`, "requests.model: should be the model of the path");
    const { parts } = wire.membersOf(members["content"], "content", ["parts"]);
    const text = wire.textOf(wire.membersOf(wire.listOf(parts, "parts")[0], "parts", ["text"])["text"], "text");
    return { values: vectorOf(text, Number(members["outputDimensionality"] ?? 4)) };
  });
  return answer(200, { embeddings, usageMetadata: { promptTokenCount: 3 * list.length } });
}
