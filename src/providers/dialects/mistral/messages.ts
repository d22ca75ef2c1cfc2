// The messages of a request in the vendor's order and with no member that its schema refuses.

import { createHash } from "node:crypto";
import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatPart } from "../../../contract/chat-format.ts";
import type { Target } from "../../dialect.ts";
import { refuse, textOfPart, thoughtsOf, withoutFunctionCalls } from "../asked.ts";
import { present } from "../new-answer.ts";
import { ownSignature } from "./thoughts.ts";

interface MistralMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly [member: string]: unknown;
}

/**
 * After the result of a tool only the assistant may speak, and words that it never said may not be put in between: what the user
 * says there goes into the result. After the assistant no system message is taken: it becomes the user's. A conversation that
 * ends with the assistant asks for its words to be continued.
 */
export function toMistralMessages(messages: readonly ChatMessage[], target: Target): readonly MistralMessage[] {
  const ordered: MistralMessage[] = [];
  withoutFunctionCalls(messages).forEach((message, index) => {
    const made = toMessage(message, index, target);
    const before = ordered.at(-1);
    if (before?.role === "tool" && (made.role === "user" || made.role === "system"))
      ordered[ordered.length - 1] = withWords(before, made);
    else ordered.push(made.role === "system" && before?.role === "assistant" ? { ...made, role: "user" } : made);
  });
  const last = ordered.at(-1);
  if (last?.role === "assistant" && last["tool_calls"] === undefined)
    ordered[ordered.length - 1] = { prefix: true, ...last };
  return ordered;
}

/** The result of a tool with what was said after it, told apart. */
function withWords(result: MistralMessage, { role, content }: MistralMessage): MistralMessage {
  const words = toPartList(content as MistralContent);
  const marked = [
    { type: "text", text: `\n<${role}_message>\n` },
    ...words,
    { type: "text", text: `\n</${role}_message>` },
  ];
  return { ...result, content: [...toPartList(result["content"] as MistralContent), ...marked] };
}

type MistralContent = string | readonly unknown[];

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
  // To leave the thoughts out makes models that reason worse; others do not know such parts.
  const thoughts = target.facts?.reasoning === false ? [] : thoughtsOf(message).map(toThinkingPart);
  const { prefix } = message as { prefix?: unknown };
  return {
    role: "assistant",
    content: thoughts.length === 0 ? content : [...thoughts, ...toPartList(content)],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(typeof prefix === "boolean" ? { prefix } : {}),
  };
}

function toThinkingPart({ text, signature }: { text: string; signature?: string }): unknown {
  const own = ownSignature(signature);
  return {
    type: "thinking",
    thinking: [{ type: "text", text }],
    ...(own === null ? {} : { signature: own }),
    closed: true,
  };
}

function toPartList(content: string | readonly unknown[]): readonly unknown[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

function toContent(content: ChatContent, messageIndex: number): string | readonly unknown[] {
  if (typeof content === "string") return content;
  return content.map((part, index) => toPart(part, ["messages", messageIndex, "content", index]));
}

/** Parts that are not of the chat format are the vendor's own and pass as they are. */
function toPart(part: ChatPart, location: readonly (string | number)[]): unknown {
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
  throw refuse([...location, "file"], "A file needs file_data or file_id", "value_error");
}

/** Exactly nine letters or digits is what most models take. Ids of other vendors are turned into such, always the same way. */
function toCallId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("base64url").replace(/[-_]/g, "").slice(0, 9);
}
