// The models that a key and its team allow.

import { includesCall } from "../access/call-pattern.ts";
import type { Caller } from "../access/caller.ts";
import { GatewayError } from "../errors.ts";

/** Throws 403 unless each list of the caller has a pattern that one of the names of the model fits. */
export function refuseForbidden({ allowedModels }: Caller, name: string, otherName = name): void {
  if (allowedModels === null) return;
  const fits = (pattern: string) => includesCall(pattern, name) || includesCall(pattern, otherName);
  if (allowedModels.every((patterns) => patterns.some(fits))) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${name}'.`, { param: "model" });
}
