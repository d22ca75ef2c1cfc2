// GET /healthz and GET /readyz.

import { z } from "zod";

export const health = z.object({ status: z.literal("ok") });

const degradation = z.object({
  component: z.enum(["store", "provider"]),
  name: z.string().describe("`store`, or the provider's name."),
  reason: z.string(),
});

export const readiness = z.object({
  status: z
    .enum(["ok", "degraded"])
    .describe("`degraded`: requests are served, and something does not work as it should."),
  degraded: z.array(degradation).optional().describe("With `?verbose`: what does not work as it should."),
});

export type Degradation = z.infer<typeof degradation>;
