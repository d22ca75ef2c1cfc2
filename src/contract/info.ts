// The feature listing: features, their tasks, and who serves each task at what price.

import { z } from "zod";

export const taskPricing = z.object({
  price: z.number().describe("USD for `price_unit_quantity` units."),
  output_price: z
    .number()
    .optional()
    .describe("USD for as many tokens of the answer, where `price` is that of the tokens of the request."),
  price_unit_quantity: z.number(),
  price_unit_type: z.string().describe("What is counted: `char`, `page`, `image`, `second`, `token`, `request` ..."),
});

export const taskModel = z.object({
  model: z.string().describe("What a request names as `model`: `<feature>/<subfeature>/<provider>[/<model>]`."),
  provider: z.string(),
  default_model: z
    .string()
    .nullable()
    .describe(
      "The provider's model that does the task when a request names the provider alone. Null: it has no choice of models, or chooses itself.",
    ),
  pricing: taskPricing.nullable().describe("Null: the price is not known."),
  mode: z.enum(["sync", "async"]).describe("`async`: runs as a job only."),
  configured: z.boolean().describe("Whether this gateway can call it now."),
});

export const subfeature = z.object({
  name: z.string(),
  fullname: z.string(),
  description: z.string(),
  configured: z.boolean().describe("Whether at least one of its models can be called now."),
  models: z.array(taskModel),
});

export const subfeatureDetail = subfeature.extend({
  feature: z.string(),
  input_schema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12 of `input`."),
  output_schema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12 of `output`."),
});

export const feature = z.object({
  name: z.string(),
  fullname: z.string(),
  description: z.string(),
  configured: z.boolean().describe("Whether at least one of its subfeatures can be called now."),
  subfeatures: z.array(subfeature),
});

export const featureList = z.object({ features: z.array(feature) });

export type TaskPricing = z.infer<typeof taskPricing>;
export type TaskModel = z.infer<typeof taskModel>;
export type Subfeature = z.infer<typeof subfeature>;
export type SubfeatureDetail = z.infer<typeof subfeatureDetail>;
export type Feature = z.infer<typeof feature>;
export type FeatureList = z.infer<typeof featureList>;
