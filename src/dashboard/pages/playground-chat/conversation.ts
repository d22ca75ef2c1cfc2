// A conversation with one to four models: what was asked, what each model answered, and the requests that follow from it.

import type { ChatMessage, ChatPart, ChatToolCall } from "../../../contract/chat-format.ts";
import { type Attachment, toChatPart } from "../../playground/attachment.ts";
import { initialSettings, type Parameters, type Settings } from "../../playground/settings.ts";
import type { ToolCall } from "../../playground/tool-call.ts";

export const maxColumns = 4;

export interface Conversation {
  readonly id: string;
  /** The person whose conversation it is: several people may use one browser. */
  readonly owner: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly columns: readonly Column[];
  readonly settings: Settings;
  readonly turns: readonly Turn[];
}

export interface Column {
  readonly id: string;
  readonly model: string;
}

/** What the person sent, and the answer in each column: one step for each request, more after calls of tools. */
export interface Turn {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly answers: Readonly<Record<string, readonly Step[]>>;
}

export interface Step {
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly model: string;
  /** The request without its messages, which follow from the conversation. */
  readonly parameters: Parameters;
  readonly system: string;
  readonly content: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  /** Data that the provider needs back with the message. */
  readonly returned: Readonly<Record<string, unknown>>;
  readonly finishReason: string | null;
  readonly startedAt: number;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
  readonly usage: StepUsage | null;
  /** USD; null: not known. */
  readonly cost: number | null;
  readonly requestId: string | null;
  readonly error: StepError | null;
}

export interface StepUsage {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cached: number;
}

export interface StepError {
  readonly message: string;
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
}

export function createConversation(owner: string, models: readonly string[], settings = initialSettings): Conversation {
  const now = Date.now();
  return {
    id: crypto.randomUUID(),
    owner,
    title: "",
    createdAt: now,
    updatedAt: now,
    columns: models.slice(0, maxColumns).map(createColumn),
    settings,
    turns: [],
  };
}

export function createColumn(model: string): Column {
  return { id: crypto.randomUUID(), model };
}

const maxTitleLength = 60;

export function titleOf({ title, turns }: Pick<Conversation, "title" | "turns">): string {
  if (title !== "") return title;
  const [first] = turns;
  if (first === undefined) return "New chat";
  const text = first.text.trim().replace(/\s+/g, " ") || (first.attachments[0]?.name ?? "");
  return text.length > maxTitleLength ? `${text.slice(0, maxTitleLength)}…` : text || "Chat";
}

export function createStep(model: string, system: string, parameters: Parameters): Step {
  return {
    state: "running",
    model,
    parameters,
    system,
    content: "",
    reasoning: "",
    refusal: "",
    toolCalls: [],
    returned: {},
    finishReason: null,
    startedAt: Date.now(),
    firstTokenMs: null,
    totalMs: null,
    usage: null,
    cost: null,
    requestId: null,
    error: null,
  };
}

/** The request of one step: everything that was said in its column before. */
export function toRequest(conversation: Conversation, at: { turnId: string; columnId: string; index: number }): object {
  const { turnId, columnId, index } = at;
  const turnIndex = conversation.turns.findIndex(({ id }) => id === turnId);
  const turn = conversation.turns[turnIndex];
  const step = turn?.answers[columnId]?.[index];
  if (turn === undefined || step === undefined) throw new Error("the step is not a part of the conversation");
  const messages: ChatMessage[] = step.system.trim() === "" ? [] : [{ role: "system", content: step.system }];
  for (const earlier of conversation.turns.slice(0, turnIndex)) {
    const steps = earlier.answers[columnId] ?? [];
    // A column that was added later, or that failed, knows nothing of the turn.
    if (!steps.some(hasAnswer)) continue;
    messages.push(toUserMessage(earlier), ...steps.filter(hasAnswer).flatMap(toAnswerMessages));
  }
  messages.push(toUserMessage(turn), ...(turn.answers[columnId] ?? []).slice(0, index).flatMap(toAnswerMessages));
  return { model: step.model, messages, ...step.parameters, stream: true, stream_options: { include_usage: true } };
}

function hasAnswer(step: Step): boolean {
  return step.state !== "running" && (step.content !== "" || step.refusal !== "" || completeCalls(step).length > 0);
}

/** The arguments of a call are not complete in an answer that broke off. */
function completeCalls({ state, toolCalls }: Step): readonly ToolCall[] {
  return state === "done" ? toolCalls : [];
}

function toUserMessage({ text, attachments }: Turn): ChatMessage {
  if (attachments.length === 0) return { role: "user", content: text };
  const parts: ChatPart[] = attachments.map(toChatPart);
  if (text !== "") parts.unshift({ type: "text", text });
  return { role: "user", content: parts };
}

const noResult = "The user did not provide a result.";

function toAnswerMessages(step: Step): ChatMessage[] {
  const { content, refusal, returned } = step;
  const complete = completeCalls(step);
  const calls: ChatToolCall[] = complete.map(({ id, name, arguments: text, extra }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
    ...(extra !== undefined && { extra_content: extra }),
  }));
  return [
    {
      role: "assistant",
      content: content || refusal || (calls.length > 0 ? null : ""),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...returned,
    },
    // Every call needs a result before the conversation can go on.
    ...complete.map(({ id, result }): ChatMessage => ({ role: "tool", tool_call_id: id, content: result ?? noResult })),
  ];
}

/** A conversation with one step added or replaced. */
export function withSteps(
  conversation: Conversation,
  { turnId, columnId }: { readonly turnId: string; readonly columnId: string },
  change: (steps: readonly Step[]) => readonly Step[],
): Conversation {
  const turns = conversation.turns.map((turn) =>
    turn.id === turnId
      ? { ...turn, answers: { ...turn.answers, [columnId]: change(turn.answers[columnId] ?? []) } }
      : turn,
  );
  return { ...conversation, turns, updatedAt: Date.now() };
}

/** Answers that were on their way when the page was closed. */
export function withoutRunning(conversation: Conversation): Conversation {
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    answers: Object.fromEntries(
      Object.entries(turn.answers).map(([columnId, steps]) => [
        columnId,
        steps.map((step): Step => (step.state === "running" ? { ...step, state: "stopped" } : step)),
      ]),
    ),
  }));
  return { ...conversation, turns };
}
