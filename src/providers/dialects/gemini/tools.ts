// Tools, the choice among them, and the form of the answer, which share one field of the vendor's format.

import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { objectOrNull } from "../../lenient.ts";
import { readSearchDomains } from "../../search-domains.ts";
import type { ModelTraits } from "./model-traits.ts";
import type { Platform } from "./platform.ts";
import { refuse } from "./refuse.ts";
import { toGeminiSchema } from "./schema.ts";

export interface Tooling {
  readonly tools: readonly JsonObject[];
  readonly toolConfig: JsonObject | null;
  /** Members of generationConfig that say what form the answer has. */
  readonly format: JsonObject;
  readonly answerTool: string | null;
  readonly dropped: readonly string[];
}

interface Declaration {
  readonly name: string;
  readonly description?: string;
  readonly parametersJsonSchema?: JsonObject;
}

// Tools that the vendor runs itself, by the names that callers know them under.
const serverTools: Readonly<Record<string, JsonObject>> = {
  web_search: { googleSearch: {} },
  web_search_preview: { googleSearch: {} },
  google_search: { googleSearch: {} },
  code_execution: { codeExecution: {} },
  code_interpreter: { codeExecution: {} },
  url_context: { urlContext: {} },
  google_maps: { googleMaps: {} },
};

const json = "application/json";

/** Which platform takes the list is declared by its dialect. */
function toSearch(options: unknown): JsonObject {
  const blocked = readSearchDomains(options, "blocked_domains");
  return blocked === null ? {} : { excludeDomains: blocked };
}

export function toTooling(request: ChatRequest, traits: ModelTraits, platform: Platform): Tooling {
  const asked = asFunctionTools(request);
  const choice = asked.choice;
  const functions: Declaration[] = [];
  const server: JsonObject[] = [];
  for (const [index, tool] of asked.tools.entries()) {
    if (tool.type === "function") functions.push(toDeclaration(tool, index));
    else
      server.push(Object.hasOwn(serverTools, tool.type) ? (serverTools[tool.type] as JsonObject) : refuseTool(index));
  }
  if (objectOrNull(request["web_search_options"]) !== null && !server.some((tool) => "googleSearch" in tool))
    server.push({ googleSearch: toSearch(request["web_search_options"]) });
  const format = request.response_format ?? null;
  const isJson = format !== null && format.type !== "text";
  const dropped = request.parallel_tool_calls === false && functions.length > 0 ? ["parallel_tool_calls"] : [];
  const isForced = choice !== null && choice["mode"] === "ANY";
  // Before generation 3 a JSON answer and functions exclude each other.
  const isConflict = isJson && functions.length > 0 && !traits.isGeneration3 && choice?.["mode"] !== "NONE";
  if (!isConflict) {
    const declared = functions.length > 0 && (traits.isGeneration3 || !isJson) ? functions : [];
    return {
      tools: toTools(declared, server),
      toolConfig: toToolConfig(declared, server, choice, platform),
      format: isJson ? toFormat(request) : {},
      answerTool: null,
      dropped,
    };
  }
  const answer = isForced ? null : toAnswerTool(request, functions);
  if (answer === null) {
    // A forced call is the answer, whatever form a text would have had.
    const lost = isForced ? [] : ["response_format"];
    const toolConfig = toToolConfig(functions, server, choice, platform);
    return {
      tools: toTools(functions, server),
      toolConfig,
      format: {},
      answerTool: null,
      dropped: [...dropped, ...lost],
    };
  }
  const declared = [...functions, answer];
  const toolConfig = toToolConfig(declared, server, { mode: "ANY" }, platform);
  return { tools: toTools(declared, server), toolConfig, format: {}, answerTool: answer.name, dropped };
}

