// How a request ended.

import { Badge } from "@mantine/core";

interface OutcomeBadgeProps {
  readonly outcome: string;
  readonly status?: number | null;
}

export function OutcomeBadge({ outcome, status = null }: OutcomeBadgeProps) {
  const shown = outcome === "completed" && status !== null ? String(status) : outcome;
  return (
    <Badge color={toColor(outcome, status)} fw={550} maw="100%">
      {outcome === "completed" || status === null ? shown : `${status} ${outcome}`}
    </Badge>
  );
}

function toColor(outcome: string, status: number | null): string {
  if (outcome === "completed") return "green";
  if (outcome === "caller_left") return "gray";
  return status !== null && status < 500 ? "orange" : "red";
}
