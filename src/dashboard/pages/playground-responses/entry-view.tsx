// One response of a chain: what was sent, the items of its output, and what it took.

import { Badge, Button, Group, Loader, Text } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../../components/code-block.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { IconTrash } from "../../icons.ts";
import { formatCompact, formatMs, formatUsd, noValue } from "../../lib/format.ts";
import { AttachmentList } from "../../playground/composer.tsx";
import { CopyAs } from "../../playground/copy-as.tsx";
import { Figure } from "../../playground/figure.tsx";
import { Markdown } from "../../playground/markdown.tsx";
import { Reasoning } from "../../playground/reasoning.tsx";
import { RequestLink } from "../../playground/request-link.tsx";
import { StructuredAnswer } from "../../playground/structured-answer.tsx";
import { ToolCalls } from "../../playground/tool-calls.tsx";
import type { Input, Item, ResponseObject } from "./response.ts";
import { argumentsOf, callsOf, reasoningOf, refusalOf, textOf } from "./response.ts";
import type { Entry } from "./use-chain.ts";

interface EntryViewProps {
  readonly entry: Entry;
  /** Whether the next message continues this response. */
  readonly isChosen: boolean;
  readonly isRunning: boolean;
  readonly onContinue: () => void;
  readonly onDelete: () => void;
  /** Null: the calls have results, or the response cannot be continued. */
  readonly onResults: ((results: readonly string[]) => void) | null;
}

export function EntryView({ entry, isChosen, isRunning, onContinue, onDelete, onResults }: EntryViewProps) {
  const { response, items, state, input, request, error } = entry;
  const calls = callsOf(items);
  const mayContinue = response?.store === true && state === "done" && !isRunning;
  return (
    <li className="chain-entry" data-chosen={isChosen}>
      {input !== null && <InputView input={input} />}
      <article className="answer" aria-label={`Response ${response?.id ?? ""}`} aria-busy={state === "running"}>
        <header className="answer-head">
          {response === null ? (
            <span className="answer-model">new response</span>
          ) : (
            <>
              <span className="answer-model truncate chain-id">{response.id}</span>
              <CopyButton text={response.id} label="Copy the response id" />
            </>
          )}
          {state === "running" && <Loader size={14} aria-label="Answering" />}
          <StatusBadge entry={entry} />
        </header>
        <div className="step">
          {state === "running" && items.length === 0 && (
            <Text size="sm" c="dimmed">
              Waiting for the first token
            </Text>
          )}
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items are only added at the end
            <ItemView key={index} item={item} entry={entry} />
          ))}
          {calls.length > 0 && (
            <ToolCalls
              calls={calls.map(({ callId, ...call }) => ({ ...call, id: callId, result: null }))}
              onResults={onResults}
            />
          )}
          {response?.error != null && <ErrorNotice error={new Error(response.error.message)} />}
          {error !== null && <ErrorNotice error={error} />}
        </div>
        {state !== "running" && (
          <footer className="answer-foot">
            <Figures entry={entry} />
            <Group gap={2}>
              {mayContinue && (
                <Button variant="subtle" size="compact-xs" onClick={onContinue} disabled={isChosen}>
                  {isChosen ? "The next message continues here" : "Continue from here"}
                </Button>
              )}
              {response?.store === true && state === "done" && (
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-xs"
                  leftSection={<IconTrash size={14} />}
                  onClick={onDelete}
                  aria-label={`Delete ${response.id}`}
                >
                  Delete
                </Button>
              )}
              {entry.requestId !== null && <RequestLink requestId={entry.requestId} />}
              <CopyAs request={request} label={response === null ? "the request" : response.id} size="compact-xs" />
            </Group>
          </footer>
        )}
        {response !== null && state !== "running" && <RawResponse response={response} />}
      </article>
    </li>
  );
}

/** Closed at first, because it repeats everything above. */
function RawResponse({ response }: { readonly response: ResponseObject }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="raw" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Response as JSON</summary>
      {isOpen && (
        <CodeBlock label="Response as JSON" text={JSON.stringify(response, null, 2)} className="code-sample" />
      )}
    </details>
  );
}

function InputView({ input }: { readonly input: Input }) {
  if (input.kind === "results")
    return (
      <div className="question">
        {input.results.map(({ callId, output }) => (
          <p key={callId} className="question-text">
            Result of <span className="mono">{callId}</span>: {output}
          </p>
        ))}
      </div>
    );
  if (input.text === "" && input.attachments.length === 0) return null;
  return (
    <div className="question">
      {input.attachments.length > 0 && <AttachmentList attachments={input.attachments} />}
      {input.text !== "" && <p className="question-text">{input.text}</p>}
    </div>
  );
}

function StatusBadge({ entry: { state, response } }: { readonly entry: Entry }) {
  const [text, color] =
    state === "deleted"
      ? ["deleted", "gray"]
      : state === "stopped"
        ? ["stopped", "orange"]
        : state === "failed"
          ? ["failed", "red"]
          : [
              response?.incomplete_details?.reason ?? response?.status ?? "",
              response?.status === "completed" ? "green" : "orange",
            ];
  if (text === "" || state === "running") return null;
  return (
    <Group gap={6}>
      <Badge size="sm" color={color}>
        {text}
      </Badge>
      {response?.store === false && state === "done" && (
        <Badge size="sm" color="gray">
          not stored
        </Badge>
      )}
    </Group>
  );
}

function ItemView({ item, entry }: { readonly item: Item; readonly entry: Entry }) {
  const { type } = item;
  const isRunning = entry.state === "running";
  if (type === "reasoning") {
    const text = reasoningOf(item);
    if (text !== "") return <Reasoning text={text} isOpen={isRunning && entry.items.length === 1} />;
    return (
      <Text size="xs" c="dimmed">
        The model reasoned, and the provider does not show how.
      </Text>
    );
  }
  if (type === "message") {
    const text = textOf(item);
    const refusal = refusalOf(item);
    const schema = schemaOf(entry);
    return (
      <>
        {text !== "" &&
          (schema === null ? (
            <Markdown text={text} />
          ) : (
            <StructuredAnswer text={text} schema={schema} isComplete={!isRunning} />
          ))}
        {refusal !== "" && <div className="refusal wrap-anywhere">{refusal}</div>}
      </>
    );
  }
  // The calls of functions stand below all items, with fields for their results.
  if (type === "function_call")
    return isRunning ? <CodeBlock label="Arguments so far" text={argumentsOf(item)} /> : null;
  return <CodeBlock label={`Item of the type ${String(type)}`} text={JSON.stringify(item, null, 2)} />;
}

function schemaOf({ response }: Entry): unknown {
  const format = response?.text?.format as { readonly type?: string; readonly schema?: unknown } | undefined;
  return format?.type === "json_schema" ? (format.schema ?? null) : null;
}

function Figures({ entry: { response, firstTokenMs, totalMs } }: { readonly entry: Entry }) {
  const usage = response?.usage ?? null;
  return (
    <dl className="figures">
      {totalMs !== null && (
        <>
          <Figure name="First token" value={formatMs(firstTokenMs)} />
          <Figure name="Total" value={formatMs(totalMs)} />
        </>
      )}
      <Figure
        name="Tokens"
        value={
          usage === null ? noValue : `${formatCompact(usage.input_tokens)} → ${formatCompact(usage.output_tokens)}`
        }
      />
      <Figure name="Cost" value={formatUsd(response?.cost ?? null)} />
    </dl>
  );
}
