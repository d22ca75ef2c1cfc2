// Translates the items of a Responses conversation into messages of the chat format. The reasoning, text and calls of one turn are one
// message; the results of calls directly follow the message with the calls.

import type { ChatContent, ChatImage, ChatMessage, ChatPart, ChatToolCall } from "../../contract/chat-format.ts";
import type { Item, KnownItems, KnownParts, Part } from "../../contract/responses.ts";
import type { Path, TranslationReport } from "../../providers/translation-report.ts";
import { toExtraMember } from "../chat-answer.ts";
import { ReturnedReasoning, type Translation, toMarkMember, toResultTexts, toTextPart } from "../translated-request.ts";
import { responseIdOf } from "./to-response.ts";
import { toFlatName } from "./tool-names.ts";

/** Items or parts whose type the schema knows and has checked. A `default` handles all other types. */
type Known<Table> = { readonly [Type in keyof Table]: Table[Type] & { readonly type: Type } }[keyof Table];

interface AssistantTurn {
  readonly texts: string[];
  readonly images: ChatImage[];
  readonly calls: ChatToolCall[];
  readonly reasoning: ReturnedReasoning;
}

// Calls that another provider executed itself, with their results: only that provider can read them, and its text is complete without them.
const serverItems: ReadonlySet<string> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "mcp_list_tools",
  "mcp_call",
]);

const imageFormat = /^[a-z0-9.+-]+$/;

export class Conversation {
  readonly #report: TranslationReport;
  /** Each message with the results of its calls. */
  readonly #messages: [ChatMessage, ...ChatMessage[]][] = [];
  /** By the id of a call: the message that holds the call, with its results. A search for each result would be quadratic. */
  readonly #callers = new Map<string, ChatMessage[]>();
  #turn: AssistantTurn | null = null;
  /** Content that a tool message cannot carry: it follows the results. */
  #lifted: ChatPart[] = [];
  readonly #origin: string | null;
  readonly #acceptsImages: boolean;

  constructor({ report, origin, acceptsImages }: Translation) {
    this.#report = report;
    this.#origin = origin;
    this.#acceptsImages = acceptsImages;
  }

