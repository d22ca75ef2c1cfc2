// Responses as the page shows them, from the events of a stream or from a whole answer.

import type { z } from "zod";
import type { responseObject } from "../../../contract/responses.ts";
import { ApiError } from "../../api/client.ts";
import type { Attachment } from "../../playground/attachment.ts";
import type { StreamEvent } from "../../playground/events.ts";
import type { Parameters } from "../../playground/settings.ts";

export type ResponseObject = z.output<typeof responseObject>;
export type Item = Readonly<Record<string, unknown>>;

/** What the person sent: a message, or the results of calls. */
export type Input =
  | { readonly kind: "message"; readonly text: string; readonly attachments: readonly Attachment[] }
  | { readonly kind: "results"; readonly results: readonly { readonly callId: string; readonly output: string }[] };

export function toInputItems(input: Input): unknown {
  if (input.kind === "results")
    return input.results.map(({ callId, output }) => ({ type: "function_call_output", call_id: callId, output }));
  const { text, attachments } = input;
  if (attachments.length === 0) return text;
  const content = attachments.map(({ name, type, dataUrl }) =>
    type.startsWith("image/")
      ? { type: "input_image", image_url: dataUrl }
      : { type: "input_file", filename: name, file_data: dataUrl },
  );
  return [{ role: "user", content: text === "" ? content : [{ type: "input_text", text }, ...content] }];
}

/** The parameters of a chat in the spelling of responses. */
export function toResponseParameters(parameters: Parameters): Record<string, unknown> {
  const { max_completion_tokens, reasoning_effort, tools, response_format, ...same } = parameters;
  const { json_schema } = (response_format ?? {}) as { readonly json_schema?: object };
  return {
    ...same,
    ...(max_completion_tokens !== undefined && { max_output_tokens: max_completion_tokens }),
    ...(reasoning_effort !== undefined && { reasoning: { effort: reasoning_effort, summary: "auto" } }),
    ...(Array.isArray(tools) && { tools: tools.map(toResponseTool) }),
    ...(json_schema !== undefined && { text: { format: { type: "json_schema", ...json_schema } } }),
  };
}

/** Tools of chats have their members below `function`. */
function toResponseTool(tool: unknown): unknown {
  if (typeof tool !== "object" || tool === null || !("function" in tool)) return tool;
  return { type: "function", ...(tool.function as object) };
}

/** Collects a response while its events arrive. */
export class ResponseReader {
  response: ResponseObject | null = null;
  readonly #items: Record<string, unknown>[] = [];
  hasBegun = false;

  read(event: StreamEvent, requestId: string | null): void {
    const { type, response, output_index: index, item, delta } = event;
    if (type === "error") {
      const { message, code } = event as { readonly message?: string; readonly code?: string };
      throw new ApiError(message ?? "The response failed.", { status: 200, code: code ?? "error", requestId });
    }
    if (typeof response === "object" && response !== null) this.response = response as ResponseObject;
    if (typeof index !== "number") return;
    if (typeof item === "object" && item !== null) this.#items[index] = { ...item };
    const member = typeof type === "string" ? deltaMembers.get(type) : undefined;
    if (member === undefined || typeof delta !== "string") return;
    this.hasBegun = true;
    const changed = this.#items[index] ?? {};
    this.#items[index] = { ...changed, [member]: `${readText(changed[member])}${delta}` };
  }

  /** Of the complete response, or as far as they are known. */
  get items(): readonly Item[] {
    const { response } = this;
    if (response !== null && response.status !== "in_progress") return response.output;
    return this.#items.filter((item) => item !== undefined);
  }
}

/** Where the parts of a text are collected. Complete items have lists of parts there, which replace them. */
const deltaMembers: ReadonlyMap<string, string> = new Map([
  ["response.output_text.delta", "partialText"],
  ["response.refusal.delta", "partialRefusal"],
  ["response.reasoning_summary_text.delta", "partialReasoning"],
  ["response.reasoning_text.delta", "partialReasoning"],
  ["response.function_call_arguments.delta", "partialArguments"],
]);

function readText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of parts of these types, or what has arrived of it. */
function joinParts(parts: unknown, member: string): string {
  if (!Array.isArray(parts)) return "";
  return parts.map((part: unknown) => (isItem(part) ? readText(part[member]) : "")).join("");
}

function isItem(value: unknown): value is Item {
  return typeof value === "object" && value !== null;
}

export function textOf({ content, partialText }: Item): string {
  return typeof content === "string" ? content : joinParts(content, "text") || readText(partialText);
}

export function refusalOf({ content, partialRefusal }: Item): string {
  return joinParts(content, "refusal") || readText(partialRefusal);
}

export function reasoningOf({ summary, content, partialReasoning }: Item): string {
  return joinParts(summary, "text") || joinParts(content, "text") || readText(partialReasoning);
}

export function argumentsOf({ arguments: text, partialArguments }: Item): string {
  return readText(text) || readText(partialArguments);
}

export interface FunctionCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

export function callsOf(items: readonly Item[]): readonly FunctionCall[] {
  return items
    .filter(({ type }) => type === "function_call")
    .map((item) => ({
      callId: readText(item["call_id"]),
      name: readText(item["name"]),
      arguments: argumentsOf(item),
    }));
}
