// Translates the turns of a Messages request into messages of the chat format. Tool results become messages of their own that directly
// follow the assistant's message; content that a tool message cannot carry (images, files) follows after all of them.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatImage,
  ChatMessage,
  ChatPart,
  ChatToolCall,
} from "../../contract/chat-format.ts";
import type { ContentBlock, KnownContentBlock, MessagesTurn } from "../../contract/messages.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { Path, TranslationReport } from "../../providers/translation-report.ts";
import { toExtraMember } from "../chat-answer.ts";
import { ReturnedReasoning, type Translation, toMarkMember, toResultTexts, toTextPart } from "../translated-request.ts";
import { readImageText } from "./image-text.ts";

type BlockOf<Type extends KnownContentBlock["type"]> = Extract<KnownContentBlock, { type: Type }>;

interface LocatedBlock {
  readonly block: KnownContentBlock;
  readonly path: Path;
}

interface Turn {
  readonly role: MessagesTurn["role"];
  readonly blocks: readonly LocatedBlock[];
}

export function fromMessagesTurns(turns: readonly MessagesTurn[], translation: Translation): ChatMessage[] {
  const { report } = translation;
  const messages: ChatMessage[] = [];
  const located = turns.map(locate);
  for (let start = 0; start < located.length; ) {
    const role = located[start]?.role;
    let end = start + 1;
    while (located[end]?.role === role) end++;
    const run = located.slice(start, end);
    if (role === "user") messages.push(...toUserMessages(run, report));
    else if (role === "assistant") messages.push(toAssistantMessage(run, translation));
    else for (const turn of run) messages.push({ role: "system", content: toContent(toParts(turn.blocks, report)) });
    start = end;
  }
  return messages;
}

export function toContent(parts: readonly ChatPart[]): ChatContent {
  const [first = { type: "text", text: "" }, ...others] = parts;
  // Many providers accept only a string where the content is only text.
  return others.length === 0 && first.type === "text" && first.cache_control === undefined ? first.text : parts;
}

function locate(turn: MessagesTurn, index: number): Turn {
  const path = ["messages", index, "content"];
  const content: readonly ContentBlock[] =
    typeof turn.content === "string" ? [{ type: "text", text: turn.content }] : turn.content;
  // The schema has checked the blocks of every known type; a `default` handles all other types.
  const blocks = content.map((block, position) => ({ block: block as KnownContentBlock, path: [...path, position] }));
  return { role: turn.role, blocks };
}

/** The tool results come first, because they have to follow the calls directly; then the content of each turn. */
function toUserMessages(run: readonly Turn[], report: TranslationReport): ChatMessage[] {
  const results: ChatMessage[] = [];
  const lifted: ChatPart[] = [];
  const contents: ChatPart[][] = [lifted];
  for (const { blocks } of run) {
    for (const { block, path } of blocks)
      if (block.type === "tool_result") results.push(toToolMessage(block, path, lifted, report));
    const others = blocks.filter(({ block }) => block.type !== "tool_result");
    contents.push(toParts(others, report));
  }
  const messages = contents
    .filter((parts) => parts.length > 0)
    .map((parts): ChatMessage => ({ role: "user", content: toContent(parts) }));
  return results.length + messages.length === 0 ? [{ role: "user", content: "" }] : [...results, ...messages];
}

/** Content that follows the results is added to `lifted`. */
function toToolMessage(
  result: BlockOf<"tool_result">,
  path: Path,
  lifted: ChatPart[],
  report: TranslationReport,
): ChatMessage {
  const { tool_use_id: id, content, is_error: isError, cache_control: mark } = result;
  const blocks: readonly ContentBlock[] =
    typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly ContentBlock[]);
  const parts = blocks.flatMap((block, position) => toResultParts(block, [...path, "content", position], report));
  const text = toResultTexts(parts, id, lifted).join("\n\n");
  const failure = text === "" ? "The tool call failed without a message." : `The tool call failed:\n${text}`;
  const shown = isError === true ? failure : text;
  return { role: "tool", tool_call_id: id, content: mark ? [toTextPart(shown, result)] : shown };
}

function toResultParts(block: ContentBlock, path: Path, report: TranslationReport): ChatPart[] {
  const known = block as KnownContentBlock;
  switch (known.type) {
    case "text":
    case "image":
    case "document":
    case "search_result":
      return toParts([{ block: known, path }], report);
    default:
      // A result type of another vendor: its members are still the answer of the tool.
      return [{ type: "text", text: JSON.stringify(block) }];
  }
}

function toParts(blocks: readonly LocatedBlock[], report: TranslationReport): ChatPart[] {
  return blocks.flatMap(({ block, path }): ChatPart[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [toTextPart(block.text, block)];
      case "image":
        return toImageParts(block, path, report);
      case "document":
        return toDocumentParts(block, path, report);
      case "search_result":
        return [toSearchResultPart(block, report)];
      default:
        report.unsupported(path, `A block of type '${block.type}' cannot be sent to this provider here`);
        return [];
    }
  });
}

type SourceOf<Type extends "image" | "document"> = Extract<
  BlockOf<Type>["source"],
  { type: "base64" | "url" | "file" | "text" | "content" }
>;

function toImageParts(block: BlockOf<"image">, path: Path, report: TranslationReport): ChatPart[] {
  const source = block.source as SourceOf<"image">;
  const mark = toMarkMember(block);
  switch (source.type) {
    case "base64":
    case "url":
      return [{ type: "image_url", image_url: { url: toUrl(source) }, ...mark }];
    case "file":
      return [{ type: "file", file: { file_id: source.file_id }, ...mark }];
    default:
      return refuseSource(path, report);
  }
}

