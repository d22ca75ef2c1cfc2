// The answer of one model: reasoning, text, calls of tools, and what it took.

import { Badge, Button, Group, Loader, Text, Tooltip } from "@mantine/core";
import { ApiError } from "../../api/client.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { IconRefresh } from "../../icons.ts";
import { formatCompact, formatMs, formatNumber, formatUsd, noValue } from "../../lib/format.ts";
import type { CopiedRequest } from "../../playground/code-samples.ts";
import { CopyAs } from "../../playground/copy-as.tsx";
import { Figure } from "../../playground/figure.tsx";
import { Markdown } from "../../playground/markdown.tsx";
import { Reasoning } from "../../playground/reasoning.tsx";
import { RequestLink } from "../../playground/request-link.tsx";
import { StructuredAnswer } from "../../playground/structured-answer.tsx";
import { ToolCalls } from "../../playground/tool-calls.tsx";
import type { Step, StepError } from "./conversation.ts";

interface AnswerProps {
  readonly model: string;
  readonly steps: readonly Step[];
  /** What the answer is best at among those beside it. */
  readonly marks: readonly string[];
  /** Whether the turn is the last one, so that it can be continued. */
  readonly isLast: boolean;
  readonly isRunning: boolean;
  readonly toCopied: (index: number) => CopiedRequest;
  readonly onRetry: () => void;
  readonly onResults: (results: readonly string[]) => void;
}

export function Answer({ model, steps, marks, isLast, isRunning, toCopied, onRetry, onResults }: AnswerProps) {
  const last = steps.at(-1);
  if (last === undefined) return null;
  const text = last.content || last.refusal;
  return (
    <article className="answer" aria-label={`Answer of ${model}`} aria-busy={last.state === "running"}>
      <header className="answer-head">
        <span className="answer-model truncate" title={model}>
          {model}
        </span>
        {last.state === "running" && <Loader size={14} aria-label="Answering" />}
        {last.state === "stopped" && <StateBadge>stopped</StateBadge>}
        {last.state === "done" && last.finishReason === "length" && <StateBadge>cut at the token limit</StateBadge>}
        {last.state === "done" && last.finishReason === "content_filter" && <StateBadge>filtered</StateBadge>}
        {marks.map((mark) => (
          <Badge key={mark} size="sm" color="green">
            {mark}
          </Badge>
        ))}
      </header>
      {steps.map((step, index) => (
        <StepView
          // Steps are only added at the end.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={index}
          step={step}
          onResults={isLast && index === steps.length - 1 && !isRunning ? onResults : null}
          onRetry={isLast && index === steps.length - 1 && !isRunning ? onRetry : null}
        />
      ))}
      {last.state !== "running" && (
        <footer className="answer-foot">
          <Figures steps={steps} />
          <Group gap={2}>
            {text !== "" && <CopyButton text={text} label="Copy the answer" />}
            {isLast && !isRunning && (
              <Tooltip label="Answer again">
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-xs"
                  onClick={onRetry}
                  aria-label={`Answer again with ${model}`}
                >
                  <IconRefresh size={14} />
                </Button>
              </Tooltip>
            )}
            {last.requestId !== null && <RequestLink requestId={last.requestId} />}
            <CopyAs request={() => toCopied(steps.length - 1)} label={`the request to ${model}`} size="compact-xs" />
          </Group>
        </footer>
      )}
    </article>
  );
}

function StateBadge({ children }: { readonly children: string }) {
  return (
    <Badge size="sm" color="orange">
      {children}
    </Badge>
  );
}

interface StepViewProps {
  readonly step: Step;
  readonly onResults: ((results: readonly string[]) => void) | null;
  readonly onRetry: (() => void) | null;
}

function StepView({ step, onResults, onRetry }: StepViewProps) {
  const { state, content, reasoning, refusal, toolCalls, parameters, error } = step;
  const isRunning = state === "running";
  const schema = schemaOf(parameters);
  const isWaiting = isRunning && content === "" && reasoning === "" && toolCalls.length === 0;
  return (
    <div className="step">
      {isWaiting && (
        <Text size="sm" c="dimmed">
          Waiting for the first token
        </Text>
      )}
      {reasoning !== "" && <Reasoning text={reasoning} isOpen={isRunning && content === ""} />}
      {content !== "" &&
        (schema === null ? (
          <Markdown text={content} />
        ) : (
          <StructuredAnswer text={content} schema={schema} isComplete={!isRunning} />
        ))}
      {refusal !== "" && (
        <div className="refusal">
          <Text size="xs" fw={600}>
            The model refused
          </Text>
          <Text size="sm" className="wrap-anywhere">
            {refusal}
          </Text>
        </div>
      )}
      {toolCalls.length > 0 && <ToolCalls calls={toolCalls} onResults={state === "done" ? onResults : null} />}
      {state === "done" && content === "" && refusal === "" && toolCalls.length === 0 && (
        <Text size="sm" c="dimmed">
          The answer is empty.
        </Text>
      )}
      {error !== null && <ErrorNotice error={toApiError(error)} {...(onRetry !== null && { onRetry })} />}
    </div>
  );
}

function toApiError({ message, ...facts }: StepError): ApiError {
  return new ApiError(message, facts);
}

function schemaOf(parameters: Step["parameters"]): unknown {
  const { response_format: format } = parameters as {
    readonly response_format?: { readonly json_schema?: { readonly schema?: unknown } };
  };
  return format?.json_schema?.schema ?? null;
}

/** Of all steps together: an answer with calls of tools takes several requests. */
function Figures({ steps }: { readonly steps: readonly Step[] }) {
  const [first] = steps;
  if (first === undefined) return null;
  const { totalMs, input, output, cost } = sumSteps(steps);
  return (
    <dl className="figures">
      <Figure name="First token" value={formatMs(first.firstTokenMs)} />
      <Figure name="Total" value={formatMs(totalMs)} />
      <Figure
        name="Tokens"
        value={input === null ? noValue : `${formatCompact(input)} → ${formatCompact(output)}`}
        note={describeTokens(steps)}
      />
      <Figure name="Cost" value={formatUsd(cost)} />
    </dl>
  );
}

/** How many of the tokens were read from a cache, and how many the model thought with. */
function describeTokens(steps: readonly Step[]): string | undefined {
  const sum = (kind: "cached" | "reasoning") => steps.reduce((total, { usage }) => total + (usage?.[kind] ?? 0), 0);
  const parts = [
    ...(sum("cached") > 0 ? [`${formatNumber(sum("cached"))} from a cache`] : []),
    ...(sum("reasoning") > 0 ? [`${formatNumber(sum("reasoning"))} for reasoning`] : []),
  ];
  return parts.length === 0 ? undefined : `Of these, ${parts.join(" and ")}`;
}

export interface StepSums {
  readonly totalMs: number;
  readonly input: number | null;
  readonly output: number | null;
  /** Null: the cost of a step is not known. */
  readonly cost: number | null;
}

export function sumSteps(steps: readonly Step[]): StepSums {
  const isCounted = steps.every(({ usage }) => usage !== null);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    totalMs: sum(steps.map((step) => step.totalMs ?? 0)),
    input: isCounted ? sum(steps.map(({ usage }) => usage?.input ?? 0)) : null,
    output: isCounted ? sum(steps.map(({ usage }) => usage?.output ?? 0)) : null,
    cost: steps.every(({ cost }) => cost !== null) ? sum(steps.map(({ cost }) => cost ?? 0)) : null,
  };
}
