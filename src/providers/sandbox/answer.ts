// Composes the answer of the sandbox: the reasoning, text, refusal or tool calls of each choice, truncated by `stop` and by the token limit,
// and the usage. completion.ts formats it.

import { BudgetSpent, SchemaProblem, type WorkBudget } from "../../lib/json-schema/schema.ts";
import type { Voice } from "./models.ts";
import { SandboxRefusal } from "./refusal.ts";
import { type ChatRequest, countParts, type Message, textOf } from "./request.ts";
import { makeExample } from "./schema-example.ts";
import { countTokens, splitTokens } from "./tokens.ts";

export interface Answer {
  readonly choices: readonly Choice[];
  readonly usage: Usage;
}

/** Text as tokens, so that it can be truncated, counted and streamed. */
export interface Choice {
  readonly index: number;
  readonly reasoning: readonly string[];
  readonly content: readonly string[] | null;
  readonly refusal: readonly string[] | null;
  readonly calls: readonly ToolCall[];
  /** The calls answer `functions`, the older spelling of `tools`. */
  readonly isLegacyCall: boolean;
  readonly finishReason: "stop" | "length" | "tool_calls" | "function_call";
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: readonly string[];
}

export type Usage = ReturnType<typeof countUsage>;

const attachmentNames = [
  ["image_url", "image"],
  ["input_audio", "audio clip"],
  ["file", "file"],
] as const;

const chatText =
  "Hello from the sandbox. Every answer of this model is the same text, made without any network or model behind it. " +
  "Use it to try streaming, to build a page, or to test a client. When you are ready, name a real model instead.";

export interface Question {
  readonly request: ChatRequest;
  readonly voice: Voice;
  readonly requestHash: string;
}

/** Throws `BudgetSpent` when the schemas of the request need more work than `budget` has. */
export function composeAnswer(question: Question, budget: WorkBudget): Answer {
  const { request } = question;
  const choices = Array.from({ length: request.n ?? 1 }, (_, index) =>
    cutChoice(composeChoice(question, budget, index), request),
  );
  return { choices, usage: countUsage(request, choices) };
}

function composeChoice({ request, voice, requestHash }: Question, budget: WorkBudget, index: number): Choice {
  const callIdStem = `${requestHash.slice(0, 20)}${index}`;
  const empty = { index, reasoning: [], content: null, refusal: null, calls: [], isLegacyCall: false } as const;
  if (voice.kind === "refusal")
    return { ...empty, refusal: splitTokens("I cannot help with that."), finishReason: "stop" };

  const reasoning = voice.kind === "reasoning" && request.reasoning_effort !== "none" ? writeReasoning(request) : [];
  const { functions, isLegacyCall } = functionsToCall(request);
  if (functions.length > 0) {
    const param = isLegacyCall ? "functions" : "tools";
    const calls = functions.map(({ name, parameters }, position) => {
      // Arguments are an object, even if the schema does not say so.
      const example = writeExample({ type: "object", ...parameters }, param, budget);
      return { id: `call_${callIdStem}${position}`, name, arguments: splitTokens(example) };
    });
    return { ...empty, reasoning, calls, isLegacyCall, finishReason: isLegacyCall ? "function_call" : "tool_calls" };
  }

  if (voice.kind === "count") {
    const content = Array.from({ length: voice.tokens }, (_, at) => (at === 0 ? "1" : ` ${at + 1}`));
    return { ...empty, content, finishReason: "stop" };
  }
  const content = splitTokens(composeText(request, voice, index, budget));
  return { ...empty, reasoning, content, finishReason: "stop" };
}

function composeText(request: ChatRequest, voice: Voice, index: number, budget: WorkBudget): string {
  const format = request.response_format;
  if (format?.type === "json_schema")
    return writeExample(format.json_schema.schema ?? { type: "object" }, "response_format", budget);

  // The choices differ, so that tests notice a client that mixes them up.
  const ending = index === 0 ? "" : ` (choice ${index + 1})`;
  const text = hasToolResult(request) ? quoteToolResults(request) : writeText(request, voice);
  return format?.type === "json_object" ? JSON.stringify({ answer: text + ending }) : text + ending;
}

