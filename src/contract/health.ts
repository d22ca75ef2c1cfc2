// GET /healthz and GET /readyz.

import { z } from "zod";
import { refuse } from "./problems.ts";

export const health = z.object({ status: z.literal("ok") });

/** `?verbose` alone means true. */
export const readinessQuery = z.object({
  verbose: z
    .string()
    .transform((text, context) => {
      if (text === "" || text === "true" || text === "1") return true;
      if (text === "false") return false;
      return refuse(context, "bool_parsing", "Input should be 'true' or 'false'");
    })
    .optional()
    .meta({
      enum: ["", "true", "1", "false"],
      description: "`true`, or the name alone, adds the list of degraded components.",
    }),
});

const degradation = z.object({
  component: z
    .enum(["store", "ledger", "overload", "connections", "provider", "processes", "jobs", "engines"])
    .describe("The part of the gateway that is impaired."),
  name: z.string().optional().describe("With a management key: which one, such as the name of the provider."),
  reason: z.string().optional().describe("With a management key: what is impaired, and what that means."),
});

export const servedConfiguration = z
  .object({
    number: z.int().describe("1 for the configuration of the start; a reload counts on."),
    file: z.string().nullable().describe("The configuration file; null when all settings come from the environment."),
    read_at: z.string().describe("When the configuration was read."),
    serving_processes: z.int().describe("The number of serving processes."),
    worker_processes: z.int().describe("The number of worker processes, which run jobs."),
  })
  .describe("The configuration that answers requests.");

export const readiness = z.object({
  status: z.enum(["ok", "degraded"]).describe("`degraded`: requests are served, but a component is impaired."),
  degraded: z.array(degradation).optional().describe("With `?verbose`: the impaired components."),
  configuration: servedConfiguration
    .optional()
    .describe("With `?verbose` and a management key: the configuration that answers requests."),
});

export type Degradation = z.infer<typeof degradation>;
export type ServedConfiguration = z.infer<typeof servedConfiguration>;

/** What only the supervisor knows about its gateway. */
export interface GatewayStatus {
  readonly configuration: ServedConfiguration;
  readonly degraded: readonly Degradation[];
}
