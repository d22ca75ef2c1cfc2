// /v3/universal-ai and /v3/universal-ai/async. This version checks requests; no provider of it serves a task, and the answer
// says which part of the name is not known.

import { parse } from "../../contract/problems.ts";
import { findTask, tasks } from "../../contract/tasks.ts";
import { asyncJobRequest, universalAiRequest } from "../../contract/universal-ai.ts";
import { GatewayError } from "../../errors.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";

export function universalAiRoutes(): Route[] {
  function run(schema: typeof universalAiRequest | typeof asyncJobRequest) {
    return ({ body, caller }: Call): never => {
      const { model } = parse(schema as typeof universalAiRequest, body?.value);
      requireCaller(caller, "universal");
      throw notServed(model);
    };
  }
  return [
    { method: "POST", path: "/v3/universal-ai", key: "inference", body: "json", run: run(universalAiRequest) },
    { method: "POST", path: "/v3/universal-ai/async", key: "inference", body: "json", run: run(asyncJobRequest) },
  ];
}

function notServed(model: string): GatewayError {
  const [feature = "", subfeature = "", provider = ""] = model.split("/");
  const details = { param: "model" };
  if (!tasks.some((task) => task.feature === feature))
    return new GatewayError("feature_not_found", `There is no feature '${feature}'.`, details);
  if (findTask(feature, subfeature) === undefined)
    return new GatewayError("subfeature_not_found", `'${feature}' has no subfeature '${subfeature}'.`, details);
  return new GatewayError(
    "provider_not_found",
    `No provider '${provider}' serves ${feature}/${subfeature} here.`,
    details,
  );
}
