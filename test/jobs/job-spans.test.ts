import { expect, test } from "bun:test";
import { startDeliverySpan } from "../../src/jobs/job-spans.ts";
import type { OpenedDelivery } from "../../src/storage/deliveries.ts";
import type { JobRecord } from "../../src/storage/job-records.ts";
import type { Span, TraceHeaders, Tracing } from "../../src/tracing/span.ts";

const [submission, run] = ["a", "b"].map((digit) => ({ traceparent: `00-${digit.repeat(32)}-${digit.repeat(16)}-01` }));

function parentOf(stored: Pick<JobRecord, "request" | "result">): TraceHeaders | null | undefined {
  let found: TraceHeaders | null | undefined;
  const tracing: Tracing = {
    start: (_, parent) => {
      found = parent;
      return {} as Span;
    },
    readCaller: () => null,
    close: () => Promise.resolve(),
  };
  const delivery = { id: "1", receiver: "https://hooks.example.com/", attempts: [] };
  startDeliverySpan(tracing, { delivery, job: { id: "2", ...stored } } as unknown as OpenedDelivery);
  return found;
}

test.each<[title: string, request: object, result: string | null, parent: TraceHeaders | null | undefined]>([
  ["the run that ended the job", { trace: submission }, JSON.stringify({ output: {}, trace: run }), run],
  ["the submission of a job that was cancelled", { trace: submission }, JSON.stringify({ error: {} }), submission],
  ["nothing if the job was not traced", {}, null, null],
  ["nothing if the result of the job cannot be read", { trace: submission }, "{broken", null],
])("the webhook of a job continues %s", (_, request, result, parent) => {
  expect(parentOf({ request: JSON.stringify(request), result })).toEqual(parent);
});
