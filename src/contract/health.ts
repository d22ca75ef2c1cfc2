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
  component: z.enum(["store", "provider"]),
  name: z.string().describe("`store`, or the provider's name."),
  reason: z.string(),
});

export const readiness = z.object({
  status: z.enum(["ok", "degraded"]).describe("`degraded`: requests are served, but a component is impaired."),
  degraded: z.array(degradation).optional().describe("With `?verbose`: the impaired components."),
});

export type Degradation = z.infer<typeof degradation>;
