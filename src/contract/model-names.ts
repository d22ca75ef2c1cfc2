// How models are named: `<provider>/<model>`; for tasks `<feature>/<subfeature>/<provider>[/<model>]`; on routes of one task
// `<provider>[/<model>]`. A name of another form is an alias, and has to be declared by the operator.

import { z } from "zod";

/** One model of an alias. Without weights the models are tried in their order. */
export interface AliasTarget {
  readonly model: string;
  readonly weight: number | null;
}

const maxModelName = 256;
// Identifiers are ASCII; no part may be a dot segment, because some vendors have the model in their path.
const provider = "[a-z0-9_][a-z0-9_-]*";
const part = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.:@+~=-]+";
const chatModel = `${provider}(?:/${part})+`;
const taskModel = `[a-z0-9_]+/[a-z0-9_]+/${provider}(?:/${part})*`;
const engineModel = `${provider}(?:/${part})*`;

export function createModelName(aliases: ReadonlySet<string>): z.ZodString {
  return createName(chatModel, aliases, "String should be <provider>/<model>").meta({
    description: "`<provider>/<model>`, or an alias that the operator declared.",
    examples: ["sandbox/echo"],
  });
}

/** The same rule as `createModelName`, without the cost of a schema. */
export function createModelNameTest(aliases: ReadonlySet<string>): (name: string) => boolean {
  const pattern = toPattern(chatModel, aliases);
  return (name) => name.length <= maxModelName && pattern.test(name);
}

export function createTaskModelName(aliases: ReadonlySet<string>): z.ZodString {
  return createName(taskModel, aliases, "String should be <feature>/<subfeature>/<provider>[/<model>]").describe(
    "`<feature>/<subfeature>/<provider>[/<model>]`, or an alias that the operator declared.",
  );
}

/** For routes of one task, where the name does not repeat it. */
export function createEngineModelName(aliases: ReadonlySet<string>): z.ZodString {
  return createName(engineModel, aliases, "String should be <provider> or <provider>/<model>").meta({
    description: "`<provider>/<model>`, `<provider>` for its default model, or an alias that the operator declared.",
    examples: ["local", "sandbox/ok"],
  });
}

function createName(form: string, aliases: ReadonlySet<string>, message: string): z.ZodString {
  // The OpenAPI document is public and must not reveal the operator's aliases.
  return z
    .string()
    .max(maxModelName)
    .regex(toPattern(form, aliases), message)
    .meta({ pattern: toPattern(form, new Set()).source });
}

function toPattern(form: string, aliases: ReadonlySet<string>): RegExp {
  const declared = [...aliases].map((alias) => `|${RegExp.escape(alias)}`).join("");
  return new RegExp(`^(?:${form}${declared})$`);
}
