// What the routes in OpenAI's shapes over tasks have in common: how an engine is named, and the gateway's own members.

import { z } from "zod";
import { createGatewayMembers } from "./chat-completions.ts";

const provider = "[a-z0-9_][a-z0-9_-]*";
const part = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.:@+~=-]+";

const modelNote = "`<provider>/<model>`, `<provider>` for its usual one, or an alias that the operator declared";

export const providerParams = z
  .record(z.string(), z.unknown())
  .nullish()
  .meta({ description: "Merged into the vendor's call" });

/** As task models are named, without the task: the route says which one it is. */
export function createEngineModelName(aliases: ReadonlySet<string>): z.ZodString {
  const declared = [...aliases].map((alias) => `|${RegExp.escape(alias)}`).join("");
  return z
    .string()
    .max(256)
    .regex(new RegExp(`^(?:${provider}(?:/${part})*${declared})$`), "String should be <provider> or <provider>/<model>")
    .meta({ description: modelNote, examples: ["local", "sandbox/ok"] });
}

export function createEngineMembers(aliases: ReadonlySet<string>) {
  const model = createEngineModelName(aliases);
  const { fallbacks, tags, strict_parameters } = createGatewayMembers(model);
  return { model, fallbacks, provider_params: providerParams, tags, strict_parameters };
}

export const engineMemberNames: readonly string[] = Object.keys(createEngineMembers(new Set()));

/** What the gateway adds to every answer of these routes. */
export const answerMembers = {
  provider: z.string(),
  cost: z.number().nullable().meta({ description: "USD; null when the price is not known" }),
  cost_reason: z.string().optional().meta({ description: "Why the cost is not known" }),
  provider_time: z.number().meta({ description: "Seconds that the provider took" }),
};
