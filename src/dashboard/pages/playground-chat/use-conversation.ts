// The conversation of the page: sends what the person writes to every column, shows the answers while they arrive, and saves them.

import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client.ts";
import type { Attachment } from "../../playground/attachment.ts";
import { readEvents } from "../../playground/events.ts";
import { fetchWithKey, prepareKey } from "../../playground/key.ts";
import type { Parameters } from "../../playground/settings.ts";
import { type Conversation, createStep, type Step, type StepError, toRequest, withSteps } from "./conversation.ts";
import { AnswerReader } from "./read-answer.ts";
import { saveConversation } from "./store.ts";

export const chatPath = "/v3/chat/completions";

interface Place {
  readonly turnId: string;
  readonly columnId: string;
}

export interface OpenConversation {
  readonly conversation: Conversation;
  readonly isRunning: boolean;
  /** Why the last attempt to save failed. */
  readonly saveError: unknown;
  change(change: (conversation: Conversation) => Conversation): void;
  /** Stops the answers of the conversation that is open, and opens another one. */
  open(conversation: Conversation): void;
  send(message: { readonly text: string; readonly attachments: readonly Attachment[] }, parameters: Parameters): void;
  /** Sends the results of the calls of tools. */
  sendResults(place: Place, results: readonly string[]): void;
  /** Asks for the last step of a column again. */
  retry(place: Place, parameters: Parameters): void;
  stop(): void;
}

const saveEveryMs = 3_000;
/** Somebody who types in a setting changes it with every letter. */
const saveAfterMs = 400;

export function useConversation(initial: () => Conversation): OpenConversation {
  const [conversation, setConversation] = useState(initial);
  const [running, setRunning] = useState(0);
  const [saveError, setSaveError] = useState<unknown>(null);
  const latest = useRef(conversation);
  const controller = useRef(new AbortController());
  const savedAt = useRef(0);
  const saveTimer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const update = useCallback((change: (conversation: Conversation) => Conversation) => {
    latest.current = change(latest.current);
    setConversation(latest.current);
  }, []);

  const save = useCallback(async (force: boolean): Promise<void> => {
    if (latest.current.turns.length === 0 || (!force && Date.now() - savedAt.current < saveEveryMs)) return;
    savedAt.current = Date.now();
    try {
      await saveConversation(latest.current);
      setSaveError(null);
    } catch (error) {
      setSaveError(error);
    }
  }, []);

  useEffect(() => {
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, []);

  async function run(place: Place): Promise<void> {
    const { id } = latest.current;
    const { signal } = controller.current;
    const index =
      (latest.current.turns.find((turn) => turn.id === place.turnId)?.answers[place.columnId]?.length ?? 0) - 1;
    const show = (change: Partial<Step>) => {
      // The person may have opened another conversation.
      if (latest.current.id !== id) return;
      update((current) =>
        withSteps(current, place, (steps) => steps.map((step, at) => (at === index ? { ...step, ...change } : step))),
      );
    };
    setRunning((count) => count + 1);
    try {
      const request = toRequest(latest.current, { ...place, index });
      await readAnswer(request, { signal, show, onProgress: () => void save(false) });
    } finally {
      setRunning((count) => count - 1);
      if (latest.current.id === id) await save(true);
    }
  }

  function start(place: Place, step: Step): void {
    update((current) => withSteps(current, place, (steps) => [...steps, step]));
    void run(place);
  }

  function stop(): void {
    controller.current.abort();
    controller.current = new AbortController();
  }

  return {
    conversation,
    isRunning: running > 0,
    saveError,
    change(change) {
      update(change);
      clearTimeout(saveTimer.current);
      saveTimer.current = setTimeout(() => void save(true), saveAfterMs);
    },
    open(next) {
      stop();
      latest.current = next;
      setConversation(next);
      setSaveError(null);
    },
    send({ text, attachments }, parameters) {
      const turnId = crypto.randomUUID();
      const { settings, columns } = latest.current;
      update((current) => ({ ...current, turns: [...current.turns, { id: turnId, text, attachments, answers: {} }] }));
      for (const { id, model } of columns)
        start({ turnId, columnId: id }, createStep(model, settings.system, parameters));
      void save(true);
    },
    sendResults(place, results) {
      const steps = latest.current.turns.find(({ id }) => id === place.turnId)?.answers[place.columnId] ?? [];
      const last = steps.at(-1);
      if (last === undefined) return;
      const toolCalls = last.toolCalls.map((call, index) => ({ ...call, result: results[index] ?? "" }));
      update((current) => withSteps(current, place, (before) => [...before.slice(0, -1), { ...last, toolCalls }]));
      // A model that has to call a tool would call it for ever.
      const { tool_choice: choice, ...parameters } = last.parameters;
      const next = choice === undefined || choice === "required" ? parameters : last.parameters;
      start(place, createStep(last.model, last.system, next));
    },
    retry(place, parameters) {
      const model = latest.current.columns.find(({ id }) => id === place.columnId)?.model;
      const steps = latest.current.turns.find(({ id }) => id === place.turnId)?.answers[place.columnId] ?? [];
      const last = steps.at(-1);
      if (last === undefined) return;
      update((current) => withSteps(current, place, (before) => before.slice(0, -1)));
      start(place, createStep(model ?? last.model, latest.current.settings.system, parameters));
    },
    stop,
  };
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly show: (change: Partial<Step>) => void;
  readonly onProgress: () => void;
}

/** Often enough to look fluent. Every update renders the answer. */
const showEveryMs = 60;

async function readAnswer(request: object, { signal, show, onProgress }: ReadOptions): Promise<void> {
  const reader = new AnswerReader();
  let start = performance.now();
  let requestId: string | null = null;
  let firstTokenMs: number | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const elapsed = () => performance.now() - start;
  try {
    await prepareKey();
    start = performance.now();
    const response = await fetchWithKey(chatPath, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      signal,
    });
    requestId = response.headers.get("x-request-id");
    show({ requestId });
    for await (const event of readEvents(response)) {
      reader.read(event);
      if (firstTokenMs === null && reader.hasBegun) firstTokenMs = elapsed();
      timer ??= setTimeout(() => {
        timer = null;
        show({ ...reader.toStep(), firstTokenMs });
        onProgress();
      }, showEveryMs);
    }
    clearTimeout(timer ?? undefined);
    show({ ...reader.toStep(), firstTokenMs, totalMs: elapsed(), state: "done" });
  } catch (error) {
    clearTimeout(timer ?? undefined);
    const known = { ...reader.toStep(), firstTokenMs, totalMs: elapsed() };
    if (signal.aborted) show({ ...known, state: "stopped" });
    else show({ ...known, state: "failed", error: toStepError(error, requestId) });
  }
}

function toStepError(error: unknown, requestId: string | null): StepError {
  if (error instanceof ApiError)
    return { message: error.message, status: error.status, code: error.code, requestId: error.requestId };
  const message = error instanceof Error ? error.message : String(error);
  return { message, status: 0, code: "unknown", requestId };
}
