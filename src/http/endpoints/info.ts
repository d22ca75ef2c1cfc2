// GET /v3/info, /v3/info/{feature} and /v3/info/{feature}/{subfeature}: which tasks can be done, by whom, at what price.

import type { Catalogue } from "../../catalogue/catalogue.ts";
import { GatewayError } from "../../errors.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Reply } from "../reply.ts";
import type { Call, Route } from "../route.ts";
import { readWithUnconfigured } from "./models.ts";

export function infoRoutes(catalogue: Catalogue): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v3/info",
      key: "none",
      run: (call) => sendDocument(call, catalogue.features.list(readWithUnconfigured(call.query))),
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
  const document = catalogue.features.findFeature(feature, readWithUnconfigured(call.query));
  if (document === undefined) throw featureNotFound(feature);
  return sendDocument(call, document);
}

function retrieveSubfeature(catalogue: Catalogue, call: Call): Reply {
  const withUnconfigured = readWithUnconfigured(call.query);
  const feature = call.params["feature"] ?? "";
  const subfeature = call.params["subfeature"] ?? "";
  const document = catalogue.features.findSubfeature(feature, subfeature, withUnconfigured);
  if (document !== undefined) return sendDocument(call, document);
  if (catalogue.features.findFeature(feature, false) === undefined) throw featureNotFound(feature);
  throw new GatewayError(
    "subfeature_not_found",
    `The feature '${feature}' has no subfeature '${subfeature}'. GET /v3/info/${feature}?include=unconfigured lists them.`,
    { param: "subfeature" },
  );
}

function featureNotFound(feature: string): GatewayError {
  return new GatewayError(
    "feature_not_found",
    `There is no feature '${feature}'. GET /v3/info?include=unconfigured lists them.`,
    { param: "feature" },
  );
}
