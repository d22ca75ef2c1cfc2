// An error with the id under which the gateway logged it, and a way to try again.

import { Alert, Button, Group, Text } from "@mantine/core";
import { ApiError } from "../api/client.ts";
import { IconAlert } from "../icons.ts";
import { CopyButton } from "./copy-button.tsx";

interface ErrorNoticeProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const isApiError = error instanceof ApiError;
  return (
    <Alert color="red" variant="light" icon={<IconAlert size={18} />} title={toTitle(error)} role="alert">
      <Text size="sm" className="wrap-anywhere">
        {error instanceof Error ? error.message : String(error)}
      </Text>
      {isApiError && error.problems.length > 1 && (
        <ul className="problem-list">
          {error.problems.map(({ loc, msg }) => (
            <li key={`${loc.join(".")} ${msg}`}>
              <code>{loc.slice(1).join(".")}</code>: {msg}
            </li>
          ))}
        </ul>
      )}
      <Group gap="sm" mt="xs">
        {onRetry !== undefined && (
          <Button size="xs" variant="white" color="red" onClick={onRetry}>
            Try again
          </Button>
        )}
        {isApiError && error.requestId !== null && (
          <Text size="xs" className="wrap-anywhere">
            Request <code>{error.requestId}</code> <CopyButton text={error.requestId} label="Copy the request id" />
          </Text>
        )}
      </Group>
    </Alert>
  );
}

function toTitle(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong";
  if (error.status === 0) return "No connection";
  if (error.code === "insufficient_role") return "Your role does not include this";
  if (error.status === 404) return "Not found";
  return error.status >= 500 ? "The gateway could not answer" : "The request was refused";
}
