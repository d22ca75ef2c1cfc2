// The member `defaults` of switchyard.yaml: the limits of new keys and teams. The schemas of the API check it, so its problems are worded as
// there.

import { z } from "zod";
import { type LimitDefaults, limitDefaults } from "../contract/limits.ts";
import { closedObject, parse } from "../contract/problems.ts";
import { ValidationError } from "../errors.ts";
import { isObject } from "../lib/lenient-json.ts";

export interface Defaults {
  readonly key: LimitDefaults;
  readonly team: LimitDefaults;
}

/** As the JSON Schema of the file describes it. */
export const writtenDefaults = closedObject({
  key: limitDefaults.nullish().describe("Limits of new keys that call models."),
  team: limitDefaults.nullish().describe("Limits of new teams."),
}).describe("Limits of new keys and teams whose request does not name them; null in a request means none.");

export const defaultsSchema = z
  .unknown()
  .transform((written, context): Defaults => {
    try {
      const { key, team } = parse(writtenDefaults, readNumbers(written));
      return { key: key ?? {}, team: team ?? {} };
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      for (const { loc, msg } of error.problems) context.addIssue({ code: "custom", path: loc.slice(1), message: msg });
      return z.NEVER;
    }
  })
  .prefault({})
  .describe(writtenDefaults.description ?? "");

const numbers: ReadonlySet<string> = new Set([
  "amount",
  "requests_per_second",
  "requests_per_minute",
  "tokens_per_minute",
  "concurrent_requests",
]);

/** A number that comes from a variable of the environment is a text. */
function readNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === "tags") return [name, inner];
      const isNumber = numbers.has(name) && typeof inner === "string" && /^\d+(?:\.\d+)?$/.test(inner);
      return [name, isNumber ? Number(inner) : readNumbers(inner)];
    }),
  );
}
