// GET /v3/info, /v3/info/{feature} and /v3/info/{feature}/{subfeature}: the tasks, and the offers for each with their prices.

import type { Catalogue } from "../../catalogue/catalogue.ts";
import { feature, featureList, featureParams, subfeatureDetail, subfeatureParams } from "../../contract/info.ts";
import { listingQuery } from "../../contract/models.ts";
import { features, tasks } from "../../contract/tasks.ts";
import { GatewayError } from "../../errors.ts";
import { suggest } from "../../lib/find-nearest.ts";
import { defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";
import { toIncluded, variesByKey } from "./models.ts";

const common = { tag: "Tasks", method: "GET", key: "none", query: listingQuery, headers: documentHeaders } as const;

export function infoRoutes(catalogue: Catalogue): Route[] {
  return [
    defineRoute("listFeatures", "List features", {
      ...common,
      description: "The features with the subfeatures that at least one configured provider or local engine performs.",
      path: "/v3/info",
      answers: documentAnswers({ description: "The features.", schema: featureList }),
      example: { query: "include=unconfigured" },
      run: (call) => sendDocument(call, catalogue.features.list(toIncluded(call)), variesByKey),
    }),
    defineRoute("retrieveFeature", "Retrieve a feature", {
      ...common,
      path: "/v3/info/{feature}",
      params: featureParams,
      answers: documentAnswers({ description: "The feature.", schema: feature }),
      errors: ["feature_not_found"],
      example: { path: { feature: "text" }, query: "include=unconfigured" },
      run(call) {
        const document = catalogue.features.findFeature(call.params.feature, toIncluded(call));
        if (document === undefined) throw featureNotFound(call.params.feature);
        return sendDocument(call, document, variesByKey);
      },
    }),
    defineRoute("retrieveSubfeature", "Retrieve a subfeature with its schemas", {
      ...common,
      description:
        "A task with the JSON Schemas of its input and output. A task that no configured provider performs has no models.",
      path: "/v3/info/{feature}/{subfeature}",
      params: subfeatureParams,
      answers: documentAnswers({ description: "The subfeature.", schema: subfeatureDetail }),
      errors: ["feature_not_found", "subfeature_not_found"],
      example: { path: { feature: "text", subfeature: "moderation" } },
      run(call) {
        const { feature, subfeature } = call.params;
        const included = toIncluded(call);
        const document = catalogue.features.findSubfeature(feature, subfeature, included);
        if (document !== undefined) return sendDocument(call, document, variesByKey);
        if (catalogue.features.findFeature(feature, included) === undefined) throw featureNotFound(feature);
        throw subfeatureNotFound(feature, subfeature);
      },
    }),
  ];
}

function featureNotFound(feature: string): GatewayError {
  const known = features.map(({ name }) => name);
  return new GatewayError(
    "feature_not_found",
    `There is no feature '${feature}'${suggest(feature, known) || "."} GET /v3/info?include=unconfigured lists the features.`,
    { param: "feature" },
  );
}

function subfeatureNotFound(feature: string, subfeature: string): GatewayError {
  const known = tasks.filter((task) => task.feature === feature).map((task) => task.subfeature);
  return new GatewayError(
    "subfeature_not_found",
    `The feature '${feature}' has no subfeature '${subfeature}'${suggest(subfeature, known) || "."} ` +
      `GET /v3/info/${feature}?include=unconfigured lists the subfeatures.`,
    { param: "subfeature" },
  );
}
