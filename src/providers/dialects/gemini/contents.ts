// A conversation as the vendor's contents: two roles, and parts.

import type { ChatAssistantMessage, ChatContent, ChatMessage, ChatRequest } from "../../../contract/chat-format.ts";
import type { Problem } from "../../../errors.ts";
import type { JsonObject } from "../../dialect.ts";
import { asList, asText, objectOrNull, objectsIn } from "../../lenient.ts";
import { toMediaPart } from "./media.ts";
import type { ModelTraits } from "./model-traits.ts";
import type { Platform } from "./platform.ts";
import { refuse } from "./refuse.ts";
import { readCallDetails, readSignature } from "./signature.ts";

export interface Conversation {
  readonly systemInstruction: JsonObject | null;
  readonly contents: readonly Content[];
}

export interface Content {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

type Loc = Problem["loc"];

// From generation 3 on a call without its signature is refused in the current turn. This is the vendor's documented way
// to say that there is none: the call was made by another model, or the client lost it.
const noSignature = "skip_thought_signature_validator";
// What may stand inside the result of a function; anything else is put beside it.
const typesInResults = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"]);

export function toConversation(request: ChatRequest, traits: ModelTraits, platform: Platform): Conversation {
  return new ConversationWriter(request.messages, traits, platform).write();
}

class ConversationWriter {
  readonly #messages: readonly ChatMessage[];
  readonly #traits: ModelTraits;
  readonly #hasCallIds: boolean;
  /** From here on calls have to be signed. */
  readonly #turnStart: number;
  readonly #system: string[] = [];
  readonly #contents: Content[] = [];
  /** Whether results of functions may still be added to the last content. */
  #isCollectingResults = false;
  readonly #namesByCallId = new Map<string, string>();

  constructor(messages: readonly ChatMessage[], traits: ModelTraits, platform: Platform) {
    this.#traits = traits;
    this.#hasCallIds = platform.hasCallIds(traits);
    this.#messages = this.#hasCallIds ? messages : inCallOrder(messages);
    this.#turnStart = messages.findLastIndex((message) => message.role === "user");
  }

