// The models that a key and its team allow.

import { includesCall } from "../access/call-pattern.ts";
import type { Caller } from "../access/caller.ts";
import { GatewayError } from "../errors.ts";

export interface NamedModel {
  /** The member that names the model. */
  readonly param?: string;
  /** Follows the name of the model in the message. */
  readonly hint?: string;
}

/**
 * Throws 403 unless each list of the caller has a pattern that one of the names of the model fits. `listOtherNames`: the names besides the written
 * one under which the same provider would serve the request; it is not called while the written name suffices.
 */
export function refuseForbidden(
  allowedModels: NonNullable<Caller["allowedModels"]>,
  name: string,
  listOtherNames: () => readonly string[],
  { param = "model", hint = "" }: NamedModel = {},
): void {
  const includes = (patterns: readonly string[], names: readonly string[]) =>
    patterns.some((pattern) => names.some((one) => includesCall(pattern, one)));
  const unfit = allowedModels.filter((patterns) => !includes(patterns, [name]));
  if (unfit.length === 0) return;
  const otherNames = listOtherNames();
  if (unfit.every((patterns) => includes(patterns, otherNames))) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${name}'${hint}.`, { param });
}
