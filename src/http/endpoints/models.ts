// GET /v3/models and /v3/models/{id}: which models can be called.

import type { Catalogue } from "../../catalogue/catalogue.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { sendDocument } from "../openapi/send-document.ts";
import type { Reply } from "../reply.ts";
import type { Call, Route } from "../route.ts";

export function modelsRoutes(catalogue: Catalogue): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/v3/models",
      key: "none",
      run: (call) => {
        const withUnconfigured = readWithUnconfigured(call.query);
        const filters = {
          provider: call.query.getAll("provider"),
          feature: call.query.getAll("feature"),
          capability: call.query.getAll("capability"),
          endpoint: call.query.getAll("endpoint"),
        };
        return sendDocument(call, catalogue.models.list(filters, withUnconfigured));
      },
    },
    { method: "GET", path: "/v3/models/{id...}", key: "none", run: (call) => retrieveModel(catalogue, call) },
  ];
}

function retrieveModel(catalogue: Catalogue, call: Call): Reply {
  const withUnconfigured = readWithUnconfigured(call.query);
  const id = call.params["id"] ?? "";
  const found = catalogue.models.find(id);
  if (found === undefined) {
    throw new GatewayError(
      "model_not_found",
      `No provider's row states the model '${id}'. A configured provider is still called with a model that is not listed.`,
      { param: "id" },
    );
  }
  if (!found.model.configured && !withUnconfigured) {
    throw new GatewayError(
      "model_not_found",
      `The model '${id}' is known, but its provider is not configured. Add '?include=unconfigured' to see it.`,
      { param: "id" },
    );
  }
  return sendDocument(call, found.document);
}

/** `include=unconfigured` also shows what this gateway knows and cannot call. */
export function readWithUnconfigured(query: URLSearchParams): boolean {
  const values = query.getAll("include");
  if (values.some((value) => value !== "unconfigured")) {
    throw new ValidationError([
      { loc: ["query", "include"], msg: "Input should be 'unconfigured'", type: "literal_error" },
    ]);
  }
  return values.length > 0;
}
