// Writes a conversation as the vendor's contents: two roles, and parts.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatRequest,
} from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../dialect.ts";
import { asList, asText, objectOrNull, objectsIn } from "../../lenient.ts";
import { type Location, placeSystemMessages, refuse, textOfPart, toArgumentObject } from "../chat-request.ts";
import { present } from "../completion.ts";
import { imageDetailMember, imageDetailOf } from "../media.ts";
import { type MediaPart, toMediaPart } from "./media.ts";
import type { ModelTraits, Platform } from "./model-traits.ts";
import { readCallDetails, readSignature } from "./signature.ts";

export interface Conversation {
  readonly systemInstruction: JsonObject | null;
  readonly contents: readonly Content[];
}

export interface Content {
  readonly role: "user" | "model";
  readonly parts: JsonObject[];
}

// Generation 3 refuses a call without its signature in the current turn, and an image of the model without its signature. This
// documented value replaces it if another model made the call or the image, or the client lost the signature.
const noSignature = "skip_thought_signature_validator";
// The resolution of a part, by the `detail` of the chat format: https://ai.google.dev/gemini-api/docs/generate-content/media-resolution
const resolutions: Readonly<Record<string, string>> = {
  low: "MEDIA_RESOLUTION_LOW",
  high: "MEDIA_RESOLUTION_HIGH",
  original: "MEDIA_RESOLUTION_ULTRA_HIGH",
};
// Media types that a function result may contain; other media follow the result.
const typesInResults = new Set(["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"]);

/** `dropped`: members of messages that could not be expressed, by dotted names. */
export function toConversation(
  request: ChatRequest,
  traits: ModelTraits,
  platform: Platform,
): { readonly conversation: Conversation; readonly dropped: readonly string[] } {
  const writer = new ConversationWriter(request.messages, traits, platform);
  return { conversation: writer.write(), dropped: [...writer.dropped] };
}

class ConversationWriter {
  readonly dropped = new Set<string>();
  readonly #messages: readonly ChatMessage[];
  readonly #traits: ModelTraits;
  readonly #hasCallIds: boolean;
  /** The index of the last user message: later calls need a signature. */
  readonly #turnStart: number;
  readonly #system: string[] = [];
  readonly #contents: Content[] = [];
  /** Whether the last content is a list of function results that may grow. */
  #isCollectingResults = false;
  readonly #namesByCallId = new Map<string, string>();

  constructor(messages: readonly ChatMessage[], traits: ModelTraits, platform: Platform) {
    this.#traits = traits;
    this.#hasCallIds = platform.hasCallIds(traits);
    const placed = placeSystemMessages(messages);
    this.#messages = this.#hasCallIds ? placed : inCallOrder(placed);
    this.#turnStart = messages.findLastIndex((message) => message.role === "user");
  }

