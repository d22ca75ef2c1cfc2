// The bodies of errors. Each has two forms at once: `error` for OpenAI clients and `detail` for FastAPI clients. The names of the
// components are those that generators of FastAPI clients expect.

import { z } from "zod";
import { component } from "./component.ts";

const errorObject = component("ErrorObject", {
  message: z.string().describe("What was wrong and what to do, for people."),
  type: z.string().describe("The family of the error."),
  param: z.string().nullable().describe("The member or parameter at fault, when there is one."),
  code: z.string().describe("What happened, for programs. The codes are listed under Error codes."),
});

export const errorBody = component("Error", {
  error: errorObject,
  detail: z.string().describe("The same text as `error.message`."),
});

const problem = component("ValidationError", {
  loc: z
    .array(z.union([z.string(), z.int()]))
    .describe("Where: `body`, `query`, `path` or `header`, then the path to the member."),
  msg: z.string(),
  type: z.string().describe("`missing`, `string_type`, `less_than_equal`, `json_invalid` ..."),
});

export const validationErrorBody = component("HTTPValidationError", {
  error: errorObject.describe("The first problem, in the form of every other error."),
  detail: z.array(problem).describe("Every problem of the request."),
});