  /** `path` is the location of the item in error messages. */
  add(item: Item, path: Path): void {
    const type = item.type ?? "message";
    const known = { ...item, type } as unknown as Known<KnownItems>;
    switch (known.type) {
      case "message":
        this.#addMessage(known, path);
        break;
      case "function_call":
        this.#addCall(known.call_id, toFlatName(known), known.arguments);
        break;
      case "custom_tool_call":
        this.#addCall(known.call_id, known.name, JSON.stringify({ input: known.input }));
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.#addResult(known, path);
        break;
      case "reasoning":
        this.#addReasoning(known);
        break;
      case "item_reference":
        this.#report.unsupported(
          path,
          "This provider stores no items: send the item itself, which clients do with `store: false`, or ask the operator for `responses.store_for_all`",
        );
        break;
      default:
        if (type === "image_generation_call") this.#addImage(item);
        else if (!serverItems.has(type))
          this.#report.unsupported([...path, "type"], `An item of type '${type}' cannot be sent to this provider`);
        // A search that the gateway itself reported can be left out: the reasoning item next to it carries its state.
        else if (responseIdOf(item["id"]) === null) this.#report.drop(`input.${type}`);
    }
  }

  addSystem(content: ChatContent): void {
    this.#endTurn();
    const last = this.#messages.at(-1)?.[0];
    // Many models accept only one system message, at the beginning.
    const isLeading = this.#messages.length === 1 && last?.role === "system";
    if (isLeading && typeof last.content === "string" && typeof content === "string")
      this.#messages[0] = [{ role: "system", content: `${last.content}\n\n${content}` }];
    else this.#messages.push([{ role: "system", content }]);
  }

  finish(): readonly ChatMessage[] {
    this.#endTurn();
    return this.#messages.flat();
  }

  #addMessage({ role, content }: KnownItems["message"], path: Path): void {
    if (role === "assistant") {
      const text = toAssistantText(content, path, this.#report);
      if (text !== "") this.#openTurn().texts.push(text);
      return;
    }
    const chatContent = toContent(toParts(content, [...path, "content"], this.#report));
    // `developer` is a newer name of `system`, which some providers of the chat format do not know.
    if (role !== "user") {
      this.addSystem(chatContent);
      return;
    }
    this.#endTurn();
    this.#messages.push([{ role, content: chatContent }]);
  }

  #addCall(id: string, name: string, args: string): void {
    this.#openTurn().calls.push({ id, type: "function", function: { name, arguments: args } });
  }

  /** The model cannot change its picture without it. */
  #addImage({ result, output_format: format, extra_content: extra }: Item): void {
    if (!this.#acceptsImages || typeof result !== "string" || result === "") {
      this.#report.drop("input.image_generation_call");
      return;
    }
    const mediaType = `image/${typeof format === "string" && imageFormat.test(format) ? format : "png"}`;
    const url = `data:${mediaType};base64,${result}`;
    this.#openTurn().images.push({ type: "image_url", image_url: { url }, ...toExtraMember(extra) });
  }

  #addReasoning({ summary, content, encrypted_content: encrypted }: KnownItems["reasoning"]): void {
    const { reasoning } = this.#openTurn();
    for (const { text } of content?.length ? content : (summary ?? []))
      if (typeof text === "string") reasoning.addText(text);
    if (encrypted && reasoning.addState(encrypted) !== "added") this.#report.drop("input.encrypted_content");
  }

  #addResult({ call_id: id, output }: KnownItems["function_call_output"], path: Path): void {
    this.#closeTurn();
    const caller = this.#callers.get(id);
    if (caller === undefined) {
      this.#report.invalid([...path, "call_id"], `There is no call '${id}' before this result`);
      return;
    }
    const parts = toParts(output, [...path, "output"], this.#report);
    caller.push({ role: "tool", tool_call_id: id, content: toResultTexts(parts, id, this.#lifted).join("\n\n") });
  }

  #openTurn(): AssistantTurn {
    if (this.#turn !== null) return this.#turn;
    this.#addLifted();
    this.#turn = { texts: [], images: [], calls: [], reasoning: new ReturnedReasoning(this.#origin) };
    return this.#turn;
  }

  #endTurn(): void {
    this.#closeTurn();
    this.#addLifted();
  }

  #closeTurn(): void {
    if (this.#turn === null) return;
    const { texts, images, calls, reasoning } = this.#turn;
    this.#turn = null;
    // Reasoning without content cannot be continued, unless the provider expects its own blocks again.
    if (texts.length + images.length + calls.length === 0 && !reasoning.hasMessageState) return;
    const withResults: [ChatMessage] = [reasoning.toMessage(texts.join("\n\n"), calls, images)];
    this.#messages.push(withResults);
    for (const { id } of calls) if (id) this.#callers.set(id, withResults);
  }

  #addLifted(): void {
    if (this.#lifted.length === 0) return;
    this.#messages.push([{ role: "user", content: this.#lifted }]);
    this.#lifted = [];
  }
}

/** Joins the parts of an answer into one text, including the text of a refusal. */
function toAssistantText(content: string | readonly Part[], path: Path, report: TranslationReport): string {
  if (typeof content === "string") return content;
  const texts = content.map((part, index) => {
    const known = part as Known<KnownParts>;
    switch (known.type) {
      case "output_text":
      case "input_text":
      case "text":
        return known.text;
      case "refusal":
        return known.refusal;
      default:
        report.unsupported(
          [...path, "content", index, "type"],
          `An assistant's message cannot contain a part of type '${part.type}'`,
        );
        return "";
    }
  });
  return texts.join("");
}

/** Only text becomes a string, because some providers accept nothing else; a part with a cache mark stays separate. */
function toContent(parts: readonly ChatPart[]): ChatContent {
  const texts = parts.flatMap((part) => (part.type === "text" && part.cache_control === undefined ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n\n") : parts;
}

function toParts(content: string | readonly Part[], path: Path, report: TranslationReport): ChatPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((part, index) => toPart(part, [...path, index], report));
}

function toPart(part: Part, path: Path, report: TranslationReport): ChatPart[] {
  const known = part as Known<KnownParts>;
  switch (known.type) {
    case "input_text":
    case "output_text":
    case "text":
      return known.text === "" ? [] : [toTextPart(known.text, known)];
    case "refusal":
      return [{ type: "text", text: known.refusal }];
    case "input_image":
      return toImagePart(known, path, report);
    case "input_file":
      return toFilePart(known, path, report);
    case "input_audio": {
      const { data, format } = known.input_audio;
      return [{ type: "input_audio", input_audio: { data, format } }];
    }
    default:
      report.unsupported([...path, "type"], `A part of type '${part.type}' cannot be sent to this provider`);
      return [];
  }
}

function toImagePart(part: KnownParts["input_image"], path: Path, report: TranslationReport): ChatPart[] {
  const { image_url: url, detail, file_id: id } = part;
  if (url) return [{ type: "image_url", image_url: { url, ...(detail && { detail }) }, ...toMarkMember(part) }];
  if (id) return [toNamedFile(id, part)];
  report.invalid(path, "An image should have an 'image_url' or a 'file_id'");
  return [];
}

const defaultFilename = "document.pdf";

function toFilePart(part: KnownParts["input_file"], path: Path, report: TranslationReport): ChatPart[] {
  const { file_data: data, file_url: url, file_id: id } = part;
  const content = data || url;
  if (content) {
    const filename = part.filename || (url && URL.parse(url)?.pathname.split("/").at(-1)) || defaultFilename;
    return [{ type: "file", file: { file_data: content, filename }, ...toMarkMember(part) }];
  }
  if (id) return [toNamedFile(id, part)];
  report.invalid(path, "A file should have 'file_data', a 'file_url' or a 'file_id'");
  return [];
}

/** Uploads have been replaced by their bytes: this id belongs to the provider, or is unknown and refused later. */
function toNamedFile(id: string, part: { readonly cache_control?: unknown }): ChatPart {
  return { type: "file", file: { file_id: id }, ...toMarkMember(part) };
}
