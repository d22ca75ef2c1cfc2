// One operation of the public interface as data: the source of the OpenAPI document and of the readable page.

import type { z } from "zod";
import type { ErrorCode } from "../../errors.ts";
import type { Route } from "../route.ts";

export type Tag =
  | "Chat"
  | "Responses"
  | "Embeddings"
  | "Files"
  | "Models"
  | "Tasks"
  | "Jobs"
  | "Keys"
  | "Providers"
  | "Service";

export interface Operation {
  /** Generated clients name their function after it. */
  readonly id: string;
  readonly method: Route["method"];
  /** As the route table spells it, so that the two can be compared. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly key: Route["key"];
  readonly parameters?: readonly Parameter[];
  readonly request?: z.ZodType;
  /** `application/json` when absent. */
  readonly requestType?: "multipart/form-data";
  readonly responses: readonly OperationResponse[];
  readonly errors: readonly ErrorCode[];
  /** Where errors have a form of their own. */
  readonly errorSchema?: z.ZodType;
  /** Where that form has other statuses than the catalogue. */
  readonly toErrorStatus?: (status: number) => number;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly schema: z.ZodType;
}

/** Several with one status are one response with several content types. */
export interface OperationResponse {
  readonly status: number;
  readonly description: string;
  /** Absent: no body, unless `contentType` is given. */
  readonly schema?: z.ZodType;
  /** `application/json` when absent. */
  readonly contentType?: string;
  readonly headers?: readonly ResponseHeader[];
}

export type ResponseHeader = "etag" | "cache-control";
