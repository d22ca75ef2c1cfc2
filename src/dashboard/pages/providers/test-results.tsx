// What a test call to a provider showed.

import { Alert, Text } from "@mantine/core";
import type { ProviderTest } from "../../api/types.ts";
import { IconAlert, IconCheck } from "../../icons.ts";
import { formatMs, formatUsd } from "../../lib/format.ts";

const outcomes: Readonly<Record<ProviderTest["results"][number]["outcome"], string>> = {
  completed: "The provider answered",
  credentials_refused: "The provider refused the credentials",
  request_refused: "The provider accepted the credentials, but refused the test call",
  rate_limited: "The provider limits its rate",
  unreachable: "The provider could not be reached",
  failed: "The provider failed",
  not_tested: "There is no cheap call to test this provider with",
};

export function TestResults({ test }: { readonly test: ProviderTest }) {
  return (
    <div role="status" className="test-results">
      {test.results.map(({ deployment, outcome, called, milliseconds, cost, error }) => {
        const color = outcome === "completed" ? "green" : outcome === "not_tested" ? "gray" : "red";
        return (
          <Alert
            key={deployment}
            variant="light"
            color={color}
            icon={color === "green" ? <IconCheck size={18} /> : <IconAlert size={18} />}
            title={test.results.length > 1 ? `${deployment}: ${outcomes[outcome]}` : outcomes[outcome]}
          >
            {error !== null && (
              <Text size="sm" className="wrap-anywhere">
                {error.message}
              </Text>
            )}
            {called !== null && (
              <Text size="xs" c="dimmed">
                {called}, {formatMs(milliseconds)}
                {cost !== null && cost > 0 && `, ${formatUsd(cost)}`}
              </Text>
            )}
          </Alert>
        );
      })}
    </div>
  );
}
