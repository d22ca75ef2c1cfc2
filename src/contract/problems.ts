// Problems of a value in the form that FastAPI clients know: `loc`, `msg`, and pydantic's names of the `type`.

import { z } from "zod";
import { type Problem, ProblemList } from "../errors.ts";
import { findNearest } from "../lib/find-nearest.ts";
import { lookUp } from "../lib/look-up.ts";

type Issue = z.core.$ZodIssue;

/** In a check or transformation of a schema: reports a problem of the value. */
export function refuse(context: z.core.$RefinementCtx, type: string, message: string): never {
  context.addIssue({ code: "custom", message, params: { type } });
  return z.NEVER;
}

/** The same for `check`. */
export function addProblem(
  payload: z.core.ParsePayload,
  type: string,
  message: string,
  path: (string | number)[] = [],
): void {
  payload.issues.push({ code: "custom", input: payload.value, message, params: { type }, path });
}

/** Checks a value, and throws all its problems together. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, root = "body"): T {
  const result = check(schema, value);
  if (result.success) return result.data;
  const list = new ProblemList();
  for (const [index, issue] of result.issues.entries()) {
    if (list.isFull) {
      list.leaveOut(result.issues.length - index);
      break;
    }
    for (const problem of toProblems(issue, [root], value)) list.add(problem);
  }
  if (!result.isComplete) list.add(furtherProblems(root));
  list.throwIfAny();
  throw new TypeError("a value without problems was refused");
}

/** Above this number of values, each of which may have several problems, the check ends with the first one. */
const maxValuesForAllProblems = 5_000;

type Checked<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly issues: readonly Issue[]; readonly isComplete: boolean };

/** The library's own `validate` uses this option; it is exported as internal, and test/contract/problems.test.ts fails when it has no effect. */
const upToFirstProblem: z.core.ParseContextInternal<Issue> = { abortEarly: true };

/** The work of finding problems is bounded: a large value is checked up to its first problem only. */
export function check<T>(schema: z.ZodType<T>, value: unknown): Checked<T> {
  const first = schema.safeParse(value, upToFirstProblem);
  if (first.success) return first;
  const isComplete = hasFewerValues(value, maxValuesForAllProblems);
  const all = isComplete ? schema.safeParse(value) : first;
  return { success: false, issues: (all.success ? first : all).error?.issues ?? [], isComplete };
}

function furtherProblems(root: string): Problem {
  const msg = "There may be more problems: of a body of this size only the first is listed";
  return { loc: [root], msg, type: "problems_left_out" };
}

function hasFewerValues(value: unknown, most: number): boolean {
  let left = most;
  const count = (one: unknown): boolean => {
    if (--left <= 0) return false;
    return typeof one !== "object" || one === null || Object.values(one).every(count);
  };
  return count(value);
}

const notInteger = "Input should be a valid integer";

const notPermitted = "Extra inputs are not permitted";
const maxSuggestions = 100;
const maxMisspellingLength = 64;

/** An object without other members. The problem of an unknown member names the most similar known one. */
export function closedObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const names = Object.keys(shape);
  const suggest = (key: string) => {
    const nearest = findNearest(key.slice(0, maxMisspellingLength), names);
    return nearest === null ? notPermitted : `${notPermitted}; the nearest known name is '${nearest}'`;
  };
  return z.strictObject(shape, {
    // One line for each key, in their order.
    error: (issue) =>
      issue.code === "unrecognized_keys" ? issue.keys.slice(0, maxSuggestions).map(suggest).join("\n") : undefined,
  });
}

/** A record whose entries are counted before each of them is checked. */
export function limitedRecord<Key extends z.ZodType<string, string>, Value extends z.ZodType>(
  keyType: Key,
  valueType: Value,
  maxPairs: number,
): z.ZodRecord<Key, Value> {
  return new LimitedRecord({ type: "record", keyType, valueType, maxPairs }) as unknown as z.ZodRecord<Key, Value>;
}

interface LimitedRecordDef extends z.core.$ZodRecordDef {
  readonly maxPairs: number;
}

const LimitedRecord = z.core.$constructor<z.ZodRecord, LimitedRecordDef>("LimitedRecord", (record, def) => {
  z.ZodRecord.init(record, def);
  const parsePairs = record._zod.parse;
  record._zod.parse = (payload, context) => {
    const { value } = payload;
    if (typeof value !== "object" || value === null || Object.keys(value).length <= def.maxPairs)
      return parsePairs(payload, context);
    addProblem(payload, "too_long", `Input should have at most ${def.maxPairs} items`);
    return payload;
  };
});

/** An integer that is reported as such for a text too: by default zod asks only for a number. */
export const wholeNumber = z.int({ error: notInteger });

