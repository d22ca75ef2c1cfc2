import type { Caller } from "../access/caller.ts";
import type { Trace } from "../inference/trace.ts";
import type { Call } from "./route.ts";

interface CallContext {
  readonly caller: Caller;
  readonly connection: Request;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
}

/** A call with a key, whatever else its route declares. */
export type KeyedCall = Pick<
  Call<"inference">,
  "caller" | "request" | "requestId" | "trace" | "wantsMetadata" | "searchParams"
>;

/** What every function of `inference` needs to know about a call. */
export function contextOf(call: KeyedCall): CallContext {
  const { caller, request, requestId, trace, wantsMetadata } = call;
  return { caller, connection: request, requestId, trace, wantsMetadata };
}
