// One request for embeddings from start to finish. A provider of the same dialect receives the caller's bytes; for any other provider
// the request is translated, into as many calls as its limits require.

import { ownerOf } from "../access/caller.ts";
import { gatewayMemberNames } from "../contract/chat-completions.ts";
import type { EmbeddingsRequestBody } from "../contract/embeddings.ts";
import { ValidationError } from "../errors.ts";
import { editMembers } from "../lib/json-scan.ts";
import { toHeaderLines } from "../providers/authorize-request.ts";
import type { Provider } from "../providers/configure.ts";
import type { EmbeddingsAnswer, EmbeddingsDialect, JsonObject, ParameterTable } from "../providers/dialect.ts";
import { findDropped, refuseDropped } from "../providers/parameters.ts";
import { type AddedMembers, type Attempt, attempt } from "./attempt.ts";
import type { LocalEmbeddings } from "./local-embeddings.ts";
import type { Charge } from "./pricing.ts";
import { badAnswer, fillModel, readAnswer } from "./provider-answer.ts";
import type { JsonRequest } from "./request-context.ts";
import type { Candidate } from "./route-planner.ts";
import { deadlineOf, type PlanDependencies, planAndTry } from "./try-candidates.ts";

export interface EmbeddingsInput extends JsonRequest<EmbeddingsRequestBody> {
  /** The parsed body with members that the schema does not know. */
  readonly value: Readonly<Record<string, unknown>>;
}

export type Embeddings = ReturnType<typeof createEmbeddings>;

export interface EmbeddingsDependencies extends PlanDependencies {
  /** The provider that computes embeddings on this machine. */
  readonly local?: LocalEmbeddings;
}

interface Vectors {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number } | null;
  /** Further members of the provider's answer. */
  readonly others: Readonly<Record<string, unknown>>;
}