const typeNames: Readonly<Record<string, readonly [type: string, msg: string]>> = {
  string: ["string_type", "Input should be a valid string"],
  int: ["int_type", notInteger],
  number: ["float_type", "Input should be a valid number"],
  boolean: ["bool_type", "Input should be a valid boolean"],
  array: ["list_type", "Input should be a valid list"],
  object: ["model_attributes_type", "Input should be a valid object"],
  record: ["dict_type", "Input should be a valid dictionary"],
  null: ["none_required", "Input should be null"],
};

function toProblems(issue: Issue, base: readonly (string | number)[], value: unknown): Problem[] {
  const loc = [...base, ...(issue.path as (string | number)[])];
  const found = valueAt(value, issue.path);
  const problem = (type: string, msg: string): Problem[] => [{ loc, msg, type }];

  switch (issue.code) {
    case "invalid_type": {
      if (found === undefined) return problem("missing", "Field required");
      if (issue.expected === "number" && typeof found === "number")
        return problem("finite_number", "Input should be a finite number");
      const expected = issue.message === notInteger ? "int" : issue.expected;
      if (expected === "int" && typeof found === "number")
        return problem("int_from_float", "Input should be a valid integer, got a number with a fractional part");
      const [type, msg] = lookUp(typeNames, expected) ?? ["value_error", `Input should be ${issue.expected}`];
      return problem(type, msg);
    }
    case "too_big":
    case "too_small":
      return problem(...outOfBounds(issue));
    case "invalid_format":
      if (issue.format === "uuid") return problem("uuid_parsing", "Input should be a valid UUID");
      if (issue.format === "datetime")
        return problem("datetime_parsing", "Input should be a valid ISO 8601 date and time");
      // zod's message shows the regular expression, which helps a caller little. A schema may have a better message.
      return problem(
        "string_pattern_mismatch",
        issue.message.startsWith("Invalid") ? "String should match the documented form" : issue.message,
      );
    case "invalid_value": {
      if (found === undefined) return problem("missing", "Field required");
      if (typeof found !== "string" && issue.values.every((allowed) => typeof allowed === "string"))
        return problem(...(typeNames["string"] as [string, string]));
      return problem(
        "literal_error",
        `Input should be ${issue.values.map((allowed) => `'${String(allowed)}'`).join(" or ")}`,
      );
    }
    case "invalid_union":
      return unionProblems(issue, loc, found);
    case "unrecognized_keys": {
      const lines = issue.message.startsWith(notPermitted) ? issue.message.split("\n") : [];
      return issue.keys.map((key, index) => ({
        loc: [...loc, key],
        msg: lines[index] ?? notPermitted,
        type: "extra_forbidden",
      }));
    }
    case "invalid_key":
    case "invalid_element":
      return issue.issues.flatMap((inner) => toProblems({ ...inner, path: [] } as Issue, loc, found));
    case "custom": {
      const type = issue.params?.["type"];
      return problem(typeof type === "string" ? type : "value_error", issue.message);
    }
    case "not_multiple_of":
      return problem("int_from_float", "Input should be a valid integer, got a number with a fractional part");
  }
}

function outOfBounds(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): [type: string, msg: string] {
  const [limit, length, most, than] =
    issue.code === "too_big" ? [issue.maximum, "long", "most", "less"] : [issue.minimum, "short", "least", "greater"];
  if (issue.origin === "string") return [`string_too_${length}`, `String should have at ${most} ${limit} characters`];
  if (issue.origin !== "number" && issue.origin !== "int")
    return [`too_${length}`, `Input should have at ${most} ${limit} items`];
  return issue.inclusive === false
    ? [`${than}_than`, `Input should be ${than} than ${limit}`]
    : [`${than}_than_equal`, `Input should be ${than} than or equal to ${limit}`];
}

/** Reports the problems of the branch that has the value's type, otherwise of the first branch. */
function unionProblems(
  issue: z.core.$ZodIssueInvalidUnion,
  loc: readonly (string | number)[],
  found: unknown,
): Problem[] {
  if (issue.errors.length === 0) {
    // A discriminated union without a branch for this value: the issue's path ends in the discriminator.
    if (found === undefined) return [{ loc, msg: "Field required", type: "missing" }];
    if (typeof found !== "string") return [{ loc, msg: "Input should be a valid string", type: "string_type" }];
    return [{ loc, msg: "Input should be one of the documented values", type: "literal_error" }];
  }
  const isOtherType = (inner: Issue) => inner.path.length === 0 && inner.code === "invalid_type";
  const meant = issue.errors.find((issues) => !issues.some(isOtherType)) ?? issue.errors[0] ?? [];
  return meant.flatMap((inner) => toProblems(inner, loc, found));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found: unknown = value;
  for (const step of path) {
    if (found === null || typeof found !== "object") return undefined;
    // Own members only: every object has a `constructor`.
    found = Object.hasOwn(found, step) ? (found as Record<PropertyKey, unknown>)[step] : undefined;
  }
  return found;
}
