// The members `providers` and `aliases` of switchyard.yaml. Which providers and dialects exist is checked where the providers are built.

import { z } from "zod";
import type { AliasTarget } from "../contract/model-names.ts";
import { tasks } from "../contract/tasks.ts";
import { suggest } from "../lib/find-nearest.ts";
import { closedObject, expected } from "./schema-parts.ts";

const webAddress = /^https?:\/\/[^/?#\s]+[^?#\s]*$/;
const taskNames: readonly string[] = tasks.map(({ name }) => name);
const word = () => z.string(expected("a text"));
const weight = () => {
  const message = expected("a number above 0 and up to 1000000");
  return z.number(message).gt(0, message).max(1_000_000, message);
};

const deploymentShape = {
  base_url: z
    .string(expected("an address such as https://example.com/v1, without a query"))
    .regex(webAddress, expected("an address such as https://example.com/v1, without a query"))
    .exactOptional()
    .describe("Address of the provider's API."),
  api_key: z
    .string(expected('a text such as "${OPENAI_API_KEY}"', { isSecret: true }))
    .exactOptional()
    .describe("Key of the provider. A variable that is not set leaves the provider unconfigured."),
  models: z
    .array(z.string(expected("the name of a model")), expected("a list of model names such as [gpt-5, gpt-5-mini]"))
    .exactOptional()
    .describe("Models for `/v3/models`; callers may use other models as well."),
  headers: z
    .record(
      z.string(),
      z.string(expected("a text", { isSecret: true })),
      expected('names with texts such as { x-team: "a" }', { isSecret: true }),
    )
    .exactOptional()
    .describe("Headers that the gateway adds to every call."),
};

const deployment = closedObject(
  {
    ...deploymentShape,
    name: z
      .string(expected("a text"))
      .regex(/^[A-Za-z0-9._-]{1,64}$/, expected("1 to 64 letters, digits, dots, hyphens and underscores"))
      .exactOptional()
      .describe("Name of the deployment in logs and listings."),
    weight: weight().exactOptional().describe("Share of the calls, relative to the other deployments."),
  },
  "should hold settings, such as { api_key: … }",
);

const provider = closedObject(
  {
    ...deploymentShape,
    dialect: word().exactOptional().describe("API format of the provider, such as openai or anthropic."),
    stream_usage: word().exactOptional().describe("How token usage arrives in a stream: ask, always or never."),
    stream_end: word().exactOptional().describe("What ends a complete stream: done or finish."),
    responses: word()
      .exactOptional()
      .describe(
        "Whether the provider serves the Responses API itself: native, stateless, or translated into chat completions.",
      ),
    tasks: z
      .array(
        z.enum(taskNames, { error: ({ input }) => unknownTask(String(input)) }),
        expected("a list of tasks such as [text/moderation]"),
      )
      .exactOptional()
      .describe("Tasks that the provider performs at its own task endpoint."),
    default_model: z
      .union(
        [z.string(), z.record(z.string(), word()).superRefine(refuseUnknownTasks)],
        expected("a model such as gpt-5-mini, or models by task such as { text/moderation: gpt-5-mini }"),
      )
      .exactOptional()
      .describe(
        "Model for tasks that name none: one for all tasks that chat models perform, or one per task, also of the provider's own task APIs.",
      ),
    deployments: z
      .array(deployment, "should be a list of deployments, such as [{ api_key: … }]")
      .min(1, "should be a list with at least one deployment, such as [{ api_key: … }]")
      .superRefine(refuseRepeatedNames)
      .exactOptional()
      .describe("Several addresses or keys of this provider."),
  },
  "should hold settings, such as { api_key: … }, or be false to switch the provider off",
);

export const providersSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, "a provider's name holds lower-case letters, digits and hyphens"),
    z.union([z.literal(false), z.null(), provider], {
      error: "should hold settings, such as { api_key: … }, or be false to switch the provider off",
    }),
    namesWith("should hold names with their settings, such as 'openai: { api_key: … }'"),
  )
  .default({})
  .describe("Providers by name: settings of a known provider, a provider of your own, or false to switch one off.");

/** Settings of one provider in switchyard.yaml: overrides of a known provider, or a new one. */
export type DeclaredProvider = Omit<z.output<typeof provider>, "deployments"> &
  UnsetKey & { readonly deployments?: readonly (z.output<typeof deployment> & UnsetKey)[] };

interface UnsetKey {
  /** The variable that `api_key` names and that is not set. */
  readonly unset_key?: string;
}

const targetForm = "should be <provider>/<model>, a list of them, or a list of { model, weight }";
const modelName = z.string().regex(/^[^/]+\/.+$/, "should be <provider>/<model>");
const target = z.union(
  [
    modelName.transform((model): AliasTarget => ({ model, weight: null })),
    closedObject({ model: modelName, weight: weight().nullable().default(null) }, targetForm),
  ],
  targetForm,
);

export const aliasesSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9_.:@+~=-]{1,128}$/, "an alias's name holds no slash or space"),
    z.union([target.transform((one): AliasTarget[] => [one]), z.array(target).min(1, targetForm)], targetForm),
    namesWith("should hold names with their models, such as 'fast: groq/llama-3.3-70b-versatile'"),
  )
  .default({})
  .describe("Names that callers may use for one model, for several in order, or for several with weights.");

/** The messages of a record: one for a value that is no record, and the name's own for a name. */
function namesWith(message: string) {
  return {
    error: (issue: z.core.$ZodRawIssue) =>
      issue.code === "invalid_key" ? (issue.issues as z.core.$ZodIssue[])[0]?.message : message,
  };
}

function refuseUnknownTasks(models: Readonly<Record<string, string>>, context: z.RefinementCtx): void {
  for (const task of Object.keys(models))
    if (!taskNames.includes(task)) context.addIssue({ code: "custom", path: [task], message: unknownTask(task) });
}

function unknownTask(task: string): string {
  return `there is no task '${task}'${suggest(task, taskNames, Number.POSITIVE_INFINITY)}`;
}

function refuseRepeatedNames(deployments: readonly { readonly name?: string }[], context: z.RefinementCtx): void {
  const names = deployments.map(({ name }) => name);
  for (const [index, name] of names.entries())
    if (name !== undefined && names.indexOf(name) < index)
      context.addIssue({
        code: "custom",
        path: [index, "name"],
        message: `'${name}' is used twice; give each deployment a name of its own`,
      });
}