/** `functions` and `function_call` are the old names of `tools` and `tool_choice`. */
function asFunctionTools(request: ChatRequest): { tools: readonly ChatTool[]; choice: JsonObject | null } {
  const old = Array.isArray(request["functions"]) ? (request["functions"] as NonNullable<ChatTool["function"]>[]) : [];
  const tools = request.tools ?? old.map((declared) => ({ type: "function", function: declared }));
  const oldChoice = request["function_call"];
  const name = objectOrNull(oldChoice)?.["name"];
  const choice =
    request.tool_choice ?? (typeof name === "string" ? { type: "function", function: { name } } : oldChoice);
  return { tools, choice: toChoice(choice) };
}

function toChoice(choice: unknown): JsonObject | null {
  if (choice === undefined || choice === null || choice === "auto") return null;
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  const asked = objectOrNull(choice);
  const name = objectOrNull(asked?.["function"])?.["name"];
  if (asked?.["type"] === "function" && typeof name === "string") return { mode: "ANY", allowedFunctionNames: [name] };
  const allowed = objectOrNull(asked?.["allowed_tools"]);
  if (asked?.["type"] === "allowed_tools" && Array.isArray(allowed?.["tools"])) {
    const names = allowed["tools"].map((tool) => objectOrNull(objectOrNull(tool)?.["function"])?.["name"]);
    const mode = allowed["mode"] === "required" ? "ANY" : "VALIDATED";
    return { mode, allowedFunctionNames: names.filter((one) => typeof one === "string") };
  }
  return refuse(["tool_choice"], "Input should be none, auto, required, a function or allowed_tools");
}

function toDeclaration(tool: ChatTool, index: number): Declaration {
  const declared = tool.function;
  if (declared === undefined) return refuse(["tools", index, "function"], "Field required", "missing");
  const parameters = objectOrNull(declared.parameters);
  return {
    name: declared.name,
    ...(declared.description ? { description: declared.description } : {}),
    ...(parameters === null || Object.keys(parameters).length === 0
      ? {}
      : { parametersJsonSchema: toGeminiSchema(parameters) }),
  };
}

function refuseTool(index: number): never {
  const known = ["function", ...Object.keys(serverTools)].join(", ");
  return refuse(["tools", index, "type"], `This provider's tools are ${known}`, "unsupported_parameter");
}

function toTools(functions: readonly Declaration[], server: readonly JsonObject[]): JsonObject[] {
  return functions.length === 0 ? [...server] : [{ functionDeclarations: functions }, ...server];
}

function toToolConfig(
  functions: readonly Declaration[],
  server: readonly JsonObject[],
  choice: JsonObject | null,
  platform: Platform,
): JsonObject | null {
  if (functions.length === 0) return null;
  const config = {
    ...(choice === null ? {} : { functionCallingConfig: choice }),
    ...(server.length > 0 && platform.asksForServerTools ? { includeServerSideToolInvocations: true } : {}),
  };
  return Object.keys(config).length === 0 ? null : config;
}

function toFormat(request: ChatRequest): JsonObject {
  const format = request.response_format;
  if (format?.type !== "json_schema") return { responseMimeType: json };
  const schema = objectOrNull(format.json_schema?.schema);
  return schema === null
    ? { responseMimeType: json }
    : { responseMimeType: json, responseJsonSchema: toGeminiSchema(schema) };
}

function toAnswerTool(request: ChatRequest, functions: readonly Declaration[]): Declaration | null {
  const format = request.response_format;
  const schema = format?.type === "json_schema" ? objectOrNull(format.json_schema?.schema) : null;
  if (format?.type !== "json_schema" || schema === null) return null;
  const taken = new Set(functions.map((declared) => declared.name));
  const wanted = /^[A-Za-z_][\w.-]{0,50}$/.test(format.json_schema.name ?? "") ? format.json_schema.name : undefined;
  let name = wanted ?? "answer";
  while (taken.has(name)) name = `final_${name}`;
  const description = format.json_schema.description || "Gives the final answer, in the form that was asked for.";
  return { name, description, parametersJsonSchema: toGeminiSchema(schema) };
}
