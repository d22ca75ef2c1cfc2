// `GET /v3/manage/latency`: query and answer.

import { z } from "zod";
import { component } from "./component.ts";
import { wholeNumberText } from "./text-values.ts";
import { usageQuery } from "./usage.ts";

const { from, to, time_zone, team, provider, model } = usageQuery.shape;

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const latencyQuery = z.object({
  ...{ from, to, time_zone, team, provider, model },
  step_hours: wholeNumberText(1, 744).default(24).describe("The length of each step of the answer, from `from` on."),
  step: z
    .enum(["day"])
    .optional()
    .describe(
      "`day`: each step is a day of `time_zone`, also where clocks change, and `step_hours` does not apply. Hours are not divided: an hour " +
        "belongs to the day in which it begins.",
    ),
});

const percentiles = component("Percentiles", {
  count: z.int(),
  p50: z
    .number()
    .nullable()
    .describe("Milliseconds, interpolated between the bounds of a histogram. Null without values."),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
});

const figures = {
  latency: percentiles.describe("Of completed calls: from sending the call to the end of its answer."),
  first_token: percentiles.describe("Of completed streams: from sending the call to the first content."),
};

export const latencyReport = component("LatencyReport", {
  from: z.iso.datetime().describe("The first hour of the report. Reports consist of whole hours."),
  to: z.iso.datetime().describe("The end of the last hour."),
  steps: z
    .array(component("LatencyStep", { from: z.iso.datetime(), ...figures }))
    .describe("Steps without calls are left out."),
  total: component("LatencyFigures", figures),
});

export type LatencyRequest = z.output<typeof latencyQuery>;