/** One answer of one provider. */
interface EmbeddingsAttempt {
  readonly vectors: Vectors;
  readonly charge: Charge;
  readonly added: AddedMembers;
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
const handledMembers: ReadonlySet<string> = new Set([...gatewayMemberNames, "input", "encoding_format"]);
const concurrency = 8;
/** The parameters of the local engine; all others are dropped. */
const localParameters: ParameterTable = { dimensions: "mapped" };

export function createEmbeddings(dependencies: EmbeddingsDependencies) {
  const { clocks, shutdownSignal, local } = dependencies;

  async function attemptAt(input: EmbeddingsInput, candidate: Candidate): Promise<EmbeddingsAttempt> {
    const shape = () => ({ body: input.text, maxOutputTokens: 0 });
    return attempt(
      dependencies,
      { context: input, candidate, isStream: false, shape, operation: "embeddings" },
      async (running) => {
        const vectors = await findVectors(input, candidate, running);
        input.trace.firstByteAt ||= performance.now();
        const counted = vectors.usage === null ? null : { ...vectors.usage, completion_tokens: 0 };
        const charge = running.quote.chargeFor(counted, { model: vectors.model });
        running.complete(counted, charge, { model: vectors.model });
        return { vectors, charge, added: running.toMembers(charge) };
      },
    );
  }

  /** The JSON of the answer. */
  async function embedAt(input: EmbeddingsInput, candidate: Candidate): Promise<string> {
    const { vectors, added } = await attemptAt(input, candidate);
    const { data, model, usage, others } = vectors;
    const wantsBase64 = input.request.encoding_format === "base64";
    const encoded = data.map(({ index, embedding }) => {
      return { object: "embedding", index, embedding: encode(embedding, wantsBase64) };
    });
    const members = { object: "list", ...others, data: encoded, model, ...(usage === null ? {} : { usage }) };
    return JSON.stringify({ ...members, ...added });
  }

  function findVectors(input: EmbeddingsInput, candidate: Candidate, running: Attempt): Promise<Vectors> {
    const { row, dialect } = candidate.provider;
    if (local !== undefined && row === local.row) return embedLocally(input, candidate, local, running);
    if (dialect?.embeddings === undefined) return passThrough(input, candidate, running);
    return translate(input, candidate, running, dialect.embeddings);
  }

  async function embedLocally(
    input: EmbeddingsInput,
    { model }: Candidate,
    engine: LocalEmbeddings,
    { ticket }: Attempt,
  ): Promise<Vectors> {
    const { request, value, trace, connection, requestId, caller } = input;
    const texts = toTexts(request.input);
    trace.dropped = findDropped(value as never, localParameters, handledMembers);
    if (request.strict_parameters === true) refuseDropped(trace.dropped);
    const answer = await engine.embed({
      model,
      texts,
      dimensions: request.dimensions ?? null,
      connection,
      shutdownSignal,
      deadline: deadlineOf(input, clocks),
      ticket,
      requestId,
      owner: ownerOf(caller),
    });
    return toVectors([answer], model);
  }

  return {
    attempt: attemptAt,
    embed: (input: EmbeddingsInput) => planAndTry(dependencies, input, (candidate) => embedAt(input, candidate)),
  };
}

async function passThrough(input: EmbeddingsInput, candidate: Candidate, running: Attempt): Promise<Vectors> {
  const { provider, deployment, model } = candidate;
  const body = editMembers(input.text, input.scan, {
    replace: new Map([["model", JSON.stringify(model)]]),
    remove: ourMembers,
    append: [],
  });
  const text = await running.read({ path: fillModel(deployment.embeddingsPath, model), body });
  const answer = readAnswer(text, provider);
  const { data, model: named, usage, object: _object, ...others } = answer;
  if (!Array.isArray(data) || !data.every(isVector)) throw badAnswer(provider, "did not answer with embeddings");
  return {
    data: data.map((vector, index) => ({ index: vector.index ?? index, embedding: vector.embedding })),
    model: typeof named === "string" ? named : model,
    usage: readPromptUsage(usage),
    others,
  };
}

async function translate(
  { request, value, trace }: EmbeddingsInput,
  { provider, model }: Candidate,
  running: Attempt,
  dialect: EmbeddingsDialect,
): Promise<Vectors> {
  const texts = toTexts(request.input);
  const dropped = findDropped(value as never, dialect.parameters, handledMembers);
  const batches: string[][] = [];
  const size = typeof dialect.maxInputs === "number" ? dialect.maxInputs : dialect.maxInputs(model);
  for (let from = 0; from < texts.length; from += size) batches.push(texts.slice(from, from + size));
  const target = { model, facts: null, isStream: false };
  const requests = batches.map((batch) => dialect.toRequest({ ...value, model, input: batch }, target));
  trace.dropped = [...dropped, ...(requests[0]?.dropped ?? [])];
  if (request.strict_parameters === true) refuseDropped(trace.dropped);
  const answers: EmbeddingsAnswer[] = [];
  for (let from = 0; from < requests.length; from += concurrency) {
    const reading = requests.slice(from, from + concurrency).map(async ({ path, body, headers }) => {
      const answer = readAnswer(await running.read({ path, body, headerLines: toHeaderLines(headers) }), provider);
      const embedded = readEmbeddings(answer, dialect, provider);
      // One of several calls is billed even if another one fails.
      if (requests.length > 1) spend(embedded, running);
      return embedded;
    });
    answers.push(...(await Promise.all(reading)));
  }
  const count = answers.reduce((sum, { vectors }) => sum + vectors.length, 0);
  if (count !== texts.length) throw badAnswer(provider, `answered with ${count} embeddings for ${texts.length} texts`);
  return toVectors(answers, model);
}

function readEmbeddings(answer: JsonObject, dialect: EmbeddingsDialect, provider: Provider): EmbeddingsAnswer {
  try {
    return dialect.fromAnswer(answer);
  } catch (error) {
    throw badAnswer(provider, "did not answer with embeddings", error);
  }
}

function spend({ inputTokens, model }: EmbeddingsAnswer, running: Attempt): void {
  const usage =
    inputTokens === null ? null : { prompt_tokens: inputTokens, completion_tokens: 0, total_tokens: inputTokens };
  running.spend(usage, running.quote.chargeFor(usage, { model }));
}

function toVectors(answers: readonly EmbeddingsAnswer[], model: string): Vectors {
  const counts = answers.map(({ inputTokens }) => inputTokens);
  const total = counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return {
    data: answers.flatMap((answer) => answer.vectors).map((embedding, index) => ({ index, embedding })),
    model: answers[0]?.model ?? model,
    usage: total === null ? null : { prompt_tokens: total, total_tokens: total },
    others: {},
  };
}

function isVector(value: unknown): value is { index?: number; embedding: number[] | string } {
  if (typeof value !== "object" || value === null) return false;
  const { embedding } = value as Record<string, unknown>;
  return typeof embedding === "string" || Array.isArray(embedding);
}

/** Some vendors report only one of the two counts. */
function readPromptUsage(usage: unknown): Vectors["usage"] {
  if (typeof usage !== "object" || usage === null) return null;
  const { prompt_tokens, total_tokens } = usage as Record<string, unknown>;
  const count = typeof prompt_tokens === "number" ? prompt_tokens : total_tokens;
  if (typeof count !== "number") return null;
  return { ...usage, prompt_tokens: count, total_tokens: typeof total_tokens === "number" ? total_tokens : count };
}

function toTexts(input: EmbeddingsRequestBody["input"]): string[] {
  if (typeof input === "string") return [input];
  const texts = input.filter((element) => typeof element === "string");
  if (texts.length === input.length) return texts;
  const msg = "The provider of this model accepts texts, not token numbers";
  throw new ValidationError([{ loc: ["body", "input"], msg, type: "unsupported_parameter" }]);
}

/** In the encoding that the caller requested, whichever the provider chose. */
function encode(embedding: readonly number[] | string, wantsBase64: boolean): readonly number[] | string {
  if (!wantsBase64) return decodeVector(embedding);
  return typeof embedding === "string" ? embedding : encodeFloats(embedding);
}

/** The numbers of a vector, whichever encoding the provider chose. */
export function decodeVector(embedding: readonly number[] | string): readonly number[] {
  return typeof embedding === "string" ? decodeFloats(embedding) : embedding;
}

function encodeFloats(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, index * 4);
  return bytes.toString("base64");
}

function decodeFloats(text: string): number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}
