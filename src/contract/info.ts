// The feature listing: features, their tasks, and the offers for each task with their prices.

import { z } from "zod";
import { component } from "./component.ts";

const taskPricing = component("TaskPricing", {
  price: z.number().describe("USD for `price_unit_quantity` units."),
  output_price: z
    .optional(z.number())
    .describe("USD for the same number of output tokens, if `price` applies to input tokens only."),
  price_unit_quantity: z.number(),
  price_unit_type: z.string().describe("The unit: `char`, `page`, `image`, `second`, `token`, `request` ..."),
});

const taskModel = component("TaskModel", {
  model: z.string().describe("What a request names as `model`: `<feature>/<subfeature>/<provider>[/<model>]`."),
  provider: z.string(),
  default_model: z
    .string()
    .nullable()
    .describe(
      "The provider's model that performs the task when a request names only the provider; some inputs need another " +
        "one. Null: the provider offers no choice, or chooses the model itself.",
    ),
  pricing: taskPricing.nullable().describe("Null: the price is not known."),
  mode: z.enum(["sync", "async"]).describe("`async`: runs as a job only."),
  configured: z.boolean().describe("Whether this gateway can call it now."),
});

const names = { name: z.string(), fullname: z.string(), description: z.string() };

const subfeature = component("Subfeature", {
  ...names,
  configured: z.boolean().describe("Whether at least one of its models can be called now."),
  models: z.array(taskModel),
});

export const subfeatureDetail = subfeature
  .extend({
    feature: z.string(),
    input_schema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12 of `input`."),
    output_schema: z.record(z.string(), z.unknown()).describe("JSON Schema 2020-12 of `output`."),
  })
  .meta({ id: "SubfeatureDetail" });

export const feature = component("Feature", {
  ...names,
  configured: z.boolean().describe("Whether at least one of its subfeatures can be called now."),
  subfeatures: z.array(subfeature),
});

export const featureList = component("FeatureList", { features: z.array(feature) });

export const featureParams = z.object({ feature: z.string().describe("The feature's name, such as `text`.") });

export const subfeatureParams = featureParams.extend({
  subfeature: z.string().describe("The task's name, such as `moderation`."),
});

export type TaskPricing = z.infer<typeof taskPricing>;
export type TaskModel = z.infer<typeof taskModel>;
export type Subfeature = z.infer<typeof subfeature>;
export type SubfeatureDetail = z.infer<typeof subfeatureDetail>;
export type Feature = z.infer<typeof feature>;
export type FeatureList = z.infer<typeof featureList>;
