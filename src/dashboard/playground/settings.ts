// What is sent with every message, as the fields of a form, and the parameters of a chat that follow from it.

export type Parameters = Readonly<Record<string, unknown>>;

/** As the fields of the form: an empty text leaves the choice to the provider. */
export interface Settings {
  readonly system: string;
  readonly temperature: number | "";
  readonly maxTokens: number | "";
  readonly reasoningEffort: string;
  readonly usesTools: boolean;
  readonly tools: string;
  readonly toolChoice: string;
  readonly usesSchema: boolean;
  readonly schema: string;
}

export const initialSettings: Settings = {
  system: "",
  temperature: "",
  maxTokens: "",
  reasoningEffort: "",
  usesTools: false,
  tools: "",
  toolChoice: "auto",
  usesSchema: false,
  schema: "",
};

export type ReadSettings =
  | { readonly parameters: Parameters; readonly problem: null }
  | { readonly parameters: null; readonly problem: { readonly field: "tools" | "schema"; readonly message: string } };

/** The parameters of a request, or what is wrong with a field. */
export function readSettings(settings: Settings): ReadSettings {
  const { temperature, maxTokens, reasoningEffort, usesTools, toolChoice, usesSchema } = settings;
  const parameters: Record<string, unknown> = {};
  if (temperature !== "") parameters["temperature"] = temperature;
  if (maxTokens !== "") parameters["max_completion_tokens"] = maxTokens;
  if (reasoningEffort !== "") parameters["reasoning_effort"] = reasoningEffort;
  if (usesTools) {
    const tools = parseJson(settings.tools);
    if (!Array.isArray(tools) || tools.length === 0)
      return toProblem("tools", "Tools should be a JSON list with at least one tool.");
    parameters["tools"] = tools;
    parameters["tool_choice"] = toolChoice;
  }
  if (usesSchema) {
    const schema = parseJson(settings.schema);
    if (typeof schema !== "object" || schema === null || Array.isArray(schema))
      return toProblem("schema", "The schema should be a JSON object.");
    parameters["response_format"] = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
  }
  return { parameters, problem: null };
}

function toProblem(field: "tools" | "schema", message: string): ReadSettings {
  return { parameters: null, problem: { field, message } };
}

/** Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