function writeText(request: ChatRequest, voice: Voice): string {
  if (voice.kind === "chat") return chatText;
  return voice.kind === "transcript" ? repeatAll(request) : repeatLast(request);
}

/** Repeats the whole conversation, so that tests can verify that it was stored. */
function repeatAll({ messages }: ChatRequest): string {
  return shorten(messages.map((message) => `${message.role}: ${textOf(message)}`).join("\n"));
}

function repeatLast(request: ChatRequest): string {
  const text = lastUserText(request);
  const repeated = text === "" ? "You sent no text." : `You said: ${shorten(text)}`;
  const last = request.messages.findLast(({ role }) => role === "user");
  const attachments = last === undefined ? "" : describeAttachments(last);
  return attachments === "" ? repeated : `${repeated} (I saw ${attachments}.)`;
}

function describeAttachments(message: Message): string {
  const counted = attachmentNames.map(([type, name]) => [countParts(message, type), name] as const);
  const named = counted
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}${count > 1 ? "s" : ""}`);
  return named.length === 0 ? "" : new Intl.ListFormat("en").format(named);
}

function hasToolResult({ messages }: ChatRequest): boolean {
  const role = messages.at(-1)?.role;
  return role === "tool" || role === "function";
}

function quoteToolResults({ messages }: ChatRequest): string {
  const firstResult = messages.findLastIndex(({ role }) => role !== "tool" && role !== "function") + 1;
  const called = messages.flatMap((message) => message.tool_calls ?? []);
  const quotes = messages.slice(firstResult).map((result) => {
    const call = called.findLast(({ id }) => id === result.tool_call_id);
    const name = result.name ?? call?.function?.name ?? "The tool";
    return `${name} answered: ${shorten(textOf(result))}`;
  });
  return quotes.join("\n");
}

function writeReasoning(request: ChatRequest): readonly string[] {
  const subject = hasToolResult(request)
    ? "A tool has answered."
    : `The user has written: ${shorten(lastUserText(request))}`;
  return splitTokens(`${subject}\nMessages so far: ${request.messages.length}. A short answer will do.`);
}

/** Tool names are searched only in the first part of the last message. */
const maxSearchedCharacters = 100_000;

function functionsToCall(request: ChatRequest) {
  const isLegacyCall = !request.tools?.length && !!request.functions?.length;
  const none = { functions: [], isLegacyCall };
  if (hasToolResult(request)) return none;

  const choice = isLegacyCall ? request.function_call : request.tool_choice;
  if (choice === "none") return none;
  const offered = isLegacyCall ? (request.functions ?? []) : (request.tools ?? []).map((tool) => tool.function);
  const allowed = allowedNames(choice);
  const functions = allowed === null ? offered : offered.filter(({ name }) => allowed.has(name));
  if (allowed !== null && functions.length < allowed.size) {
    const param = isLegacyCall ? "function_call" : "tool_choice";
    throw new SandboxRefusal(400, `'${param}' names a function that is not offered.`, { param });
  }

  const searched = lastUserText(request).slice(0, maxSearchedCharacters);
  const words = new Set(searched.match(/[\w-]+/g));
  // For `get_weather`, users write "weather".
  const mentioned = functions.filter(({ name }) => words.has(name) || words.has(name.split(/[_-]/).at(-1) ?? ""));
  const wanted = mentioned.length > 0 ? mentioned : functions.slice(0, 1);
  const mayBeParallel = !isLegacyCall && request.parallel_tool_calls !== false;
  return { functions: mayBeParallel ? wanted : wanted.slice(0, 1), isLegacyCall };
}

/** Null: all functions. */
function allowedNames(choice: ChatRequest["tool_choice"] | ChatRequest["function_call"]): Set<string> | null {
  if (choice == null || typeof choice === "string") return null;
  if ("name" in choice) return new Set([choice.name]);
  if ("function" in choice) return new Set([choice.function.name]);
  return new Set(choice.allowed_tools.tools.map((tool) => tool.function.name));
}

function lastUserText({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : textOf(last);
}

function writeExample(schema: unknown, param: string, budget: WorkBudget): string {
  try {
    return JSON.stringify(makeExample(schema, budget));
  } catch (error) {
    if (!(error instanceof SchemaProblem) || error instanceof BudgetSpent) throw error;
    throw invalidSchema(`Invalid schema in '${param}': ${error.message}.`, param);
  }
}

export function invalidSchema(message: string, param?: string): SandboxRefusal {
  return new SandboxRefusal(400, message, { ...(param !== undefined && { param }), code: "invalid_schema" });
}

function cutChoice(choice: Choice, request: ChatRequest): Choice {
  const stops = typeof request.stop === "string" ? [request.stop] : (request.stop ?? []);
  const content = choice.content === null ? null : cutAtStop(choice.content, stops);

  let left = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY;
  let isCut = false;
  const spend = (tokens: readonly string[]): readonly string[] => {
    const fitting = tokens.length <= left ? tokens : tokens.slice(0, left);
    isCut ||= fitting.length < tokens.length;
    left -= fitting.length;
    return fitting;
  };
  const reasoning = spend(choice.reasoning);
  const cut = { content: content && spend(content), refusal: choice.refusal && spend(choice.refusal) };
  const calls: ToolCall[] = [];
  for (const call of choice.calls) {
    // The name is a token, too; if the limit has no room for it, the call is omitted.
    if (spend([call.name]).length === 0) break;
    calls.push({ ...call, arguments: spend(call.arguments) });
  }
  return { ...choice, ...cut, reasoning, calls, finishReason: isCut ? "length" : choice.finishReason };
}

function cutAtStop(tokens: readonly string[], stops: readonly string[]): readonly string[] {
  if (stops.length === 0) return tokens;
  const text = tokens.join("");
  const positions = stops.filter((stop) => stop !== "").map((stop) => text.indexOf(stop));
  const end = Math.min(...positions.filter((position) => position >= 0));
  return end === Number.POSITIVE_INFINITY ? tokens : splitTokens(text.slice(0, end));
}

const tokensPerImage = 85;
const tokensPerAudio = 50;
const tokensPerFile = 200;

function countUsage(request: ChatRequest, choices: readonly Choice[]) {
  const perMessage = request.messages.map((message) => ({
    audio: tokensPerAudio * countParts(message, "input_audio"),
    other:
      countTokens(textOf(message)) +
      countTokens(message.reasoning_content ?? "") +
      tokensPerImage * countParts(message, "image_url") +
      tokensPerFile * countParts(message, "file"),
  }));
  const audio = sum(perMessage.map((counted) => counted.audio));
  const offered = request.tools ?? request.functions;
  const offeredTokens = offered?.length ? countTokens(JSON.stringify(offered)) : 0;
  const prompt = sum(perMessage.map((counted) => counted.other)) + audio + offeredTokens;
  // Messages of an earlier request count as cached, so that cached prices can be tested. With a cache key, all but the last message do.
  const lastAnswer = request.messages.findLastIndex(({ role }) => role === "assistant");
  const cachedMessages = perMessage.slice(0, request.prompt_cache_key ? -1 : Math.max(0, lastAnswer));
  const cached = sum(cachedMessages.map(({ other }) => other));

  const reasoning = sum(choices.map((choice) => choice.reasoning.length));
  const text = sum(choices.map(({ content, refusal }) => (content ?? refusal ?? []).length));
  const calls = sum(choices.flatMap((choice) => choice.calls.map((call) => 1 + call.arguments.length)));
  const completion = reasoning + text + calls;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: audio },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

const maxQuotedCharacters = 1_000;

function shorten(text: string): string {
  if (text.length <= maxQuotedCharacters) return text;
  // Whole characters, because UTF-8 cannot encode half of a surrogate pair.
  return `${[...text.slice(0, 2 * maxQuotedCharacters)].slice(0, maxQuotedCharacters).join("")}…`;
}