  write(): Conversation {
    for (const [index, message] of this.#messages.entries()) this.#add(message, index);
    const texts = this.#system.map((text) => ({ text }));
    // The vendor refuses a request without contents, and some models have no system instruction.
    const isInline = texts.length > 0 && (this.#contents.length === 0 || !this.#traits.hasSystemInstruction);
    if (isInline && this.#contents[0]?.role === "user") this.#contents[0].parts.unshift(...texts);
    else if (isInline) this.#contents.unshift({ role: "user", parts: texts });
    const systemInstruction = isInline || texts.length === 0 ? null : { parts: texts };
    this.#checkEnd();
    return { systemInstruction, contents: this.#contents };
  }

  #checkEnd(): void {
    if (this.#contents.length === 0)
      throw refuse(["messages"], "At least one message should have content", "value_error");
    if (this.#traits.canSample || this.#contents.at(-1)?.role !== "model") return;
    const location = ["messages", this.#messages.length - 1];
    throw refuse(location, "This model cannot continue a message of the assistant", "value_error");
  }

  #add(message: ChatMessage, index: number): void {
    const location = ["messages", index, "content"];
    switch (message.role) {
      case "system":
      case "developer":
        this.#system.push(...toTexts(message.content));
        return;
      case "user":
        this.#push("user", this.#toParts(message.content, location));
        return;
      case "assistant":
        this.#push("model", this.#toModelParts(message, index));
        return;
      case "tool": {
        const name = this.#namesByCallId.get(message.tool_call_id);
        if (name === undefined)
          throw refuse(["messages", index, "tool_call_id"], "No earlier tool call has this id", "value_error");
        this.#pushResult(name, message.tool_call_id, this.#toParts(message.content, location));
        return;
      }
      case "function":
        this.#pushResult(message.name, null, this.#toParts(message.content ?? "", location));
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

  /** The results of one step form one content of their own. */
  #pushResult(name: string, id: string | null, parts: readonly JsonObject[]): void {
    const text = parts.map((part) => part["text"] ?? "").join("");
    const media = parts.filter((part) => part["text"] === undefined);
    const inside = this.#traits.isGeneration3
      ? media.filter(mayBeInResult).map((part) => this.#withoutResolution(part))
      : [];
    const response = {
      ...(id !== null && this.#hasCallIds ? { id } : {}),
      name,
      // A string keeps numbers and the order of members unchanged.
      response: { output: text },
      ...(inside.length > 0 ? { parts: inside } : {}),
    };
    const beside = inside.length === 0 ? media : media.filter((part) => !mayBeInResult(part));
    const written = [{ functionResponse: response }, ...beside];
    const last = this.#contents.at(-1);
    if (this.#isCollectingResults && last !== undefined) last.parts.push(...written);
    else this.#contents.push({ role: "user", parts: written });
    this.#isCollectingResults = true;
  }

  #toModelParts(message: ChatAssistantMessage, index: number): JsonObject[] {
    const extra = message.extra_content;
    const serverParts = objectsIn(objectOrNull(extra?.["google"])?.["parts"]);
    const parts: JsonObject[] = [
      ...serverParts,
      ...this.#toParts(message.content ?? "", ["messages", index, "content"]),
    ];
    if (message.refusal && parts.length === 0) parts.push({ text: message.refusal });
    parts.push(...toImageParts(message, this.#traits));
    sign(parts, readSignature(extra));
    parts.push(...this.#toCallParts(message, index));
    return parts;
  }

  #toParts(content: ChatContent, location: Location): JsonObject[] {
    if (typeof content === "string") return content === "" ? [] : [{ text: content }];
    return content.flatMap((part, index) => {
      const text = textOfPart(part);
      if (text !== null) return text === "" ? [] : [{ text }];
      return [{ ...toMediaPart(part as MediaPart, [...location, index]), ...this.#toResolution(part) }];
    });
  }

  #toResolution(part: ChatPart): JsonObject {
    const detail = imageDetailOf(part);
    if (detail === null) return {};
    const level = this.#traits.isGeneration3 ? lookUp(resolutions, detail) : undefined;
    if (level !== undefined) return { mediaResolution: { level } };
    this.dropped.add(imageDetailMember);
    return {};
  }

  /** Media inside a result have no resolution. */
  #withoutResolution({ mediaResolution, ...part }: JsonObject): JsonObject {
    if (mediaResolution !== undefined) this.dropped.add(imageDetailMember);
    return part;
  }

  #toCallParts(message: ChatAssistantMessage, index: number): JsonObject[] {
    const calls = message.tool_calls ?? [];
    const parts: Record<string, unknown>[] = [];
    for (const call of calls) {
      if (!call.function) continue;
      const { name, arguments: text } = call.function;
      if (call.id) this.#namesByCallId.set(call.id, name);
      const id = call.id && this.#hasCallIds ? { id: call.id } : {};
      const functionCall = { ...id, name, args: toArgumentObject(text, "value") };
      parts.push(present({ functionCall, thoughtSignature: readSignature(call.extra_content) }));
    }
    const old = message.function_call;
    if (old && parts.length === 0)
      parts.push({ functionCall: { name: old.name, args: toArgumentObject(old.arguments, "value") } });
    const first = parts[0];
    if (first === undefined || parts.some((part) => part["thoughtSignature"] !== undefined)) return parts;
    const isRequired = this.#traits.isGeneration3 && index > this.#turnStart;
    const signature = readCallDetails(message.reasoning_details) ?? (isRequired ? noSignature : null);
    if (signature !== null) first["thoughtSignature"] = signature;
    return parts;
  }
}

/** Without ids, the results of several calls of one function are matched by their order. */
function inCallOrder(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const ordered = [...messages];
  for (let start = 0; start < ordered.length; start++) {
    const message = ordered[start];
    if (message?.role !== "assistant" || (message.tool_calls?.length ?? 0) < 2) continue;
    const indexes = new Map<unknown, number>();
    for (const [index, { id }] of (message.tool_calls ?? []).entries()) if (!indexes.has(id)) indexes.set(id, index);
    const positionOf = (result: ChatMessage) =>
      result.role === "tool" ? (indexes.get(result.tool_call_id) ?? -1) : -1;
    let end = start + 1;
    while (ordered[end]?.role === "tool") end++;
    const results = ordered.slice(start + 1, end).sort((one, other) => positionOf(one) - positionOf(other));
    ordered.splice(start + 1, results.length, ...results);
  }
  return ordered;
}

function toTexts(content: ChatContent): string[] {
  const texts = typeof content === "string" ? [content] : content.map(textOfPart);
  return texts.flatMap((text) => (text ? [text] : []));
}

/** The signature belongs to the last text part, and may come without any. */
function sign(parts: JsonObject[], signature: string | null): void {
  if (signature === null) return;
  const last = parts.findLastIndex((part) => part["text"] !== undefined);
  if (last < 0) parts.push({ text: "", thoughtSignature: signature });
  else parts[last] = { ...parts[last], thoughtSignature: signature };
}

/** Images that the model created, which it needs back to change them. */
function toImageParts(message: ChatAssistantMessage, { isGeneration3 }: ModelTraits): JsonObject[] {
  const images = asList(message.images);
  return images.flatMap((image) => {
    const url = asText(objectOrNull(objectOrNull(image)?.["image_url"])?.["url"]);
    if (url === null) return [];
    const thoughtSignature =
      readSignature(objectOrNull(image)?.["extra_content"]) ?? (isGeneration3 ? noSignature : null);
    return [present({ ...toMediaPart({ type: "image_url", image_url: { url } }, []), thoughtSignature })];
  });
}

function mayBeInResult(part: JsonObject): boolean {
  const type = objectOrNull(part["inlineData"])?.["mimeType"];
  return typeof type === "string" && typesInResults.has(type);
}
