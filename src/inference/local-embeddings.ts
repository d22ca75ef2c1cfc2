// The local engine for embeddings as a provider of POST /v3/embeddings: listed, allowed and tried like any other, but without a network
// call.

import type { Engine, TaskCall } from "../engines/engine.ts";
import { GatewayError, type Problem, ValidationError } from "../errors.ts";
import { startDeadline } from "../lib/deadline.ts";
import { CallerLeft, type Connection } from "../providers/call.ts";
import type { EmbeddingsAnswer } from "../providers/dialect.ts";
import type { ProviderRow } from "../providers/provider.ts";

export type LocalEmbeddings = ReturnType<typeof createLocalEmbeddings>;

interface EmbeddingsCall extends Pick<TaskCall, "deadline" | "requestId" | "owner" | "ticket"> {
  readonly model: string;
  readonly texts: readonly string[];
  readonly dimensions: number | null;
  readonly connection: Connection;
  /** Fires when the time for a graceful shutdown is over. */
  readonly shutdownSignal: AbortSignal;
}

const [provider, task] = ["local", "text/embeddings"];
const vectorLength = 384;
const mostTokens = 8_192;

export function createLocalEmbeddings(engines: readonly Engine[]) {
  const engine = engines.find((one) => one.provider === provider && one.task === task);
  // An engine that is not installed is not listed; a request for it is answered with the command that installs it.
  const models = engine === undefined || engine.unavailableReason !== null ? [] : engine.models;
  /** The entry among the providers. */
  const row: ProviderRow = {
    name: provider,
    title: "Local engines",
    docs: "docs/local-engines.md",
    baseUrl: "http://local.invalid/v1",
    auth: { kind: "none" },
    isFree: true,
    embeddings: { models: models.map((id) => ({ id, dimensions: vectorLength, maxInputTokens: mostTokens })) },
  };

  async function embed(call: EmbeddingsCall): Promise<EmbeddingsAnswer> {
    const { model, texts, dimensions, connection, shutdownSignal, ...run } = call;
    if (engine === undefined || !engine.models.includes(model))
      throw new GatewayError("model_not_found", `The provider '${provider}' has no model '${model}' for embeddings.`, {
        param: "model",
      });
    if (engine.unavailableReason !== null) throw new GatewayError("provider_not_configured", engine.unavailableReason);
    using deadline = startDeadline({
      signals: [connection.signal, shutdownSignal],
      // By the reason, the engine distinguishes a caller that left from a gateway that shuts down.
      reason: (fired) =>
        fired === shutdownSignal
          ? new GatewayError("draining", "The gateway shut down before the answer was complete.")
          : new CallerLeft(),
    });
    try {
      const input = { texts, dimensions };
      const answer = await engine.run({ ...run, model, input, files: {}, providerParams: {}, signal: deadline.signal });
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
