// Refuses a request that would run a model which the key may not use, or whose limits the call would evade, besides the model of the request.

import { appliesTo, type LimitRule } from "../access/limit-rules.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { scanJson } from "../lib/json-scan.ts";
import type { Provider } from "../providers/configure.ts";
import { spellModel } from "../providers/model-spelling.ts";
import { findOtherModels, isContent, type OtherModel } from "../providers/other-models.ts";
import { modelNamesOf } from "../providers/provider.ts";
import { type RoutingTable, refuseForbiddenOffer } from "./offers.ts";
import type { RequestContext } from "./request-context.ts";

interface SentRequest {
  readonly context: Pick<RequestContext, "caller" | "work">;
  readonly candidate: { readonly provider: Provider; readonly model: string };
  readonly body: string | Uint8Array;
}

/** Most keys have no limits for models: their requests are not read. */
export function refuseOtherModels(
  providers: RoutingTable["providers"],
  { context, candidate, body }: SentRequest,
): void {
  const { caller, work } = context;
  if (caller.allowedModels === null && work === undefined && !caller.rules.some(isForModels)) return;
  // Only forms and requests without a body are not text.
  if (typeof body !== "string" || body === "") return;
  const { provider, model: own } = candidate;
  const ownName = `${provider.name}/${own}`;
  for (const { path, model: written } of findOtherModels(readMembers(body), provider.row.choosesModels)) {
    const model = written && spellModel(provider, written);
    if (model === own) continue;
    if (work !== undefined) throw refuseParam(path);
    const param = path.join(".");
    const name = `${provider.name}/${model ?? "*"}`;
    const hint = model === null ? `: with '${param}' the provider chooses the model, so name it instead` : "";
    if (caller.allowedModels !== null) refuseForbiddenOffer({ providers }, name, caller.allowedModels, { param, hint });
    const evaded = caller.rules.find((rule) => !appliesTo(rule, ownName) && mayLimit(rule, provider, model && name));
    if (evaded !== undefined) throw refuseEvasion(evaded, name, param);
  }
}

function isForModels({ model }: LimitRule): boolean {
  return model !== null;
}

/** The members of the body without its content, which may be long. */
function readMembers(body: string): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const { name, valueStart, valueEnd } of scanJson(body).members)
    if (!isContent(name)) read[name] = JSON.parse(body.slice(valueStart, valueEnd));
  return read;
}

/** `name` is null when the provider chooses the model: any of its models may be it. */
function mayLimit(rule: LimitRule, { row }: Provider, name: string | null): boolean {
  if (name !== null) return appliesTo(rule, name);
  return [rule.model ?? "", ...(rule.otherPatterns ?? [])].some(
    (pattern) => pattern.startsWith("*") || modelNamesOf(row).some((own) => pattern.startsWith(`${own}/`)),
  );
}

function refuseEvasion({ holder, holderName, model }: LimitRule, name: string, param: string): GatewayError {
  return new GatewayError(
    "model_not_allowed",
    `The limits of the ${holder} '${holderName}' for '${model}' cannot be applied to the model '${name}' inside a call of another model: call it by itself.`,
    { param },
  );
}

/** What a key may use and what a task costs are known from its model and its input. */
function refuseParam(path: OtherModel["path"]): ValidationError {
  return new ValidationError([
    { loc: ["body", ...path], msg: "This member cannot be overridden", type: "value_error" },
  ]);
}
