// The sandbox: a simulated vendor in this process, offline and deterministic, for demos, tests and learning. It takes the bytes of a
// chat-completions request and returns a Response, correct or faulty depending on the model.

import { pause } from "../../lib/deadline.ts";
import { BudgetSpent, WorkBudget } from "../../lib/json-schema/schema.ts";
import { defineProvider, type TransportRequest } from "../provider.ts";
import { type Answer, composeAnswer, type Question } from "./answer.ts";
import { type BodyOptions, streamPieces } from "./body.ts";
import { doneEvent, toEvent, writeCompletion, writeEvents } from "./completion.ts";
import { ComposeThread } from "./compose-thread.ts";
import { embeddingModel, readEmbeddingsModel, writeEmbeddings } from "./embeddings.ts";
import { type Behaviour, type Fault, findBehaviour, type SandboxModel, sandboxModels } from "./models.ts";
import { errorBody, SandboxRefusal } from "./refusal.ts";
import { type ChatRequest, readRequest } from "./request.ts";

export { sandboxModels } from "./models.ts";

export const sandbox = defineProvider("sandbox", "Sandbox", {
  docs: "docs/sandbox.md",
  isSandbox: true,
  isFree: true,
  keepsResponses: true,
  baseUrl: "http://sandbox.invalid/v1",
  auth: { kind: "none" },
  chat: { models: sandboxModels.filter((model) => model.isFault !== true).map((model) => model.facts) },
  embeddings: { models: [{ id: embeddingModel, dimensions: 256 }] },
  transport: answerSandboxRequest,
});

const composeThread = new ComposeThread();
/** About a millisecond of work for schemas. */
const inlineUnits = 30_000;
const retryAfterSeconds = "1";
const chunksBeforeBreak = 3;
const chunksBeforeError = 2;
/** A body that is not a stream is also sent in pieces, so that it can be slow or break off. */
const piecesOfBody = 8;
const webPage = "<!doctype html>\n<html><body><h1>It works!</h1></body></html>\n";

export async function answerSandboxRequest(url: string, call: TransportRequest): Promise<Response> {
  call.signal.throwIfAborted();
  const requestHash = new Bun.CryptoHasher("sha256").update(call.body).digest("hex");
  try {
    return await answerCall(url, call, requestHash);
  } catch (error) {
    if (error instanceof SandboxRefusal) return refuse(error, requestHash);
    throw error;
  }
}

async function answerCall(url: string, call: TransportRequest, requestHash: string): Promise<Response> {
  const { pathname } = new URL(url);
  if (call.method === "POST" && pathname.endsWith("/embeddings")) return answerEmbeddings(call, requestHash);
  if (call.method !== "POST" || !pathname.endsWith("/chat/completions")) {
    throw new SandboxRefusal(404, `The sandbox has no ${call.method} ${pathname}.`);
  }
  const request = readRequest(call.body);
  const behaviour = findBehaviour(request.model);
  if (behaviour === null) throw unknownModel(request.model, sandboxModels);
  await applyEarlyFault(behaviour, call.signal);
  const answer = await compose({ request, voice: behaviour.voice, requestHash }, call.body);
  call.signal.throwIfAborted();
  const composed: Composed = { request, answer, fault: behaviour.fault, signal: call.signal, hash: requestHash };
  return request.stream === true ? answerStream(composed) : answerWhole(composed);
}

/** Answers to expensive schemas are composed in another thread, so that other callers do not wait. */
async function compose(question: Question, body: Uint8Array): Promise<Answer> {
  try {
    return composeAnswer(question, new WorkBudget(inlineUnits));
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    return await composeThread.compose({ body, voice: question.voice, requestHash: question.requestHash });
  }
}

interface Composed {
  readonly request: ChatRequest;
  readonly answer: Answer;
  readonly fault: Fault;
  readonly signal: AbortSignal;
  readonly hash: string;
}

