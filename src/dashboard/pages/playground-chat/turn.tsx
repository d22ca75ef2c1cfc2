// One message of the person and the answers to it, side by side.

import type { CopiedRequest } from "../../playground/code-samples.ts";
import { AttachmentList } from "../../playground/composer.tsx";
import { Answer, sumSteps } from "./answer.tsx";
import { type Conversation, type Step, type Turn, toRequest } from "./conversation.ts";
import { chatPath } from "./use-conversation.ts";

interface TurnViewProps {
  readonly turn: Turn;
  readonly conversation: Conversation;
  readonly isLast: boolean;
  readonly isRunning: boolean;
  readonly onRetry: (columnId: string) => void;
  readonly onResults: (columnId: string, results: readonly string[]) => void;
}

export function TurnView({ turn, conversation, isLast, isRunning, onRetry, onResults }: TurnViewProps) {
  const marks = markAnswers(turn);
  const toCopied = (columnId: string, index: number): CopiedRequest => ({
    method: "POST",
    path: chatPath,
    json: toRequest(conversation, { turnId: turn.id, columnId, index }),
  });
  // Columns that were removed keep their answers, but are not shown.
  const shown = conversation.columns.filter(({ id }) => turn.answers[id] !== undefined);
  return (
    <li className="turn">
      <div className="question">
        {turn.attachments.length > 0 && <AttachmentList attachments={turn.attachments} />}
        {turn.text !== "" && <p className="question-text">{turn.text}</p>}
      </div>
      <div className="answers" data-count={shown.length}>
        {shown.map(({ id }) => {
          const steps = turn.answers[id] ?? [];
          return (
            <Answer
              key={id}
              model={steps.at(-1)?.model ?? ""}
              steps={steps}
              marks={marks.get(id) ?? []}
              isLast={isLast}
              isRunning={isRunning}
              toCopied={(index) => toCopied(id, index)}
              onRetry={() => onRetry(id)}
              onResults={(results) => onResults(id, results)}
            />
          );
        })}
      </div>
    </li>
  );
}

/** Which answer was the fastest and which the cheapest, once all have arrived. */
function markAnswers({ answers }: Turn): ReadonlyMap<string, readonly string[]> {
  const marks = new Map<string, string[]>();
  const complete = Object.entries(answers).filter(([, steps]) => steps.every(({ state }) => state === "done"));
  if (complete.length < 2 || complete.length < Object.keys(answers).length) return marks;
  const best = (name: string, amountOf: (steps: readonly Step[]) => number | null) => {
    const amounts = complete.map(([id, steps]) => [id, amountOf(steps)] as const);
    const known = amounts.flatMap(([, amount]) => (amount === null ? [] : [amount]));
    const lowest = Math.min(...known);
    const winners = amounts.filter(([, amount]) => amount === lowest);
    // Two equal amounts have no winner.
    if (known.length < complete.length || winners.length !== 1) return;
    const [[id] = [""]] = winners;
    marks.set(id, [...(marks.get(id) ?? []), name]);
  };
  // A call of a tool is not an answer yet.
  if (complete.some(([, steps]) => (steps.at(-1)?.toolCalls.length ?? 0) > 0)) return marks;
  best("fastest", (steps) => sumSteps(steps).totalMs);
  best("cheapest", (steps) => sumSteps(steps).cost);
  return marks;
}

/** Screen readers are told when answers begin and end, not every token. */
export function Announcement({ turns, isRunning }: { readonly turns: readonly Turn[]; readonly isRunning: boolean }) {
  const last = turns.at(-1);
  const steps = Object.values(last?.answers ?? {}).flatMap((answer) => answer.slice(-1));
  const failed = steps.filter(({ state }) => state === "failed").length;
  const text =
    last === undefined
      ? ""
      : isRunning
        ? "Answering"
        : failed > 0
          ? `${failed} of ${steps.length} answers failed`
          : steps.length === 1
            ? "The answer is complete"
            : "All answers are complete";
  return (
    <div role="status" className="visually-hidden">
      {text}
    </div>
  );
}
