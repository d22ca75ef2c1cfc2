// The kinds of values in the configuration. A value is a text when it comes from the environment or from `${VARIABLE}`, so each kind
// reads texts as well. Messages complete the name of the setting: "port: should be …, and is '…'".

import { z } from "zod";
import { messageOf } from "../errors.ts";
import { suggest } from "../lib/find-nearest.ts";
import { isObject } from "../lib/lenient-json.ts";

export function text(schema: z.ZodType<string, string> = z.string()) {
  return z.preprocess(toText, schema);
}

export function whole(least: number, most: number) {
  const message = expected(`a whole number from ${least} to ${most}`);
  const toNumber = (value: unknown) => (/^\d+$/.test(String(value)) ? Number(value) : value);
  return z.preprocess(toNumber, z.int(message).min(least, message).max(most, message));
}

export function yesOrNo() {
  const toBoolean = (value: unknown) => (value === "true" ? true : value === "false" ? false : value);
  return z.preprocess(toBoolean, z.boolean(expected("true or false")));
}

/** A list in the file, or a text with commas. */
export function list() {
  const toList = (value: unknown) =>
    toText(value)
      .split(",")
      .map((element) => element.trim())
      .filter((element) => element !== "");
  return z.preprocess(toList, z.array(z.string()));
}

export function oneOf<const T extends string>(...allowed: readonly T[]) {
  return z.enum(allowed, expected(`one of ${allowed.join(", ")}`));
}

/** Null when it is unset. */
export function optional<T extends z.ZodType>(schema: T) {
  return schema.nullable().default(() => null);
}

/** The message for a value that does not have the form. */
export function expected(form: string, { isSecret = false } = {}) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      `should be ${form}, and is ${input === null ? "empty" : isSecret ? `of type ${typeOf(input)}` : `'${toText(input)}'`}`,
  };
}

/** Reports the message of the error that `read` throws. */
export function readableBy<T>(read: (value: T) => unknown) {
  return (value: T, context: z.RefinementCtx) => {
    try {
      read(value);
    } catch (error) {
      context.addIssue(messageOf(error));
    }
  };
}

/**
 * An object without other members. Its message for unknown members has one line per member, in their order, with the remedy that
 * `findRemedy` knows, or else the most similar name.
 */
export function closedObject<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  message: string,
  findRemedy: (name: string) => string | null = () => null,
) {
  const known = Object.keys(shape);
  const refuse = (name: string) => `unknown member '${name}'${findRemedy(name) ?? suggest(name, known)}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === "unrecognized_keys" ? issue.keys.map(refuse).join("\n") : message),
  });
}

export interface PathIssue {
  readonly path: string;
  readonly message: string;
}

/** One line per problem, each with the path of the member to correct. */
export function toPathIssues(issue: z.core.$ZodIssue, parents: readonly PropertyKey[] = []): PathIssue[] {
  const steps = [...parents, ...issue.path];
  const path = steps.join(".");
  if (issue.code === "unrecognized_keys") {
    const messages = issue.message.split("\n");
    return issue.keys.map((key, index) => ({ path: [...steps, key].join("."), message: messages[index] ?? "" }));
  }
  if (issue.code !== "invalid_union") return [{ path, message: issue.message }];
  // The alternative that accepts the type of the value has found the problem further inside.
  const meant = issue.errors.find((issues) => issues.every((inner) => inner.path.length > 0 || isUnknownMember(inner)));
  return meant?.flatMap((inner) => toPathIssues(inner, steps)) ?? [{ path, message: issue.message }];
}

function isUnknownMember({ code }: z.core.$ZodIssue): boolean {
  return code === "unrecognized_keys";
}

function toText(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : String(value);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}