  write(): Conversation {
    for (const [index, message] of this.#messages.entries()) this.#add(message, index);
    const texts = this.#system.map((text) => ({ text }));
    // A request without contents is refused, and some models have no place for instructions.
    const isInline = texts.length > 0 && (this.#contents.length === 0 || !this.#traits.hasSystemInstruction);
    if (isInline && this.#contents[0]?.role === "user") this.#contents[0].parts.unshift(...texts);
    else if (isInline) this.#contents.unshift({ role: "user", parts: texts });
    const systemInstruction = isInline || texts.length === 0 ? null : { parts: texts };
    this.#checkEnd();
    return { systemInstruction, contents: this.#contents };
  }

  #checkEnd(): void {
    if (this.#contents.length === 0) refuse(["messages"], "At least one message should hold something");
    if (!this.#traits.canSample && this.#contents.at(-1)?.role === "model")
      refuse(["messages", this.#messages.length - 1], "This model cannot continue a message of the assistant");
  }

  #add(message: ChatMessage, index: number): void {
    const loc = ["messages", index, "content"];
    switch (message.role) {
      case "system":
      case "developer":
        this.#system.push(...toTexts(message.content, loc));
        return;
      case "user":
        this.#push("user", toParts(message.content, loc));
        return;
      case "assistant":
        this.#push("model", this.#toModelParts(message, index));
        return;
      case "tool": {
        const name = this.#namesByCallId.get(message.tool_call_id);
        if (name === undefined) refuse(["messages", index, "tool_call_id"], "No earlier tool call has this id");
        this.#pushResult(name, message.tool_call_id, toParts(message.content, loc));
        return;
      }
      case "function":
        this.#pushResult(message.name, null, toParts(message.content ?? "", loc));
    }
  }

  #push(role: Content["role"], parts: JsonObject[]): void {
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    const canJoin = last?.role === role && !this.#isCollectingResults;
    if (canJoin) last.parts.push(...parts);
    else this.#contents.push({ role, parts });
    this.#isCollectingResults = false;
  }

  /** The results of one step are one content, which holds nothing else. */
  #pushResult(name: string, id: string | null, parts: readonly JsonObject[]): void {
    const text = parts.map((part) => part["text"] ?? "").join("");
    const media = parts.filter((part) => part["text"] === undefined);
    const inside = this.#traits.isGeneration3 ? media.filter(mayBeInResult) : [];
    const response = {
      ...(id !== null && this.#hasCallIds ? { id } : {}),
      name,
      // A string, so that numbers and the order of members stay as they are.
      response: { output: text },
      ...(inside.length > 0 ? { parts: inside } : {}),
    };
    const beside = inside.length === 0 ? media : media.filter((part) => !mayBeInResult(part));
    const made = [{ functionResponse: response }, ...beside];
    const last = this.#contents.at(-1);
    if (this.#isCollectingResults && last !== undefined) last.parts.push(...made);
    else this.#contents.push({ role: "user", parts: made });
    this.#isCollectingResults = true;
  }

  #toModelParts(message: ChatAssistantMessage, index: number): JsonObject[] {
    const kept = readKept(message);
    const parts: JsonObject[] = [...kept.parts, ...toParts(message.content ?? "", ["messages", index, "content"])];
    if (message.refusal && parts.length === 0) parts.push({ text: message.refusal });
    parts.push(...toImageParts(message));
    sign(parts, kept.signature);
    parts.push(...this.#toCallParts(message, index));
    return parts;
  }

  #toCallParts(message: ChatAssistantMessage, index: number): JsonObject[] {
    const calls = message.tool_calls ?? [];
    const parts: Record<string, unknown>[] = [];
    for (const call of calls) {
      if (!call.function) continue;
      const { name } = call.function;
      if (call.id) this.#namesByCallId.set(call.id, name);
      const id = call.id && this.#hasCallIds ? { id: call.id } : {};
      const signature = readSignature(call.extra_content);
      parts.push({
        functionCall: { ...id, name, args: toArguments(call.function.arguments) },
        ...(signature === null ? {} : { thoughtSignature: signature }),
      });
    }
    const old = message.function_call;
    if (old && parts.length === 0) parts.push({ functionCall: { name: old.name, args: toArguments(old.arguments) } });
    const first = parts[0];
    if (first === undefined || parts.some((part) => part["thoughtSignature"] !== undefined)) return parts;
    const isDemanded = this.#traits.isGeneration3 && index > this.#turnStart;
    const signature = readCallDetails(message.reasoning_details) ?? (isDemanded ? noSignature : null);
    if (signature !== null) first["thoughtSignature"] = signature;
    return parts;
  }
}

/** Where calls have no ids, the results of one function's calls are told apart by their order. */
function inCallOrder(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const ordered = [...messages];
  for (let start = 0; start < ordered.length; start++) {
    const message = ordered[start];
    if (message?.role !== "assistant" || (message.tool_calls?.length ?? 0) < 2) continue;
    const indexes = new Map<unknown, number>();
    for (const [index, { id }] of (message.tool_calls ?? []).entries()) if (!indexes.has(id)) indexes.set(id, index);
    const placeOf = (result: ChatMessage) => (result.role === "tool" ? (indexes.get(result.tool_call_id) ?? -1) : -1);
    let end = start + 1;
    while (ordered[end]?.role === "tool") end++;
    const results = ordered.slice(start + 1, end).sort((one, other) => placeOf(one) - placeOf(other));
    ordered.splice(start + 1, results.length, ...results);
  }
  return ordered;
}

function toParts(content: ChatContent, loc: Loc): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  const parts: JsonObject[] = [];
  for (const [index, part] of content.entries()) {
    if (part.type === "text" || part.type === "refusal") {
      const text = part.type === "text" ? part.text : part.refusal;
      if (text !== "") parts.push({ text });
    } else parts.push(toMediaPart(part, [...loc, index]));
  }
  return parts;
}

function toTexts(content: ChatContent, loc: Loc): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return content.flatMap((part, index) => {
    if (part.type !== "text") return refuse([...loc, index, "type"], "Instructions should be text");
    return part.text === "" ? [] : [part.text];
  });
}

/** Models write arguments that are no JSON, and clients send them back. */
function toArguments(written: string): JsonObject {
  if (written.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(written);
    return objectOrNull(value) ?? { value };
  } catch {
    return { value: written };
  }
}

/** What an earlier answer gave the client to keep, in `extra_content` of the message. */
function readKept(message: ChatAssistantMessage): { signature: string | null; parts: readonly JsonObject[] } {
  const extra = (message as unknown as JsonObject)["extra_content"];
  const parts = objectsIn(objectOrNull(objectOrNull(extra)?.["google"])?.["parts"]);
  return { signature: readSignature(extra), parts };
}

/** The signature belongs to the last part of the text; it may come without any. */
function sign(parts: JsonObject[], signature: string | null): void {
  if (signature === null) return;
  const last = parts.findLastIndex((part) => part["text"] !== undefined);
  if (last < 0) parts.push({ text: "", thoughtSignature: signature });
  else parts[last] = { ...parts[last], thoughtSignature: signature };
}

/** Images that the model made, sent back so that they can be changed. */
function toImageParts(message: ChatAssistantMessage): JsonObject[] {
  const images = asList((message as unknown as JsonObject)["images"]);
  return images.flatMap((image) => {
    const url = asText(objectOrNull(objectOrNull(image)?.["image_url"])?.["url"]);
    if (url === null) return [];
    const signature = readSignature(objectOrNull(image)?.["extra_content"]);
    const part = toMediaPart({ type: "image_url", image_url: { url } }, []);
    return [signature === null ? part : { ...part, thoughtSignature: signature }];
  });
}

function mayBeInResult(part: JsonObject): boolean {
  const type = objectOrNull(part["inlineData"])?.["mimeType"];
  return typeof type === "string" && typesInResults.has(type);
}
