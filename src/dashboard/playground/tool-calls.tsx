// The calls of tools that a model asks for, and fields for their results.

import { Button, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { CodeBlock } from "../components/code-block.tsx";
import { IconTool } from "../icons.ts";
import { parseJson } from "./settings.ts";
import type { ToolCall } from "./tool-call.ts";

interface ToolCallsProps {
  readonly calls: readonly ToolCall[];
  /** Null: the results cannot be sent, or were sent. */
  readonly onResults: ((results: readonly string[]) => void) | null;
}

export function ToolCalls({ calls, onResults }: ToolCallsProps) {
  const [results, setResults] = useState<readonly string[]>(() => calls.map(() => ""));
  function submit(event: FormEvent): void {
    event.preventDefault();
    onResults?.(calls.map((_, index) => results[index] ?? ""));
  }
  return (
    <form className="tool-calls" onSubmit={submit}>
      {calls.map(({ id, name, arguments: text, result }, index) => (
        <div key={id || index} className="tool-call">
          <div className="tool-call-head">
            <IconTool size={14} />
            <span className="mono wrap-anywhere">{name}</span>
          </div>
          <CodeBlock label={`Arguments of ${name}`} text={toPretty(text)} />
          {result !== null ? (
            <>
              <Text size="xs" c="dimmed" mt={8} mb={4}>
                Result
              </Text>
              <CodeBlock label={`Result of ${name}`} text={toPretty(result)} />
            </>
          ) : (
            onResults !== null && (
              <Textarea
                mt={8}
                size="xs"
                label={`Result of ${name}`}
                placeholder='{"temperature": 21}'
                autosize
                minRows={2}
                maxRows={10}
                value={results[index] ?? ""}
                onChange={(event) => {
                  const { value } = event.currentTarget;
                  setResults((before) => calls.map((_, at) => (at === index ? value : (before[at] ?? ""))));
                }}
              />
            )
          )}
        </div>
      ))}
      {onResults !== null && calls.every(({ result }) => result === null) && (
        <Button type="submit" size="xs" variant="light">
          {calls.length === 1 ? "Send the result" : "Send the results"}
        </Button>
      )}
    </form>
  );
}

function toPretty(text: string): string {
  const value = parseJson(text);
  return value === undefined || typeof value !== "object" ? text : JSON.stringify(value, null, 2);
}
