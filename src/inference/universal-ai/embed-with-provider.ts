// Embeddings for the engines of text/embeddings: planned, retried and priced like every other request for embeddings.

import type { EmbeddingsRequestBody } from "../../contract/embeddings.ts";
import type { Embed } from "../../engines/embeddings.ts";
import { scanJson } from "../../lib/json-scan.ts";
import type { CandidateLoop } from "../candidate-loop.ts";
import { decodeVector, type Embeddings } from "../embeddings.ts";
import type { RoutePlanner } from "../route-planner.ts";
import { openModelCall } from "./model-call.ts";

export interface EmbedderOptions {
  readonly router: RoutePlanner;
  readonly candidateLoop: CandidateLoop;
  readonly embeddings: Embeddings;
}

export function createEmbedder({ router, candidateLoop, embeddings }: EmbedderOptions): Embed {
  return async (request, { provider, model }, { signal, deadline, requestId, onAttempt, ticket }) => {
    const { caller, trace, work } = openModelCall(ticket);
    const connection = { signal };
    const candidates = router.plan({ model: `${provider}/${model}` }, caller, trace);
    const text = JSON.stringify(request);
    const input = {
      ...{ caller, connection, requestId, trace, wantsMetadata: false, work },
      // The engine only sets members that the schema of the request allows.
      request: request as unknown as EmbeddingsRequestBody,
      value: request,
      text,
      scan: scanJson(text),
    };
    const options = { candidates, trace, connection, deadline, repeatsExecuted: false } as const;
    const { vectors, charge } = await candidateLoop.run(options, (candidate, note) => {
      onAttempt?.(note);
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
