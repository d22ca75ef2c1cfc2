import type { RequestContext } from "../inference/request-context.ts";
import type { Call } from "./route.ts";

/** A call with a key, whatever else its route declares. */
export type KeyedCall = Pick<
  Call<"inference">,
  "caller" | "request" | "requestId" | "trace" | "wantsMetadata" | "searchParams"
>;

export function contextOf({ caller, request, requestId, trace, wantsMetadata }: KeyedCall): RequestContext {
  return { caller, connection: request, requestId, trace, wantsMetadata };
}
