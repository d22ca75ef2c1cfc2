// Embeddings for the engines of text/embeddings: planned, retried and priced like every other request for embeddings.

import type { EmbeddingsRequestBody } from "../../contract/embeddings.ts";
import type { Embed } from "../../engines/embeddings.ts";
import { scanJson } from "../../lib/json-scan.ts";
import type { CandidateLoop } from "../candidate-loop.ts";
import { decodeVector, type Embeddings } from "../embeddings.ts";
import type { RoutePlanner } from "../route-planner.ts";
import { Trace } from "../trace.ts";
import { engineCaller } from "./engine-caller.ts";

export interface EmbedderOptions {
  readonly router: RoutePlanner;
  readonly candidateLoop: CandidateLoop;
  /** It reports none of its attempts: the report of the task covers them. */
  readonly embeddings: Embeddings;
}

export function createEmbedder({ router, candidateLoop, embeddings }: EmbedderOptions): Embed {
  return async (request, { provider, model }, { signal, deadline, requestId, onAttempt }) => {
    const trace = new Trace(performance.now(), 0);
    const connection = { signal };
    const candidates = router.plan({ model: `${provider}/${model}` }, engineCaller, trace);
    const text = JSON.stringify(request);
    const input = {
      ...{ caller: engineCaller, connection, requestId, trace, wantsMetadata: false },
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
