// Embeddings for the engines of text/embeddings: planned, retried and priced like every other request for embeddings.

import type { EmbeddingsRequestBody } from "../../contract/embeddings.ts";
import type { Embed } from "../../engines/embeddings.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { decodeVector, type Embeddings } from "../embeddings.ts";
import { type ModelCaller, planModelCall } from "./model-call.ts";

export function createEmbedder(models: ModelCaller, embeddings: Embeddings): Embed {
  return async (request, target, call) => {
    const { context, options } = planModelCall(models, target, call);
    const text = JSON.stringify(request);
    const input = {
      ...context,
      // The engine only sets members that the schema of the request allows.
      request: request as unknown as EmbeddingsRequestBody,
      value: request,
      text,
      scan: scanJson(text),
    };
    const { vectors, charge } = await models.candidateLoop.run(options, (candidate, note) => {
      call.onAttempt?.(note);
      return embeddings.attempt(input, candidate);
    });
    const inOrder = vectors.data.toSorted((one, another) => one.index - another.index);
    return {
      vectors: inOrder.map(({ embedding }) => decodeVector(embedding)),
      tokens: vectors.usage?.total_tokens ?? null,
      charge,
    };
  };
}
