// The local engine for embeddings as a provider of POST /v3/embeddings: listed, allowed and tried like any other, but without a network
// call.

import type { Engine } from "../engines/engine.ts";
import { GatewayError, type Problem, ValidationError } from "../errors.ts";
import { startDeadline } from "../lib/deadline.ts";
import { CallerLeft, type Connection } from "../providers/call.ts";
import type { EmbeddingsAnswer } from "../providers/dialect.ts";
import type { ProviderRow } from "../providers/provider.ts";

export interface LocalEmbeddings {
  /** Its entry among the providers. */
  readonly row: ProviderRow;
  embed(call: LocalEmbeddingsCall): Promise<EmbeddingsAnswer>;
}

export interface LocalEmbeddingsCall {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | null;
  readonly connection: Connection;
  /** Fires when the time for a graceful shutdown is over. */
  readonly shutdownSignal: AbortSignal;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  readonly requestId: string;
  readonly owner: string;
}

const [provider, task] = ["local", "text/embeddings"];
const vectorLength = 384;
const mostTokens = 8_192;

export function createLocalEmbeddings(engines: readonly Engine[]): LocalEmbeddings {
  const engine = engines.find((one) => one.provider === provider && one.task === task);
  // An engine that is not installed is not listed; a request for it is answered with the command that installs it.
  const models = engine === undefined || engine.unavailableReason !== null ? [] : engine.models;
  const row: ProviderRow = {
    name: provider,
    title: "Local engines",
    docs: "docs/local-engines.md",
    baseUrl: "http://local.invalid/v1",
    auth: { kind: "none" },
    isFree: true,
    embeddings: { models: models.map((id) => ({ id, dimensions: vectorLength, maxInputTokens: mostTokens })) },
  };

  async function embed(call: LocalEmbeddingsCall): Promise<EmbeddingsAnswer> {
    const { model, texts, dimensions, deadline, requestId, owner } = call;
    if (engine === undefined || !engine.models.includes(model))
      throw new GatewayError("model_not_found", `The provider '${provider}' has no model '${model}' for embeddings.`, {
        param: "model",
      });
    if (engine.unavailableReason !== null) throw new GatewayError("provider_not_configured", engine.unavailableReason);
    const input = { texts, dimensions };
    using ending = startDeadline({
      signals: [call.connection.signal, call.shutdownSignal],
      // The engine tells a caller that left from a gateway that shuts down by the reason.
      reason: (fired) =>
        fired === call.shutdownSignal
          ? new GatewayError("draining", "The gateway shut down before the answer was complete.")
          : new CallerLeft(),
    });
    try {
      const answer = await engine.run({
        model,
        input,
        files: {},
        providerParams: {},
        signal: ending.signal,
        deadline,
        requestId,
        owner,
      });
      const items = answer.output["items"] as readonly { readonly embedding: readonly number[] }[];
      return { vectors: items.map(({ embedding }) => embedding), model, inputTokens: answer.units.token ?? null };
    } catch (error) {
      throw error instanceof ValidationError ? new ValidationError(withOwnLocations(error.problems)) : error;
    }
  }

  return { row, embed };
}

/** The locations of the task's problems in this endpoint's body: `input.texts.3` is `input.3`, `input.dimensions` is `dimensions`. */
function withOwnLocations([first, ...others]: readonly [Problem, ...Problem[]]): [Problem, ...Problem[]] {
  const move = (problem: Problem): Problem => {
    const [, , member, ...rest] = problem.loc;
    if (member === undefined) return problem;
    return { ...problem, loc: member === "texts" ? ["body", "input", ...rest] : ["body", member, ...rest] };
  };
  return [move(first), ...others.map(move)];
}
