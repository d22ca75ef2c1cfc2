// Writes the messages of a request in the order and with the members that the vendor accepts.

import { createHash } from "node:crypto";
import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatPart } from "../../../contract/chat-format.ts";
import type { Target } from "../../dialect.ts";
import { type Location, reasoningOf, refuse, textOfPart, withToolCalls } from "../chat-request.ts";
import { present } from "../completion.ts";
import { readOwnSignature } from "./content.ts";

interface MistralMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  content: MistralContent;
  readonly [member: string]: unknown;
}

/**
 * Only an assistant message may follow a tool result, so a user or system message there becomes part of the result. A system message
 * after the assistant becomes a user message. A final assistant message is marked as a prefix to be continued.
 */
export function toMistralMessages(messages: readonly ChatMessage[], target: Target): readonly MistralMessage[] {
  const ordered: MistralMessage[] = [];
  withToolCalls(messages).forEach((message, index) => {
    const written = toMessage(message, index, target);
    const before = ordered.at(-1);
    if (before?.role === "tool" && (written.role === "user" || written.role === "system"))
      appendToResult(before, written);
    else
      ordered.push(written.role === "system" && before?.role === "assistant" ? { ...written, role: "user" } : written);
  });
  const last = ordered.at(-1);
  if (last?.role === "assistant" && last["tool_calls"] === undefined)
    ordered[ordered.length - 1] = { prefix: true, ...last };
  return ordered;
}

/** Marks separate the message from the output of the tool. */
function appendToResult(result: MistralMessage, { role, content }: MistralMessage): void {
  const start = { type: "text", text: `\n<${role}_message>\n` };
  const end = { type: "text", text: `\n</${role}_message>` };
  if (typeof result.content === "string") result.content = toPartList(result.content);
  result.content.push(start, ...toPartList(content), end);
}

type MistralContent = string | unknown[];

function toMessage(message: ChatMessage, index: number, target: Target): MistralMessage {
  if (message.role === "assistant") return toAssistantMessage(message, index, target);
  const content = toContent(message.content ?? "", index);
  if (message.role === "tool") return { role: "tool", tool_call_id: toCallId(message.tool_call_id), content };
  return { role: message.role === "user" ? "user" : "system", content };
}

function toAssistantMessage(message: ChatAssistantMessage, index: number, target: Target): MistralMessage {
  const calls = (message.tool_calls ?? []).map((call) => ({
    id: toCallId(call.id ?? ""),
    type: "function",
    function: { name: call.function?.name ?? "", arguments: call.function?.arguments || "{}" },
  }));
  const content = toContent(message.content ?? message.refusal ?? "", index);
  // Reasoning models answer worse without their earlier reasoning; other models refuse such parts.
  const thoughts = target.facts?.reasoning === false ? [] : reasoningOf(message).map(toThinkingPart);
  const { prefix } = message as { prefix?: unknown };
  return {
    role: "assistant",
    content: thoughts.length === 0 ? content : [...thoughts, ...toPartList(content)],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(typeof prefix === "boolean" ? { prefix } : {}),
  };
}

function toThinkingPart({ text, signature }: { text: string; signature?: string }): unknown {
  const thinking = [{ type: "text", text }];
  return present({ type: "thinking", thinking, signature: readOwnSignature(signature), closed: true });
}

function toPartList(content: MistralContent): unknown[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

function toContent(content: ChatContent, messageIndex: number): MistralContent {
  if (typeof content === "string") return content;
  return content.map((part, index) => toPart(part, ["messages", messageIndex, "content", index]));
}

/** Parts that the chat format does not have are the vendor's own and are passed on unchanged. */
function toPart(part: ChatPart, location: Location): unknown {
  const text = textOfPart(part);
  if (text !== null) return { type: "text", text };
  if (part.type === "image_url") return { type: "image_url", image_url: present(part.image_url) };
  if (part.type === "input_audio")
    return { type: "input_audio", input_audio: part.input_audio.data ?? part.input_audio };
  if (part.type !== "file" || part.file === undefined) return part;
  const { file_data: data, file_id: id, filename } = part.file;
  if (data) {
    const url = /^(?:data|https?):/i.test(data) ? data : `data:application/pdf;base64,${data}`;
    return present({ type: "document_url", document_url: url, document_name: filename });
  }
  if (id) return { type: "file", file_id: id };
  throw refuse([...location, "file"], "A file should have file_data or file_id", "value_error");
}

/** Most models accept only ids of nine letters or digits. Other ids are hashed, so the same id always gives the same result. */
function toCallId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("base64url").replace(/[-_]/g, "").slice(0, 9);
}
