// Writes the tools, the choice among them, and the format of the answer, which depend on each other.

import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../dialect.ts";
import { objectOrNull } from "../../lenient.ts";
import { readSearchDomains, toSearchFilters } from "../../search-domains.ts";
import { findFreeName, maySearch, refuse } from "../chat-request.ts";
import { filled, present } from "../completion.ts";
import type { ModelTraits, Platform } from "./model-traits.ts";
import { toGeminiSchema } from "./schema.ts";

export interface Tooling {
  readonly tools: readonly JsonObject[];
  readonly toolConfig: JsonObject | null;
  /** Members of generationConfig for the format of the answer. */
  readonly format: JsonObject;
  readonly answerTool: string | null;
  readonly dropped: readonly string[];
}

interface Declaration {
  readonly name: string;
  readonly description?: string;
  readonly parametersJsonSchema?: JsonObject;
}

// Tools that the vendor runs itself, by the names that callers use.
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

export function toTooling(request: ChatRequest, traits: ModelTraits, platform: Platform): Tooling {
  const { tools, choice, mayServe } = readTools(request);
  const functions: Declaration[] = [];
  const server: JsonObject[] = [];
  for (const [index, tool] of tools.entries()) {
    if (tool.type === "function") functions.push(toDeclaration(tool, index));
    else server.push(findServerTool(tool, index));
  }
  // The vendor's modes of choice apply to functions only.
  if (!mayServe) server.length = 0;
  const dropped = request.parallel_tool_calls === false && functions.length > 0 ? ["parallel_tool_calls"] : [];
  const search = objectOrNull(request["web_search_options"]);
  if (search !== null && mayServe) {
    const declared = server.findIndex((tool) => "googleSearch" in tool);
    server.splice(declared < 0 ? server.length : declared, 1, toSearch(search, platform, dropped));
  }
  const write = (declared: readonly Declaration[], config: JsonObject | null) => ({
    tools: declared.length === 0 ? server : [{ functionDeclarations: declared }, ...server],
    toolConfig: toToolConfig(declared, server, config, platform),
    format: {},
    answerTool: null,
    dropped,
  });
  const isJson = (request.response_format ?? { type: "text" }).type !== "text";
  const mode = choice?.["mode"];
  // Before generation 3, a JSON answer and functions exclude each other.
  if (!isJson || functions.length === 0 || traits.isGeneration3 || mode === "NONE") {
    const declared = traits.isGeneration3 || !isJson ? functions : [];
    return { ...write(declared, choice), format: isJson ? toFormat(request) : {} };
  }
  // A call that the caller requires is the answer, whatever format a text would have.
  if (mode === "ANY") return write(functions, choice);
  const answer = toAnswerTool(request, functions);
  if (answer === null) return { ...write(functions, choice), dropped: [...dropped, "response_format"] };
  const allowed = choice?.["allowedFunctionNames"];
  const limit = Array.isArray(allowed) ? { allowedFunctionNames: [...allowed, answer.name] } : {};
  return { ...write([...functions, answer], { mode: "ANY", ...limit }), answerTool: answer.name };
}

/** `functions` and `function_call` are deprecated names of `tools` and `tool_choice`. */
function readTools(request: ChatRequest) {
  const old = Array.isArray(request["functions"]) ? (request["functions"] as NonNullable<ChatTool["function"]>[]) : [];
  const tools: readonly ChatTool[] = request.tools ?? old.map((declared) => ({ type: "function", function: declared }));
  const oldChoice = request["function_call"];
  const name = objectOrNull(oldChoice)?.["name"];
  const choice =
    request.tool_choice ?? (typeof name === "string" ? { type: "function", function: { name } } : oldChoice);
  return { tools, choice: toChoice(choice), mayServe: maySearch(choice) };
}

function toChoice(choice: unknown): JsonObject | null {
  if (choice === undefined || choice === null || choice === "auto") return null;
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  const { type, function: called, allowed_tools } = objectOrNull(choice) ?? {};
  const name = objectOrNull(called)?.["name"];
  if (type === "function" && typeof name === "string") return { mode: "ANY", allowedFunctionNames: [name] };
  const allowed = objectOrNull(allowed_tools);
  if (type === "allowed_tools" && Array.isArray(allowed?.["tools"])) {
    const names = allowed["tools"].map((tool) => objectOrNull(objectOrNull(tool)?.["function"])?.["name"]);
    const mode = allowed["mode"] === "required" ? "ANY" : "VALIDATED";
    return { mode, allowedFunctionNames: names.filter((one) => typeof one === "string") };
  }
  throw refuse(["tool_choice"], "Input should be none, auto, required, a function or allowed_tools", "value_error");
}

function toDeclaration(tool: ChatTool, index: number): Declaration {
  const declared = tool.function;
  if (declared === undefined) throw refuse(["tools", index, "function"], "Field required", "missing");
  const { name, description, parameters } = declared;
  return { name, ...filled({ description, parametersJsonSchema: toGeminiSchema(objectOrNull(parameters) ?? {}) }) };
}

function findServerTool({ type }: ChatTool, index: number): JsonObject {
  const found = lookUp(serverTools, type);
  if (found !== undefined) return found;
  const known = ["function", ...Object.keys(serverTools)].join(", ");
  throw refuse(["tools", index, "type"], `This provider's tools are ${known}`);
}

function toSearch(options: JsonObject, { searchDomains }: Platform, dropped: string[]): JsonObject {
  for (const name of ["search_context_size", "user_location"])
    if (options[name]) dropped.push(`web_search_options.${name}`);
  const lists = objectOrNull(options["filters"]) ?? {};
  const accepted = toSearchFilters(lists, searchDomains, (name) => {
    const message = "This provider's web search does not support such a list of domains";
    throw refuse(["web_search_options", "filters", name], message);
  });
  return { googleSearch: present({ excludeDomains: readSearchDomains(accepted, "blocked_domains") }) };
}

function toToolConfig(
  functions: readonly Declaration[],
  server: readonly JsonObject[],
  choice: JsonObject | null,
  platform: Platform,
): JsonObject | null {
  if (functions.length === 0) return null;
  const asks = server.length > 0 && platform.asksForServerTools;
  return { ...present({ functionCallingConfig: choice }), ...(asks ? { includeServerSideToolInvocations: true } : {}) };
}

function toFormat(request: ChatRequest): JsonObject {
  const format = request.response_format;
  if (format?.type !== "json_schema") return { responseMimeType: json };
  const schema = objectOrNull(format.json_schema?.schema);
  return { responseMimeType: json, ...present({ responseJsonSchema: schema && toGeminiSchema(schema) }) };
}

function toAnswerTool(request: ChatRequest, functions: readonly Declaration[]): Declaration | null {
  const format = request.response_format;
  if (format?.type !== "json_schema") return null;
  const schema = objectOrNull(format.json_schema?.schema);
  if (schema === null) return null;
  const { name: given = "" } = format.json_schema;
  const wanted = /^[A-Za-z_][\w.-]{0,50}$/.test(given) ? given : "answer";
  const taken = new Set(functions.map((declared) => declared.name));
  const name = findFreeName(wanted, taken, (one) => `final_${one}`);
  const description = format.json_schema.description || "Gives the final answer in the requested format.";
  return { name, description, parametersJsonSchema: toGeminiSchema(schema) };
}
