// What an endpoint is to the door: one row of the route table, and the call that it answers.

import type { Caller } from "../access/caller.ts";
import type { Trace } from "../inference/trace.ts";
import type { JsonBody } from "./read-body.ts";
import type { Reply } from "./reply.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface Route {
  readonly method: Method;
  /** Segments in braces are parameters: `/v3/manage/keys/{key_id}`. */
  readonly path: string;
  /** Which kind of key opens it. Sandbox keys open what inference keys open. */
  readonly key: "none" | "inference" | "management";
  /**
   * Reads and checks the body as JSON; `optional-json` takes none at all too. A `form` is read by the endpoint, with clocks of its
   * own. Without it no body byte is read.
   */
  readonly body?: "json" | "optional-json" | "form";
  /** How errors are told: `messages` for clients of Anthropic's format; else both usual forms. */
  readonly errors?: "messages";
  /** Asked every few seconds by load balancers: its requests are logged at the level `debug`. */
  readonly isProbe?: true;
  /** A text is the JSON of a good answer. Throws a GatewayError or ValidationError when the call cannot be answered. */
  readonly run: (call: Call) => Reply | string | Promise<Reply | string>;
}

export interface Call {
  readonly request: Request;
  /** Scheme, host and port that the request was sent to, as its sender sees them. Throws 400 when there is no Host header. */
  readonly origin: string;
  readonly requestId: string;
  readonly method: Method | "HEAD";
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Null only on routes whose key is "none". */
  readonly caller: Caller | null;
  /** Null on routes without `body`, and where an optional one did not come. */
  readonly body: JsonBody | null;
  readonly trace: Trace;
}
