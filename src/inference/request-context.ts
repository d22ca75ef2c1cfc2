// What every request to a provider carries along, whatever its format.

import type { Caller } from "../access/caller.ts";
import type { JsonScan } from "../lib/json-scan.ts";
import type { Connection } from "../providers/call.ts";
import type { Trace } from "./trace.ts";

export interface RequestContext {
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  /** The caller asked for the `switchyard` member. */
  readonly wantsMetadata: boolean;
}

/** A request whose body is JSON. */
export interface JsonRequest<Body> extends RequestContext {
  /** The body as its schema returns it. */
  readonly request: Body;
  /** The body as it was received. */
  readonly text: string;
  readonly scan: JsonScan;
}
