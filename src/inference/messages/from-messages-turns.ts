// Translates the turns of a Messages request into messages of the chat format. Tool results become messages of their own that directly
// follow the assistant's message; content that a tool message cannot carry (images, files) follows after all of them.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatToolCall,
} from "../../contract/chat-format.ts";
import type { ContentBlock, KnownContentBlock, MessagesTurn } from "../../contract/messages.ts";
import type { Path, TranslationReport } from "../../providers/translation-report.ts";
import { ReturnedReasoning, type Translation, toMarkMember, toResultTexts, toTextPart } from "../translated-request.ts";

type BlockOf<Type extends KnownContentBlock["type"]> = Extract<KnownContentBlock, { type: Type }>;

interface Placed {
  readonly block: KnownContentBlock;
  readonly path: Path;
}

interface Turn {
  readonly role: MessagesTurn["role"];
  readonly blocks: readonly Placed[];
}

export function fromMessagesTurns(turns: readonly MessagesTurn[], { report, origin }: Translation): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const located = turns.map(locate);
  for (let start = 0; start < located.length; ) {
    const role = located[start]?.role;
    let end = start + 1;
    while (located[end]?.role === role) end++;
    const run = located.slice(start, end);
    if (role === "user") messages.push(...toUserMessages(run, report));
    else if (role === "assistant") messages.push(toAssistantMessage(run, report, origin));
    else for (const turn of run) messages.push({ role: "system", content: toContent(toParts(turn.blocks, report)) });
    start = end;
  }
  return messages;
}

export function toContent(parts: readonly ChatPart[]): ChatContent {
  const [only] = parts;
  // Many providers accept only a string where the content is only text.
  if (only === undefined) return "";
  if (parts.length === 1 && only.type === "text" && only.cache_control === undefined) return only.text;
  return parts;
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
  const spoken: ChatMessage[] = [];
  for (const { blocks } of run) {
    for (const { block, path } of blocks) {
      if (block.type === "tool_result") results.push(toToolMessage(block, { path, lifted, report }));
    }
  }
  for (const { blocks } of run) {
    const parts = toParts(
      blocks.filter(({ block }) => block.type !== "tool_result"),
      report,
    );
    if (parts.length > 0) spoken.push({ role: "user", content: toContent(parts) });
  }
  if (lifted.length > 0) results.push({ role: "user", content: lifted });
  if (results.length === 0 && spoken.length === 0) return [{ role: "user", content: "" }];
  return [...results, ...spoken];
}

interface ResultContext {
  readonly path: Path;
  /** Collects the content that follows the results. */
  readonly lifted: ChatPart[];
  readonly report: TranslationReport;
}

function toToolMessage(result: BlockOf<"tool_result">, { path, lifted, report }: ResultContext): ChatMessage {
  const { tool_use_id: id, content, is_error: isError, cache_control: mark } = result;
  const blocks: readonly ContentBlock[] =
    typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly ContentBlock[]);
  const parts = blocks.flatMap((block, position) => toResultParts(block, [...path, "content", position], report));
  const text = toResultTexts(parts, id, lifted).join("\n\n");
  const shown = isError === true ? toErrorText(text) : text;
  return { role: "tool", tool_call_id: id, content: mark ? [toTextPart(shown, result)] : shown };
}

function toErrorText(text: string): string {
  return text === "" ? "The tool call failed without a message." : `The tool call failed:\n${text}`;
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

function toParts(blocks: readonly Placed[], report: TranslationReport): ChatPart[] {
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

type ImageSource =
  | { readonly type: "base64"; readonly media_type: string; readonly data: string }
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "file"; readonly file_id: string };

function toImageParts(block: BlockOf<"image">, path: Path, report: TranslationReport): ChatPart[] {
  const source = block.source as ImageSource;
  const mark = toMarkMember(block);
  switch (source.type) {
    case "base64": {
      const url = `data:${source.media_type};base64,${source.data.trim()}`;
      return [{ type: "image_url", image_url: { url }, ...mark }];
    }
    case "url":
      return [{ type: "image_url", image_url: { url: source.url }, ...mark }];
    case "file":
      return [{ type: "file", file: { file_id: source.file_id }, ...mark }];
    default:
      report.unsupported([...path, "source"], "A source of this type cannot be sent to this provider");
      return [];
  }
}

type DocumentSource =
  | ImageSource
  | { readonly type: "text"; readonly data: string }
  | { readonly type: "content"; readonly content: string | readonly ContentBlock[] };

function toDocumentParts(block: BlockOf<"document">, path: Path, report: TranslationReport): ChatPart[] {
  if (block.citations?.enabled === true) report.drop("messages.citations");
  const source = block.source as DocumentSource;
  const filename = block.title ?? "document.pdf";
  const mark = toMarkMember(block);
  const context = block.context ? [toTextPart(`About the document that follows: ${block.context}`)] : [];
  switch (source.type) {
    case "base64": {
      const data = `data:${source.media_type};base64,${source.data.trim()}`;
      return [...context, { type: "file", file: { file_data: data, filename }, ...mark }];
    }
    case "url":
      return [...context, { type: "file", file: { file_data: source.url, filename }, ...mark }];
    case "file":
      return [...context, { type: "file", file: { file_id: source.file_id }, ...mark }];
    case "text":
      return [toTextPart(`${documentOpening(block)}${source.data}${documentEnd}`, block)];
    case "content": {
      if (typeof source.content === "string")
        return [toTextPart(`${documentOpening(block)}${source.content}${documentEnd}`, block)];
      const inner = source.content.map((piece, position) => ({
        block: piece as KnownContentBlock,
        path: [...path, "source", "content", position],
      }));
      const opening = toTextPart(documentOpening(block).trimEnd());
      return [opening, ...toParts(inner, report), toTextPart(documentEnd.trimStart(), block)];
    }
    default:
      report.unsupported([...path, "source"], "A source of this type cannot be sent to this provider");
      return [];
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
function toAssistantMessage(
  run: readonly Turn[],
  report: TranslationReport,
  origin: string | null,
): ChatAssistantMessage {
  const parts: ChatPart[] = [];
  const calls: ChatToolCall[] = [];
  const reasoning = new ReturnedReasoning(origin);
  let lastWasText = false;
  for (const { block, path } of run.flatMap((turn) => turn.blocks)) {
    const isText = block.type === "text";
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
        report.invalid(path, `A block of type '${block.type}' cannot stand in an assistant's turn`);
        break;
      default:
        // Calls that another provider executed itself, and their results: mostly encrypted, so only that provider can read them.
        report.drop(`messages.${(block as ContentBlock).type}`);
    }
    lastWasText = isText;
  }
  return reasoning.toMessage(toContent(parts), calls);
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

function toToolCall(block: BlockOf<"tool_use">): ChatToolCall {
  const call = {
    id: block.id,
    type: "function",
    function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
  };
  const extra = block["extra_content"];
  if (typeof extra !== "object" || extra === null) return call;
  return { ...call, extra_content: extra as Readonly<Record<string, unknown>> };
}
