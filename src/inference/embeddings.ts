// One request for embeddings, start to finish. A provider of the same dialect gets the caller's bytes; for another one the
// request is translated, in as many calls as its limits ask for.

import { type Caller, ownerOf } from "../access/caller.ts";
import { gatewayMemberNames } from "../contract/chat-completions.ts";
import type { EmbeddingsRequestBody } from "../contract/embeddings.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { editMembers, type JsonScan } from "../lib/json-scan.ts";
import { type Connection, ProviderCall, toErrorInAnswer } from "../providers/call.ts";
import type { EmbeddingsAnswer, EmbeddingsDialect, ParameterTable } from "../providers/dialect.ts";
import { findDropped, refuseDropped } from "../providers/parameters.ts";
import type { Attempts } from "./attempts.ts";
import { authorize } from "./authorize.ts";
import type { CallDependencies } from "./call-dependencies.ts";
import type { LocalEmbeddings } from "./local-embeddings.ts";
import { badAnswer, fillModel, readObject } from "./passthrough-chat.ts";
import { type Pricing, toCostMembers } from "./pricing.ts";
import { readUsage } from "./report.ts";
import type { Candidate, RoutePlanner } from "./route-planner.ts";
import type { Trace } from "./trace.ts";

export interface EmbeddingsInput {
  readonly request: EmbeddingsRequestBody;
  readonly value: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly scan: JsonScan;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
}

export interface Embeddings {
  /** The JSON of the answer. */
  embed(input: EmbeddingsInput): Promise<string>;
}

export interface EmbeddingsDependencies extends CallDependencies {
  readonly router: RoutePlanner;
  readonly attempts: Attempts;
  readonly pricing: Pricing;
  /** The provider that computes in this house. */
  readonly local?: LocalEmbeddings;
}

interface Vectors {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number } | null;
  /** What the provider said beside. */
  readonly others: Readonly<Record<string, unknown>>;
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
const handled: ReadonlySet<string> = new Set([...gatewayMemberNames, "input", "encoding_format"]);
const callsAtOnce = 8;
/** Of the local engine; all else is dropped. */
const localParameters: ParameterTable = { dimensions: "mapped" };

