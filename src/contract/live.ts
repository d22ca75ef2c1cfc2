// `GET /v3/manage/live`: what the gateway has done since its processes started.

import { z } from "zod";
import { component } from "./component.ts";

const histogram = component("Histogram", {
  bounds_ms: z.array(z.number()).describe("The upper bounds of the buckets, ascending."),
  counts: z.array(z.int()).describe("The values of each bucket, and at the end those above the last bound."),
});

export const liveFigures = component("LiveFigures", {
  time: z.iso.datetime().describe("When the figures were read."),
  requests: z
    .int()
    .describe(
      "Answered requests, without those of this interface for managers, the dashboard, listings and health checks.",
    ),
  errors: z.int().describe("Requests among them whose answer was an error."),
  attempts: z.int().describe("Calls to providers."),
  failed_attempts: z.int().describe("Calls to providers that failed."),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost: z.number().describe("USD: the known costs. Exact amounts are in the usage reports."),
  latency: histogram.describe("From sending a call to a provider to the end of its answer."),
  first_token: histogram.describe("From sending a call to a provider to the first content of its stream."),
});

export type LiveFigures = z.output<typeof liveFigures>;
