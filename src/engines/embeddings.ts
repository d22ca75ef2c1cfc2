// Engines for text/embeddings: one for each provider that POST /v3/embeddings serves. The call is the same.

import { ValidationError } from "../errors.ts";
import type { StatedCharge } from "../lib/charge.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { Provider } from "../providers/configure.ts";
import { modelNamesOf } from "../providers/provider.ts";
import { settingName } from "../providers/settings.ts";
import { refuseInput } from "../providers/task.ts";
import { type Engine, notSetUp, type TaskCall, type TaskResult } from "./engine.ts";

/** One request for embeddings at one offer. Throws what such a request throws. */
export type Embed = (
  request: { readonly input: readonly string[]; readonly dimensions?: number } & JsonObject,
  offer: { readonly provider: string; readonly model: string },
  context: Pick<TaskCall, "signal" | "deadline" | "requestId" | "onAttempt" | "ticket">,
) => Promise<Embedded>;

export interface Embedded {
  /** In the order of the texts. */
  readonly vectors: readonly (readonly number[])[];
  /** Null: the provider did not report it. */
  readonly tokens: number | null;
  readonly charge: StatedCharge;
}

const task = "text/embeddings";
/** The limit of POST /v3/embeddings. */
const maxTexts = 2_048;

export function createEmbeddingsEngines(providers: Iterable<Provider>, embed: Embed): readonly Engine[] {
  return [...providers].filter(isRemote).map((provider) => {
    const { name, row, defaultModels } = provider;
    // A provider of chat models may have embeddings that its row does not list: a request that names a model gets them.
    const models = (row.embeddings?.models ?? []).map(({ id }) => id);
    const defaultModel = defaultModels[task] ?? models[0];
    return {
      provider: name,
      aliases: modelNamesOf(row).slice(1),
      task,
      toModelName: provider.dialect?.toModelName,
      models,
      acceptsAnyModel: true,
      ...(defaultModel === undefined ? { needsModel: true as const } : { defaultModel }),
      isPaidByToken: true as const,
      writesNoTokens: true as const,
      get unavailableReason() {
        return provider.configured ? null : notSetUp(name, provider.missingSetting ?? settingName(name, "BASE_URL"));
      },
      run: (call: TaskCall) => run(name, call, embed),
    };
  });
}

/** A provider that answers in this process has an engine of its own. */
function isRemote({ row }: Provider): boolean {
  return row.transport === undefined;
}

async function run(provider: string, call: TaskCall, embed: Embed): Promise<TaskResult> {
  const { model, input, providerParams } = call;
  if (model === null) {
    const msg = `The provider '${provider}' has no default model for this task: name one, such as ${task}/${provider}/<model>, or set providers.${provider}.default_model in switchyard.yaml`;
    throw new ValidationError([{ loc: ["body", "model"], msg, type: "value_error" }]);
  }
  // The schema of the task determines both types.
  const { texts, dimensions } = input as { readonly texts: readonly string[]; readonly dimensions: number | null };
  if (texts.length > maxTexts) refuseInput("texts", `Send at most ${maxTexts} texts at once`, "too_long");
  const request = { ...providerParams, model, input: texts, ...(dimensions !== null && { dimensions }) };
  const { vectors, tokens, charge } = await embed(request, { provider, model }, call);
  return {
    output: { items: vectors.map((embedding) => ({ embedding })) },
    // The vectors are the output already.
    original: null,
    units: { request: 1, ...(tokens !== null && { token: tokens }) },
    charge,
  };
}