export function createEmbeddings(dependencies: EmbeddingsDependencies): Embeddings {
  const { router, attempts, pricing, clocks, ticker, http, shutdownSignal, local } = dependencies;

  async function attempt(input: EmbeddingsInput, candidate: Candidate): Promise<string> {
    const { provider, model } = candidate;
    const { trace } = input;
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    trace.firstByteAt = 0;
    const quote = pricing.quote(provider, model);
    const report = (outcome: "completed" | "caller_left" | GatewayError["code"], usage: unknown) =>
      dependencies.report({
        requestId: input.requestId,
        keyId: input.caller.keyId,
        path: trace.path,
        provider: provider.name,
        model,
        isStream: false,
        durationMs: performance.now() - startedAt,
        usage: readUsage(usage),
        cost: usage === null ? null : quote.chargeFor(usage).cost,
        outcome,
      });
    try {
      const vectors = await embedAt(input, candidate);
      trace.firstByteAt ||= performance.now();
      const usage = vectors.usage;
      report("completed", usage === null ? null : { ...usage, completion_tokens: 0 });
      return JSON.stringify({
        object: "list",
        ...vectors.others,
        data: vectors.data.map(({ index, embedding }) => ({
          object: "embedding",
          index,
          embedding: encode(embedding, input.request.encoding_format === "base64"),
        })),
        model: vectors.model,
        ...(usage === null ? {} : { usage }),
        provider: provider.name,
        ...toCostMembers(quote.chargeFor(usage === null ? null : { ...usage, completion_tokens: 0 }, vectors)),
        provider_time: Math.round(performance.now() - startedAt) / 1_000,
        ...(input.wantsMetadata ? { switchyard: trace.toMetadata(input.requestId) } : {}),
      });
    } catch (error) {
      if (!(error instanceof ValidationError)) report(error instanceof GatewayError ? error.code : "caller_left", null);
      throw error;
    }
  }

  function embedAt(input: EmbeddingsInput, candidate: Candidate): Promise<Vectors> {
    const { row, dialect } = candidate.provider;
    if (local !== undefined && row === local.row) return embedHere(input, candidate, local);
    if (dialect?.embeddings === undefined) return embedPlainly(input, candidate);
    return embedTranslated(input, candidate, dialect.embeddings);
  }

  async function embedHere(input: EmbeddingsInput, { model }: Candidate, here: LocalEmbeddings): Promise<Vectors> {
    const texts = toTexts(input.request.input);
    input.trace.dropped = findDropped(input.value as never, localParameters, handled);
    if (input.request.strict_parameters === true) refuseDropped(input.trace.dropped);
    const answer = await here.embed({
      model,
      texts,
      dimensions: input.request.dimensions ?? null,
      connection: input.connection,
      shutdownSignal,
      deadline: input.trace.startedAt + clocks.totalTimeoutMs,
      requestId: input.requestId,
      owner: ownerOf(input.caller),
    });
    return toVectors([answer], model);
  }

  async function embedPlainly(input: EmbeddingsInput, candidate: Candidate): Promise<Vectors> {
    const { provider, deployment, model } = candidate;
    const body = editMembers(input.text, input.scan, {
      replace: new Map([["model", JSON.stringify(model)]]),
      remove: ourMembers,
      append: [],
    });
    const text = await call(input, candidate, {
      path: fillModel(deployment.embeddingsPath, model),
      body,
      headerLines: "",
    });
    const answer = readObject(text, provider);
    if (answer["error"]) throw toErrorInAnswer(provider, answer["error"]);
    const { data, model: named, usage, object: _object, ...others } = answer;
    if (!Array.isArray(data) || !data.every(isVector)) throw badAnswer(provider, "did not answer with embeddings");
    return {
      data: data.map((vector, index) => ({ index: vector.index ?? index, embedding: vector.embedding })),
      model: typeof named === "string" ? named : model,
      usage: readPromptUsage(usage),
      others,
    };
  }

  async function embedTranslated(
    input: EmbeddingsInput,
    candidate: Candidate,
    dialect: EmbeddingsDialect,
  ): Promise<Vectors> {
    const { provider, model } = candidate;
    const texts = toTexts(input.request.input);
    const dropped = findDropped(input.value as never, dialect.parameters, handled);
    const batches: string[][] = [];
    const size = typeof dialect.maxInputs === "number" ? dialect.maxInputs : dialect.maxInputs(model);
    for (let from = 0; from < texts.length; from += size) batches.push(texts.slice(from, from + size));
    const target = { model, facts: null, isStream: false };
    const made = batches.map((batch) =>
      dialect.toRequest({ ...withoutOurs(input.value), model, input: batch }, target),
    );
    input.trace.dropped = [...dropped, ...(made[0]?.dropped ?? [])];
    if (input.request.strict_parameters === true) refuseDropped(input.trace.dropped);
    const answers: EmbeddingsAnswer[] = [];
    const calls: ProviderCall[] = [];
    try {
      for (let from = 0; from < made.length; from += callsAtOnce) {
        const some = made.slice(from, from + callsAtOnce).map(async ({ path, body, headers }) => {
          let headerLines = "";
          for (const [name, value] of Object.entries(headers ?? {})) headerLines += `${name}: ${value}\r\n`;
          const text = await call(input, candidate, { path, body, headerLines }, calls);
          return read(() => dialect.fromAnswer(readObject(text, provider)));
        });
        answers.push(...(await Promise.all(some)));
      }
    } catch (error) {
      // What the others will say is of no use any more.
      for (const one of calls) one.abandon();
      throw error;
    }
    const count = answers.reduce((sum, { vectors }) => sum + vectors.length, 0);
    if (count !== texts.length)
      throw badAnswer(provider, `answered with ${count} embeddings for ${texts.length} texts`);
    return toVectors(answers, model);

    function read(readAnswer: () => EmbeddingsAnswer): EmbeddingsAnswer {
      try {
        return readAnswer();
      } catch (error) {
        throw badAnswer(provider, "did not answer with embeddings", error);
      }
    }
  }

  async function call(
    input: EmbeddingsInput,
    { provider, deployment }: Candidate,
    request: { path: string; body: string; headerLines: string },
    calls: ProviderCall[] = [],
  ): Promise<string> {
    const headerLines = await authorize(deployment, request);
    const made = new ProviderCall({
      provider,
      deployment,
      path: request.path,
      body: request.body,
      headerLines,
      wantsStream: false,
      connection: input.connection,
      shutdownSignal,
      clocks,
      deadline: input.trace.startedAt + clocks.totalTimeoutMs,
      ticker,
      http,
    });
    calls.push(made);
    try {
      await made.open();
      input.trace.connectedAt = input.trace.sentAt + made.connectMs;
      input.trace.firstByteAt = performance.now();
      const text = await made.readWhole();
      made.finish();
      return text;
    } catch (error) {
      made.abandon();
      throw error;
    }
  }

  return {
    async embed(input) {
      const candidates = router.plan(input.request, input.caller, input.trace);
      input.trace.routedAt = performance.now();
      const deadline = input.trace.startedAt + clocks.totalTimeoutMs;
      return attempts.run({ ...input, candidates, deadline }, (candidate) => attempt(input, candidate));
    },
  };
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

/** Some vendors name only one of the two. */
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
  throw new ValidationError([
    {
      loc: ["body", "input"],
      msg: "The provider of this model takes texts, not token numbers",
      type: "unsupported_parameter",
    },
  ]);
}

function withoutOurs(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).filter(
      ([name, member]) => member !== null && !ourMembers.has(name) && name !== "encoding_format",
    ),
  );
}

/** In the encoding that was asked for, whichever the provider chose. */
function encode(embedding: readonly number[] | string, wantsBase64: boolean): readonly number[] | string {
  if (typeof embedding === "string") return wantsBase64 ? embedding : decodeFloats(embedding);
  return wantsBase64 ? encodeFloats(embedding) : embedding;
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
