// How models are named: `<provider>/<model>`, and for tasks `<feature>/<subfeature>/<provider>[/<model>]`.

import { z } from "zod";

const maxModelName = 256;
// Identifiers are ASCII; no part may be a dot segment, because some vendors have the model in their path.
const provider = "[a-z0-9_][a-z0-9_-]*";
const part = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.:@+~=-]+";

/** A name without a slash is an alias: it has to be one that the operator declared. */
export function createModelName(aliases: ReadonlySet<string>): z.ZodString {
  return z
    .string()
    .max(maxModelName)
    .regex(toPattern(aliases), "String should be <provider>/<model>")
    .meta({ description: "`<provider>/<model>`, or an alias that the operator declared", examples: ["sandbox/echo"] });
}

/** What the schema says of a name, without the schema. */
export function createModelNameTest(aliases: ReadonlySet<string>): (name: string) => boolean {
  const pattern = toPattern(aliases);
  return (name) => name.length <= maxModelName && pattern.test(name);
}

function toPattern(aliases: ReadonlySet<string>): RegExp {
  const declared = [...aliases].map((alias) => `|${RegExp.escape(alias)}`).join("");
  return new RegExp(`^(?:${provider}(?:/${part})+${declared})$`);
}

export function createTaskModelName(aliases: ReadonlySet<string>): z.ZodString {
  const declared = [...aliases].map((alias) => `|${RegExp.escape(alias)}`).join("");
  return z
    .string()
    .max(maxModelName)
    .regex(
      new RegExp(`^(?:[a-z0-9_]+/[a-z0-9_]+/${provider}(?:/${part})*${declared})$`),
      "String should be <feature>/<subfeature>/<provider>[/<model>]",
    )
    .meta({ description: "`<feature>/<subfeature>/<provider>[/<model>]`, or an alias that the operator declared" });
}
