// The state of the ledger, for the metrics.

import type { Family } from "../metrics/family.ts";
import type { Ledger } from "./ledger.ts";

export function describeLedger({
  waiting,
  dropped,
  refused,
  isBehind,
}: Pick<Ledger, "waiting" | "dropped" | "refused" | "isBehind">): Family[] {
  return [
    {
      name: "ledger_waiting_lines",
      help: "Lines of the ledger that are on disk and not in the store yet.",
      type: "gauge",
      merge: "sum",
      samples: [{ labels: {}, value: waiting }],
    },
    {
      name: "ledger_behind",
      help: "Whether the store does not accept lines of the ledger.",
      type: "gauge",
      merge: "max",
      samples: [{ labels: {}, value: Number(isBehind) }],
    },
    {
      name: "ledger_dropped_lines_total",
      help: "Lines of the ledger that were lost.",
      type: "counter",
      samples: [{ labels: {}, value: dropped }],
    },
    {
      name: "ledger_refused_lines_total",
      help: "Lines of the ledger that the store refused because of their content.",
      type: "counter",
      samples: [{ labels: {}, value: refused }],
    },
  ];
}
