// Translation for providers of another dialect: the request is translated into their format, and the answer back into the chat format.

import { gatewayMemberNames } from "../contract/chat-completions.ts";
import type { ChatCompletion, ChatMessage, ChatPart, ChatRequest } from "../contract/chat-format.ts";
import { GatewayError } from "../errors.ts";
import { toHeaderLines } from "../providers/authorize-request.ts";
import { findChatRules } from "../providers/chat-rules.ts";
import type { Provider } from "../providers/configure.ts";
import { type ChatDialect, ErrorInAnswer, type Reading } from "../providers/dialect.ts";
import { imageDetailMember, imageDetailOf } from "../providers/dialects/media.ts";
import { createResponsesChat } from "../providers/dialects/responses/index.ts";
import { createFraming } from "../providers/framing/create-framing.ts";
import { findDropped, refuseDropped, ruleOf } from "../providers/parameters.ts";
import { findModelFacts } from "../providers/provider.ts";
import { toFailureInAnswer } from "../providers/refusal.ts";
import { toSummedUsage } from "../usage/tokens.ts";
import type { Accounting } from "./attempt.ts";
import type { ChatAdapter, WholeAnswer } from "./chat-adapter.ts";
import { TranslatedSource } from "./chunk-source.ts";
import type { Charge } from "./pricing.ts";
import { badAnswer, fillModel, readObject } from "./provider-answer.ts";
import type { Candidate } from "./route-planner.ts";
import { CheckedSource, checkStructuredAnswer, findUnchecked } from "./structured-answer.ts";

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);

export function translateChat(
  plain: ChatRequest,
  candidate: Candidate,
  dialect: ChatDialect,
  checksStructure: boolean,
): ChatAdapter {
  const { provider, model } = candidate;
  const byTable = findDropped(plain, dialect.parameters, ourMembers);
  if (plain.messages.some(hasName)) byTable.push("messages.name");
  if (!dialect.readsImageDetail && plain.messages.some(hasImageDetail)) byTable.push(imageDetailMember);
  const calls = ruleOf(dialect.parameters, "n") === "parallel" ? (plain.n ?? 1) : 1;
  const request = withoutOurs(calls === 1 ? plain : { ...plain, n: null });
  const facts = findModelFacts(provider.row, model);
  refuseUnknownFiles(request, dialect, provider.name);
  const isStream = plain.stream === true;
  const acceptsFrames = isStream && dialect.framing === "aws-event-stream";
  const acceptLine = acceptsFrames ? "accept: application/vnd.amazon.eventstream\r\n" : "";
  const translated = dialect.toRequest(request, { model, facts, isStream });
  const { reading } = translated;
  const isChecked = reading.answerTool !== null && checksStructure;
  const dropped = [...byTable, ...(translated.dropped ?? []), ...(isChecked ? findUnchecked(plain) : [])];
  if (plain["strict_parameters"] === true) refuseDropped(dropped);
  return {
    path: translated.path,
    body: translated.body,
    headerLines: `${acceptLine}${toHeaderLines(translated.headers)}`,
    dropped,
    calls,
    readWhole: (text, accounting) => readWhole(text, { plain, provider, dialect, reading, isChecked }, accounting),
    createSource(contentType) {
      const framing = createFraming(contentType, dialect.framing);
      const source = new TranslatedSource(provider, framing, dialect.createStreamReader(reading));
      return isChecked ? new CheckedSource(source, plain, provider) : source;
    },
  };
}

/** The name of a participant, which no other dialect has. In a result, it is the name of the function, which the id of the call implies. */
function hasName(message: ChatMessage): boolean {
  const { role, name } = message as { readonly role: string; readonly name?: unknown };
  return Boolean(name) && role !== "tool" && role !== "function";
}

function hasImageDetail({ content }: ChatMessage): boolean {
  return Array.isArray(content) && content.some((part: ChatPart) => imageDetailOf(part) !== null);
}

const maxShownIdLength = 64;

/** Uploads have been replaced by their bytes, so a remaining id is the vendor's own, or unknown. */
function refuseUnknownFiles({ messages }: ChatRequest, { knowsFile }: ChatDialect, providerName: string): void {
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content as readonly ChatPart[]) {
      if (part.type !== "file") continue;
      const { file_id: id, file_data: data } = part.file;
      if (!id || data || knowsFile?.(id) === true) continue;
      const shown = id.slice(0, maxShownIdLength);
      throw new GatewayError(
        "file_not_found",
        `The file '${shown}' is neither an upload of this owner nor a file of the provider '${providerName}'. Upload it with POST /v3/upload, or send its data.`,
        { param: "file_id" },
      );
    }
  }
}

/** For a provider of the chat format whose chat endpoint rejects this request and whose Responses API accepts it. */
export function translateToResponses(request: ChatRequest, candidate: Candidate): ChatAdapter {
  const { provider, deployment, model } = candidate;
  const { efforts } = findChatRules(provider.row, model);
  const dialect = createResponsesChat({ reasons: efforts?.length !== 0 });
  return { ...translateChat(request, candidate, dialect, false), path: fillModel(deployment.responsesPath, model) };
}

/** Members of the gateway are not sent to providers. */
function withoutOurs(request: ChatRequest): ChatRequest {
  if (!Object.keys(request).some((name) => ourMembers.has(name))) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !ourMembers.has(name))) as ChatRequest;
}

interface ReadingContext {
  readonly plain: ChatRequest;
  readonly provider: Provider;
  readonly dialect: ChatDialect;
  readonly reading: Reading;
  readonly isChecked: boolean;
}

function readWhole(text: string, context: ReadingContext, accounting: Accounting): WholeAnswer {
  const completion = readCompletion(text, context);
  const usage = completion.usage ?? null;
  const charge = accounting.quote.chargeFor(usage, completion);
  if (context.isChecked) checkAnswer(completion, { usage, charge }, context, accounting);
  const added = accounting.toMembers(charge);
  const value = { ...completion, ...added };
  return { value, text: JSON.stringify(value), charge, added };
}

function readCompletion(text: string, context: ReadingContext): ChatCompletion {
  const { provider, dialect, reading } = context;
  const answer = readObject(text, provider);
  // Some vendors answer in the chat format at the address of another dialect.
  if (!dialect.readsChatFormat && answer["object"] === "chat.completion" && Array.isArray(answer["choices"]))
    return { ...answer, usage: toSummedUsage(answer["usage"]) } as ChatCompletion;
  try {
    return dialect.fromAnswer(answer, reading);
  } catch (error) {
    if (error instanceof ErrorInAnswer) throw toFailureInAnswer(provider, error);
    throw badAnswer(provider, "did not answer with a completion", error);
  }
}

/** The provider also bills an answer that is not of the requested structure. */
function checkAnswer(
  { choices }: ChatCompletion,
  { usage, charge }: { readonly usage: unknown; readonly charge: Charge },
  { plain, provider }: ReadingContext,
  accounting: Accounting,
): void {
  try {
    for (const { message, finish_reason } of choices)
      if (finish_reason === "stop") checkStructuredAnswer(message.content ?? "", plain, provider);
  } catch (error) {
    accounting.spend(usage, charge);
    throw error;
  }
}
