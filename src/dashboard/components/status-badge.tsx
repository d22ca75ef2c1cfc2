// The state of something that is done in the background.

import { Badge } from "@mantine/core";

const colors: Readonly<Record<string, string>> = {
  success: "green",
  delivered: "green",
  done: "green",
  processing: "indigo",
  running: "indigo",
  pending: "indigo",
  started: "orange",
  queued: "gray",
  cancelled: "gray",
  blocked: "orange",
  refused: "orange",
  fail: "red",
  failed: "red",
};

export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge color={colors[status] ?? "gray"} fw={550} maw="100%">
      {status}
    </Badge>
  );
}