/** Faults before the first byte of the answer. */
async function applyEarlyFault({ fault }: Behaviour, signal: AbortSignal): Promise<void> {
  if (fault.kind === "status") {
    throw new SandboxRefusal(fault.status, `The sandbox was asked to answer with status ${fault.status}.`);
  }
  const waitMs = fault.kind === "hang" ? null : fault.kind === "slow-start" ? fault.delayMs : 0;
  if (waitMs !== 0) await pause(waitMs, signal);
  signal.throwIfAborted();
}

/** Also accepts the models of chat: their faults before the first byte apply here, too. */
async function answerEmbeddings(call: TransportRequest, hash: string): Promise<Response> {
  const model = readEmbeddingsModel(call.body);
  const behaviour = findBehaviour(model);
  if (behaviour === null && model !== embeddingModel) throw unknownModel(model, [{ name: embeddingModel }]);
  if (behaviour !== null) await applyEarlyFault(behaviour, call.signal);
  return respond(writeEmbeddings(call.body), "application/json", hash);
}

function answerStream({ request, answer, fault, signal, hash }: Composed): Response {
  const pieces = breakEvents(writeEvents(request, answer, hash), fault);
  return respond(streamPieces(pieces, { signal, ...bodyOptions(fault) }), "text/event-stream; charset=utf-8", hash);
}

function* breakEvents(events: Generator<string>, fault: Fault): Generator<string> {
  switch (fault.kind) {
    case "garbage":
      return yield webPage;
    case "cut":
    case "stall":
      return yield* events.take(chunksBeforeBreak);
    case "error-in-stream":
      yield* events.take(chunksBeforeError);
      return yield toEvent(JSON.parse(brokenAnswer()));
    case "garbage-in-stream":
      yield* events.take(chunksBeforeError);
      yield 'data: {"choices":[{"index":0,"delta":{"content":\n\n';
      return yield doneEvent;
    case "no-done":
      return yield* events;
    default:
      yield* events;
      yield doneEvent;
  }
}

function answerWhole({ request, answer, fault, signal, hash }: Composed): Response {
  const whole = writeCompletion(request, answer, hash);
  const json = "application/json";
  switch (fault.kind) {
    case "garbage":
      return respond(webPage, json, hash);
    case "garbage-in-stream":
      return respond(whole.slice(0, whole.length / 2), json, hash);
    case "error-in-stream":
      return respond(brokenAnswer(), json, hash);
    case "cut":
    case "stall":
    case "slow": {
      const pieces = splitBody(whole).slice(0, fault.kind === "slow" ? piecesOfBody : chunksBeforeBreak);
      return respond(streamPieces(pieces, { signal, ...bodyOptions(fault) }), json, hash);
    }
    default:
      return respond(whole, json, hash);
  }
}

function bodyOptions(fault: Fault): Omit<BodyOptions, "signal"> {
  if (fault.kind === "slow") return { delayMs: fault.delayMs };
  return fault.kind === "cut" || fault.kind === "stall" ? { ending: fault.kind } : {};
}

function splitBody(text: string): readonly string[] {
  const characters = [...text];
  const size = Math.ceil(characters.length / piecesOfBody);
  return Array.from({ length: piecesOfBody }, (_, at) => characters.slice(at * size, (at + 1) * size).join(""));
}

function brokenAnswer(): string {
  return errorBody(new SandboxRefusal(500, "The sandbox was asked to fail after it had started to answer."));
}

function unknownModel(model: string, models: readonly Pick<SandboxModel, "name">[]): SandboxRefusal {
  const names = models.map(({ name }) => name).join(", ");
  return new SandboxRefusal(404, `The model '${model}' does not exist. The sandbox has: ${names}.`, {
    param: "model",
    code: "model_not_found",
  });
}

function refuse(refusal: SandboxRefusal, hash: string): Response {
  const response = respond(errorBody(refusal), "application/json", hash, refusal.status);
  if (refusal.status === 429) response.headers.set("retry-after", retryAfterSeconds);
  return response;
}

function respond(body: string | ReadableStream<Uint8Array>, contentType: string, hash: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: { "content-type": contentType, "x-request-id": `req_${hash.slice(0, 24)}` },
  });
}
