// What to ask the gateway, so that a recorded answer can be read as what it was: the tools and the form of the answer that the
// recorded request asked for, in the words of our callers. The prompt only says which recording is meant.

import { asList, asObject, isObject, type JsonObject, type Recording } from "./recording.ts";
import { type Mode, toPrompt } from "./replay.ts";

export function toChatRequest(recording: Recording, mode: Mode): JsonObject {
  const tools = findTools(recording.request).map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema },
  }));
  const schema = findAnswerSchema(recording.request);
  const format = { type: "json_schema", json_schema: { name: "answer", schema } };
  return {
    model: modelOf(recording),
    messages: [{ role: "user", content: toPrompt(recording, mode) }],
    ...(tools.length > 0 && { tools }),
    ...(schema !== null && { response_format: format }),
    ...(recording.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

export function toMessagesRequest(recording: Recording, mode: Mode): JsonObject {
  const tools = findTools(recording.request).map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: schema,
  }));
  const schema = findAnswerSchema(recording.request);
  return {
    model: modelOf(recording),
    max_tokens: 4_096,
    messages: [{ role: "user", content: toPrompt(recording, mode) }],
    ...(tools.length > 0 && { tools }),
    ...(schema !== null && { output_config: { format: { type: "json_schema", schema } } }),
    ...(recording.stream && { stream: true }),
  };
}

function modelOf({ provider, model }: Recording): string {
  return `${provider}/${model}`;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
}

/** The functions among the tools: what a vendor runs itself has no bearing on how its answer is read. */
function findTools(request: JsonObject): readonly Tool[] {
  const listed = [...asList(request["tools"]), ...asList(asObject(request["toolConfig"])["tools"])].map(asObject);
  const declared = listed.flatMap((tool) => [
    asObject(tool["function"]),
    asObject(tool["toolSpec"]),
    tool,
    ...asList(tool["functionDeclarations"] ?? tool["function_declarations"]).map(asObject),
  ]);
  return declared.flatMap((tool) => {
    const schema = schemaOfTool(tool);
    if (typeof tool["name"] !== "string" || schema === null) return [];
    return [{ name: tool["name"], description: String(tool["description"] ?? ""), schema }];
  });
}

function schemaOfTool(tool: JsonObject): JsonObject | null {
  const found = [
    tool["parameters"],
    tool["parametersJsonSchema"],
    tool["parameters_json_schema"],
    tool["input_schema"],
    asObject(tool["inputSchema"])["json"],
  ].find(isObject);
  return found === undefined ? null : toJsonSchema(found);
}

/** Null when the answer was left free. Wherever each vendor has it. */
function findAnswerSchema(request: JsonObject): JsonObject | null {
  const format = asObject(request["response_format"]);
  const generation = asObject(request["generationConfig"]);
  const converse = asObject(asObject(asObject(request["outputConfig"])["textFormat"])["structure"]);
  const written = asObject(converse["jsonSchema"])["schema"];
  const candidates = [
    asObject(format["json_schema"])["schema"] ?? format["json_schema"] ?? format["schema"],
    asObject(asObject(request["output_config"])["format"])["schema"],
    asObject(request["output_format"])["schema"],
    generation["responseJsonSchema"] ?? generation["response_json_schema"],
    generation["responseSchema"] ?? generation["response_schema"],
    request["format"],
    typeof written === "string" ? JSON.parse(written) : null,
  ];
  const found = candidates.find(isObject);
  return found === undefined ? null : toJsonSchema(found);
}

/** One vendor writes types in capitals. */
function toJsonSchema(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  return JSON.parse(text.replace(/"type":"([A-Z]+)"/g, (_all, type: string) => `"type":"${type.toLowerCase()}"`));
}
