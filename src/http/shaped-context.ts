import type { ShapedContext } from "../inference/universal-ai/shaped-task.ts";
import { requireCaller } from "./require-caller.ts";
import type { Call } from "./route.ts";
import { wantsMetadata } from "./wants-metadata.ts";

/** What a task in another shape needs to know of the call. `publicUrl`: where callers reach the gateway, when the operator says so. */
export function toShapedContext(call: Call, publicUrl: string | null): ShapedContext {
  const { request, requestId, caller, trace } = call;
  return {
    caller: requireCaller(caller, "universal"),
    connection: request,
    requestId,
    trace,
    wantsMetadata: wantsMetadata(request.headers),
    baseUrl: publicUrl ?? call.origin,
  };
}
