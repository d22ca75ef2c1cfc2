// The models that a request runs besides its own: as an advisor, as the vendor's own fallback, or as a tool. Vendors add such members often, so
// every member whose name says that it is a model counts, wherever it is.

import { isObject, type JsonObject } from "../lib/lenient-json.ts";

export interface OtherModel {
  readonly path: readonly (string | number)[];
  /** Null: the provider chooses the model. */
  readonly model: string | null;
}

/** A member by which a provider runs models of its own choice. */
export interface ModelChooser {
  readonly member: string;
  /** Absent: whatever its value is. */
  readonly value?: string;
  /** Members beside it, or in `parameters` beside it, that name all of these models. */
  readonly namedBy?: readonly string[];
}

/** Of the Messages and the Responses format. */
const choosersOfFormats: readonly ModelChooser[] = [
  { member: "fallbacks", value: "default" },
  { member: "type", value: "image_generation", namedBy: ["model"] },
];

/** Members of the body with the caller's own content, and a choice among tools that are declared elsewhere. */
const contentMembers: ReadonlySet<string> = new Set([
  ...["model", "messages", "system", "input", "instructions", "prompt", "prediction", "metadata", "user"],
  ...["contents", "systemInstruction", "response_format", "text", "output_config", "output_format"],
  ...["functions", "tool_choice", "toolConfig"],
]);

export function isContent(member: string): boolean {
  return contentMembers.has(member);
}

/** `members`: of the body, without its content. */
export function findOtherModels(members: JsonObject, choosers: readonly ModelChooser[] = []): readonly OtherModel[] {
  const found: OtherModel[] = [];
  const all = [...choosersOfFormats, ...choosers];

  function visit(value: unknown, path: OtherModel["path"], isModel: boolean): void {
    if (typeof value === "string") {
      if (isModel) found.push({ path, model: value });
    } else if (Array.isArray(value))
      for (const [index, element] of value.entries()) visit(element, [...path, index], isModel);
    else if (isObject(value) && !isFunction(value)) visitMembers(value, path);
  }

  function visitMembers(value: JsonObject, path: OtherModel["path"]): void {
    for (const [name, member] of Object.entries(value)) {
      const memberPath = [...path, name];
      const isChosen = all.some((chooser) => chooser.member === name && chooses(chooser, member, value));
      if (isChosen) found.push({ path: memberPath, model: null });
      else if (!isDeclaration(name)) visit(member, memberPath, namesModel(name) || isFallbackList(path, member));
    }
  }

  visitMembers(members, []);
  return found;
}

function chooses({ value, namedBy }: ModelChooser, member: unknown, siblings: JsonObject): boolean {
  if (value === undefined ? member === null || member === false : member !== value) return false;
  const parameters = isObject(siblings["parameters"]) ? siblings["parameters"] : {};
  return namedBy === undefined || !namedBy.every((name) => siblings[name] || parameters[name]);
}

/** `model`, `models`, `safety_model`, `analysis_models`, `model_id`, `deployment_name` … in either case of the format. */
const modelName = /(?:^|_)(?:models?|deployment|fallbacks)(?:_(?:id|name)s?)?$/;

function namesModel(name: string): boolean {
  return modelName.test(name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
}

/** `context_window_fallbacks: [{"a": ["b", "c"]}]`: the names of the members are models themselves. */
function isFallbackList(path: OtherModel["path"], member: unknown): boolean {
  return Array.isArray(member) && path.some((part) => typeof part === "string" && part.endsWith("fallbacks"));
}

/** The caller's own functions and schemas may have members of any name. */
function isDeclaration(name: string): boolean {
  return /schema$/i.test(name) || name === "functionDeclarations";
}

function isFunction({ type }: JsonObject): boolean {
  return type === "function" || type === "custom";
}
