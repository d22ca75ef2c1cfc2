// GET /v3/models and /v3/models/{id}: which models can be called.

import type { Catalogue, Included } from "../../catalogue/catalogue.ts";
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
        const included = readIncluded(call);
        const filters = {
          provider: call.query.getAll("provider"),
          feature: call.query.getAll("feature"),
          capability: call.query.getAll("capability"),
          endpoint: call.query.getAll("endpoint"),
        };
        return sendDocument(call, catalogue.models.list(filters, included), variesByKey);
      },
    },
    { method: "GET", path: "/v3/models/{id...}", key: "none", run: (call) => retrieveModel(catalogue, call) },
  ];
}

function retrieveModel(catalogue: Catalogue, call: Call): Reply {
  const { unconfigured } = readIncluded(call);
  const id = call.params["id"] ?? "";
  const found = catalogue.models.find(id);
  if (found === undefined) {
    const nearest = catalogue.models.suggest(id);
    throw new GatewayError(
      "model_not_found",
      `Unknown model '${id}'${nearest === null ? "." : `; did you mean '${nearest}'?`} A configured provider is also called with a model that is not listed.`,
      { param: "id" },
    );
  }
  if (!found.model.configured && !unconfigured) {
    throw new GatewayError(
      "model_not_found",
      `The model '${id}' is known, but its provider is not configured. Add '?include=unconfigured' to see it.`,
      { param: "id" },
    );
  }
  return sendDocument(call, found.document);
}

/** The same address shows the sandbox to a sandbox key. */
export const variesByKey = { vary: "authorization" };

const includable = ["unconfigured", "sandbox"];
const sandboxKey = /^bearer +sk-sy-sandbox-/i;

/** `include=unconfigured` also shows what this gateway knows and cannot call, `include=sandbox` the pretend vendor. */
export function readIncluded({ query, request }: Call): Included {
  const values = query.getAll("include").flatMap((value) => value.split(","));
  const wrong = values.find((value) => !includable.includes(value));
  if (wrong !== undefined) {
    const msg = "Input should be 'unconfigured' or 'sandbox'";
    throw new ValidationError([{ loc: ["query", "include"], msg, type: "literal_error" }]);
  }
  // The form of the key is enough: the listing is public, and the key is not checked for it.
  const isSandboxKey = sandboxKey.test(request.headers.get("authorization") ?? "");
  return { unconfigured: values.includes("unconfigured"), sandbox: values.includes("sandbox") || isSandboxKey };
}
