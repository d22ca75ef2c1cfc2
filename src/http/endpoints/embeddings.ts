// POST /v3/embeddings.

import { createEmbeddingsRequest, embeddingsAnswer } from "../../contract/embeddings.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { contextOf, modelCallErrors } from "../model-call.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

export function embeddingsRoutes({ embeddings, aliases }: RouteDependencies): Route[] {
  return [
    defineRoute("createEmbeddings", "Create embeddings", {
      tag: "Embeddings",
      description:
        "Turns texts into vectors. If there are more texts than a provider accepts at once, they are sent in several calls.",
      method: "POST",
      path: "/v3/embeddings",
      key: "inference",
      scope: "embeddings",
      body: { kind: "json", schema: createEmbeddingsRequest(aliases) },
      answers: [{ status: 200, description: "The vectors, in the order of the texts.", schema: embeddingsAnswer }],
      errors: modelCallErrors,
      example: { body: { model: "sandbox/embedding", input: ["Hello", "World"], encoding_format: "float" } },
      run(call) {
        const { text, scan, value } = call.json;
        return embeddings.embed({ ...contextOf(call), request: call.body, value: value as JsonObject, text, scan });
      },
    }),
  ];
}
