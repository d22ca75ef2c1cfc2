// GET /v3/info, /v3/info/{feature} and /v3/info/{feature}/{subfeature}: which tasks can be done, by whom, at what price.

import type { Catalogue } from "../../catalogue/catalogue.ts";
import { features, tasks } from "../../contract/tasks.ts";
import { GatewayError } from "../../errors.ts";
import { suggest } from "../../lib/find-nearest.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Reply } from "../reply.ts";
import type { Call, Route } from "../route.ts";
import { readIncluded, variesByKey } from "./models.ts";

export function infoRoutes(catalogue: Catalogue): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v3/info",
      key: "none",
      run: (call) => sendDocument(call, catalogue.features.list(readIncluded(call)), variesByKey),
    },
    { method: "GET", path: "/v3/info/{feature}", key: "none", run: (call) => retrieveFeature(catalogue, call) },
    {
      method: "GET",
      path: "/v3/info/{feature}/{subfeature}",
      key: "none",
      run: (call) => retrieveSubfeature(catalogue, call),
    },
  ];
}

function retrieveFeature(catalogue: Catalogue, call: Call): Reply {
  const feature = call.params["feature"] ?? "";
  const document = catalogue.features.findFeature(feature, readIncluded(call));
  if (document === undefined) throw featureNotFound(feature);
  return sendDocument(call, document, variesByKey);
}

function retrieveSubfeature(catalogue: Catalogue, call: Call): Reply {
  const included = readIncluded(call);
  const feature = call.params["feature"] ?? "";
  const subfeature = call.params["subfeature"] ?? "";
  const document = catalogue.features.findSubfeature(feature, subfeature, included);
  if (document !== undefined) return sendDocument(call, document, variesByKey);
  if (catalogue.features.findFeature(feature, included) === undefined) throw featureNotFound(feature);
  const known = tasks.filter((task) => task.feature === feature).map((task) => task.subfeature);
  throw new GatewayError(
    "subfeature_not_found",
    `The feature '${feature}' has no subfeature '${subfeature}'${suggest(subfeature, known) || "."} GET /v3/info/${feature}?include=unconfigured lists the subfeatures.`,
    { param: "subfeature" },
  );
}

function featureNotFound(feature: string): GatewayError {
  const known = features.map(({ name }) => name);
  return new GatewayError(
    "feature_not_found",
    `There is no feature '${feature}'${suggest(feature, known) || "."} GET /v3/info?include=unconfigured lists the features.`,
    { param: "feature" },
  );
}