function toUrl(source: Extract<SourceOf<"image">, { type: "base64" | "url" }>): string {
  return source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data.trim()}`;
}

function refuseSource(path: Path, report: TranslationReport): [] {
  report.unsupported([...path, "source"], "A source of this type cannot be sent to this provider");
  return [];
}

function toDocumentParts(block: BlockOf<"document">, path: Path, report: TranslationReport): ChatPart[] {
  if (block.citations?.enabled === true) report.drop("messages.citations");
  const source = block.source as SourceOf<"document">;
  const filename = block.title ?? "document.pdf";
  const mark = toMarkMember(block);
  const context = block.context ? [toTextPart(`About the document that follows: ${block.context}`)] : [];
  const toTaggedText = (text: string) => [toTextPart(`${documentOpening(block)}${text}${documentEnd}`, block)];
  switch (source.type) {
    case "base64":
    case "url":
      return [...context, { type: "file", file: { file_data: toUrl(source), filename }, ...mark }];
    case "file":
      return [...context, { type: "file", file: { file_id: source.file_id }, ...mark }];
    case "text":
      return toTaggedText(source.data);
    case "content": {
      if (typeof source.content === "string") return toTaggedText(source.content);
      const inner = source.content.map((piece, position) => ({
        block: piece as KnownContentBlock,
        path: [...path, "source", "content", position],
      }));
      const opening = toTextPart(documentOpening(block).trimEnd());
      return [opening, ...toParts(inner, report), toTextPart(documentEnd.trimStart(), block)];
    }
    default:
      return refuseSource(path, report);
  }
}

const documentEnd = "\n</document>";

function documentOpening({ title, context }: BlockOf<"document">): string {
  const lines = ["<document>"];
  if (title) lines.push(`<title>${title}</title>`);
  if (context) lines.push(`<context>${context}</context>`);
  return `${lines.join("\n")}\n`;
}

function toSearchResultPart(block: BlockOf<"search_result">, report: TranslationReport): ChatPart {
  if (block.citations?.enabled === true) report.drop("messages.citations");
  const text = block.content.map((piece) => piece.text).join("\n\n");
  const lines = [
    "<search_result>",
    `<title>${block.title}</title>`,
    `<source>${block.source}</source>`,
    text,
    "</search_result>",
  ];
  return toTextPart(lines.join("\n"), block);
}

/** Joins consecutive turns into one message: a tool call has to be in the message before its result. */
function toAssistantMessage(run: readonly Turn[], translation: Translation): ChatAssistantMessage {
  const { report, origin } = translation;
  const parts: ChatPart[] = [];
  const images: ChatImage[] = [];
  const calls: ChatToolCall[] = [];
  const reasoning = new ReturnedReasoning(origin);
  let lastWasText = false;
  for (const { block, path } of run.flatMap((turn) => turn.blocks)) {
    const image = block.type === "text" ? readImageText(block.text) : null;
    if (image !== null) {
      addImage(image, block, { images, translation });
      lastWasText = false;
      continue;
    }
    switch (block.type) {
      case "text":
        if (block.text !== "") appendText(parts, toTextPart(block.text, block), lastWasText);
        break;
      case "tool_use":
        calls.push(toToolCall(block));
        break;
      case "thinking":
        addThinking(block, reasoning, origin);
        break;
      case "redacted_thinking":
        if (reasoning.addState(block.data) === "unknown" && origin === null)
          reasoning.addDetail({ type: "reasoning.encrypted", data: block.data });
        break;
      case "image":
      case "document":
      case "search_result":
      case "tool_result":
        report.invalid(path, `An assistant's turn cannot contain a block of type '${block.type}'`);
        break;
      default:
        // Calls that another provider executed itself, and their results: mostly encrypted, so only that provider can read them.
        report.drop(`messages.${(block as ContentBlock).type}`);
    }
    lastWasText = block.type === "text";
  }
  return reasoning.toMessage(toContent(parts), calls, images);
}

/** An image that a model generated in an earlier turn. */
function addImage(
  url: string,
  block: ContentBlock,
  { images, translation }: { readonly images: ChatImage[]; readonly translation: Translation },
): void {
  if (translation.acceptsImages)
    images.push({ type: "image_url", image_url: { url }, ...toExtraMember(block["extra_content"]) });
  else translation.report.drop("messages.generated_image");
}

function addThinking(block: BlockOf<"thinking">, reasoning: ReturnedReasoning, origin: string | null): void {
  const { thinking, signature } = block;
  reasoning.addText(thinking);
  const state = signature ? reasoning.addState(signature) : "foreign";
  // For a provider of another dialect, the text alone is still reasoning. A signature that the gateway did not write stays unchanged.
  if (state !== "added" && origin === null)
    reasoning.addDetail({
      type: "reasoning.text",
      text: thinking,
      ...(state === "unknown" && signature && { signature }),
    });
}

/**
 * Adjacent blocks of an answer are one text that was split where its citations change; blocks with a call between them are paragraphs. A
 * cache mark ends a part.
 */
function appendText(parts: ChatPart[], part: ChatPart, isAdjacent: boolean): void {
  const last = parts.at(-1);
  if (part.type !== "text" || last?.type !== "text") {
    parts.push(part);
    return;
  }
  const text = `${isAdjacent ? "" : "\n\n"}${part.text}`;
  if (last.cache_control === undefined) parts[parts.length - 1] = { ...part, text: `${last.text}${text}` };
  else parts.push({ ...part, text });
}

function toToolCall({ id, name, input, extra_content: extra }: BlockOf<"tool_use">): ChatToolCall {
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } };
  return isObject(extra) ? { ...call, extra_content: extra } : call;
}
