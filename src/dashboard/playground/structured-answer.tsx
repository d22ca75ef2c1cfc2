// An answer that should follow a schema: as JSON, and whether it does.

import { Badge, Group, Text } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { CodeBlock } from "../components/code-block.tsx";
import { IconCheck, IconClose } from "../icons.ts";
import { parseJson } from "./settings.ts";

interface StructuredAnswerProps {
  readonly text: string;
  readonly schema: unknown;
  readonly isComplete: boolean;
}

export function StructuredAnswer({ text, schema, isComplete }: StructuredAnswerProps) {
  const value = useMemo(() => (isComplete ? parseJson(text) : undefined), [text, isComplete]);
  const [mismatch, setMismatch] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    if (!isComplete) return;
    if (value === undefined) {
      setMismatch("The answer is not JSON.");
      return;
    }
    let isCurrent = true;
    // Patterns need a matcher that is larger than the page.
    import("./check-schema.ts")
      .then(({ findMismatch }) => isCurrent && setMismatch(findMismatch(value, schema)))
      .catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [value, schema, isComplete]);
  return (
    <div>
      {mismatch !== undefined && (
        <Group gap={6} mb={6} role="status">
          {mismatch === null ? (
            <Badge color="green" leftSection={<IconCheck size={12} />}>
              Follows the schema
            </Badge>
          ) : (
            <>
              <Badge color="red" leftSection={<IconClose size={12} />}>
                Does not follow the schema
              </Badge>
              <Text size="xs" c="dimmed" className="wrap-anywhere">
                {mismatch}
              </Text>
            </>
          )}
        </Group>
      )}
      <CodeBlock label="Structured answer" text={value === undefined ? text : JSON.stringify(value, null, 2)} />
    </div>
  );
}
