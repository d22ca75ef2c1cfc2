// GET /v3/models and /v3/models/{id}: the models that can be called.

import type { Catalogue, Included } from "../../catalogue/catalogue.ts";
import * as contract from "../../contract/models.ts";
import { GatewayError } from "../../errors.ts";
import { type Call, defineRoute, type Route } from "../route.ts";
import { documentAnswers, documentHeaders, sendDocument } from "../send-document.ts";

const common = { tag: "Models", method: "GET", key: "none", headers: documentHeaders } as const;

export function modelsRoutes(catalogue: Catalogue): Route[] {
  return [
    defineRoute("listModels", "List models", {
      ...common,
      description:
        "The models of the configured providers, in the OpenAI list format. A fact that is not known is `null`. A model has to " +
        "match every filter; a value that no model has results in an empty list.",
      path: "/v3/models",
      query: contract.listModelsQuery,
      answers: documentAnswers({ description: "The models.", schema: contract.modelList }),
      example: { query: "provider=sandbox" },
      run: (call) => sendDocument(call, catalogue.models.list(call.query, toIncluded(call)), variesByKey),
    }),
    defineRoute("retrieveModel", "Retrieve a model", {
      ...common,
      path: "/v3/models/{id...}",
      params: contract.modelParams,
      query: contract.listingQuery,
      answers: documentAnswers({ description: "The model.", schema: contract.modelDetail }),
      errors: ["model_not_found"],
      example: { path: { id: "sandbox/echo" } },
      run(call) {
        const { id } = call.params;
        const found = catalogue.models.find(id);
        if (found === undefined) {
          const nearest = catalogue.models.suggest(id);
          const hint = nearest === null ? "." : `; did you mean '${nearest}'?`;
          throw modelNotFound(
            `Unknown model '${id}'${hint} A configured provider is also called with a model that is not listed.`,
          );
        }
        if (!found.model.configured && !toIncluded(call).unconfigured)
          throw modelNotFound(
            `The model '${id}' is known, but its provider is not configured. Add '?include=unconfigured' to see it.`,
          );
        return sendDocument(call, found.document);
      },
    }),
  ];
}

function modelNotFound(message: string): GatewayError {
  return new GatewayError("model_not_found", message, { param: "id" });
}

/** With a sandbox key, the same URL also shows the sandbox. */
export const variesByKey = { vary: "authorization" };

const sandboxKey = /^bearer +sk-sy-sandbox-/i;

export function toIncluded({
  query,
  request,
}: Pick<Call, "request"> & { readonly query: contract.ListingQuery }): Included {
  // The form of the key is enough: the listing is public, and the key is not checked for it.
  const isSandboxKey = sandboxKey.test(request.headers.get("authorization") ?? "");
  return {
    unconfigured: query.include.includes("unconfigured"),
    sandbox: query.include.includes("sandbox") || isSandboxKey,
  };
}
