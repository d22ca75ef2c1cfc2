// /v3/responses over a WebSocket: each `response.create` message creates one response, whose events are sent as messages, one response at a
// time. The connection remembers the last response, so that it can be continued even when nothing is stored.

import type { Caller } from "../../access/caller.ts";
import type { Limits } from "../../access/limits.ts";
import { parse } from "../../contract/problems.ts";
import { createResponseRequest } from "../../contract/responses.ts";
import { readTags } from "../../contract/tags.ts";
import { errorCatalogue, GatewayError } from "../../errors.ts";
import { type Refusal, toOutcome, toRefusal } from "../../inference/report.ts";
import type { ResponsesAnswer } from "../../inference/responses/responses-input.ts";
import { tagCaller } from "../../inference/tag-caller.ts";
import { Trace } from "../../inference/trace.ts";
import { editMembers } from "../../lib/json-scan.ts";
import { CallerLeft } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { Span, Tracing } from "../../tracing/span.ts";
import { checkScope } from "../check-call.ts";
import { toErrorMessage, toErrorObject } from "../error-reply.ts";
import { uploadsInliner } from "../inline-uploads.ts";
import { type JsonBody, parseJson } from "../read-body.ts";
import type { PrepareBody } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";
import type { Socket, SocketRoute, SocketSession } from "../socket.ts";
import { createConnectionMemories, type OpenConnectionMemory } from "./connection-memory.ts";

type Dependencies = Pick<RouteDependencies, "responses" | "files" | "aliases" | "mayNameHost" | "log"> & {
  /** Counts a message as a request; throws when a limit is reached. */
  readonly begin: Limits["begin"];
  /** Receives the messages that were refused before a provider was called. */
  readonly onRefused: (refusal: Refusal) => void;
  /** Null: traces are not exported. */
  readonly tracing: Tracing | null;
};

// Members of the message that do not belong to the request, or that a WebSocket implies.
const messageMembers: ReadonlySet<string> = new Set(["type", "event_id", "stream", "background", "generate"]);
const noEdits = new Map<string, string>();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const path = "/v3/responses";

export function responsesSocket(dependencies: Dependencies): SocketRoute {
  const { aliases, mayNameHost, files } = dependencies;
  const shared = {
    schema: createResponseRequest(aliases, mayNameHost),
    prepare: uploadsInliner(files, "responses"),
    openMemory: createConnectionMemories(),
  };
  return { path, open: (socket) => openSession(socket, shared, dependencies) };
}

interface SharedBySessions {
  readonly schema: ReturnType<typeof createResponseRequest>;
  readonly prepare: PrepareBody;
  readonly openMemory: OpenConnectionMemory;
}

function openSession(
  socket: Socket,
  { schema, prepare, openMemory }: SharedBySessions,
  { responses, begin, onRefused, tracing, log }: Dependencies,
): SocketSession {
  const { requestId, signal } = socket;
  let isRunning = false;
  let isDraining = false;
  let count = 0;
  const messageId = () => `${requestId}-${count}`;
  const local = openMemory(socket.caller.keyId, signal);

  async function run(message: string, trace: Trace): Promise<void> {
    const caller = await socket.identify();
    const running = await begin(caller);
    try {
      running.beginStream();
      await socket.reserve(message.length);
      await respond(message, caller, trace);
    } finally {
      running.end();
    }
  }

  async function respond(message: string, caller: Caller, trace: Trace): Promise<void> {
    const plain = parseJson(encoder.encode(message));
    const type = (plain.value as JsonObject | null)?.["type"];
    if (type !== "response.create")
      throw new GatewayError("unknown_message", "Unknown message type; send 'response.create'.", { param: "type" });
    const { previous_response_id: previousId } = plain.value as JsonObject;
    await socket.reserve(local.lengthOf(previousId));
    try {
      await create(plain, tagCaller(caller, readTags(plain.value), trace), trace);
    } finally {
      // A continuation that succeeds is remembered in place of the response that it continues.
      local.forget(previousId);
    }
  }

  async function create(plain: JsonBody, caller: Caller, trace: Trace): Promise<void> {
    const edits = { replace: noEdits, remove: messageMembers, append: ['"stream":true'] };
    const edited = parseJson(encoder.encode(editMembers(plain.text, plain.scan, edits)));
    checkScope(caller, "responses");
    const body = (await prepare(edited)?.(caller, socket.reserve)) ?? edited;
    const request = parse(schema, body.value);
    const answer = await responses.create({
      request,
      value: body.value as JsonObject,
      text: body.text,
      scan: body.scan,
      caller,
      connection: { signal },
      requestId: messageId(),
      trace,
      wantsMetadata: false,
      local,
      generates: (plain.value as JsonObject)["generate"] !== false,
    });
    if (answer.kind === "whole") throw new TypeError("a request with `stream: true` was not answered with a stream");
    await relay(answer);
  }

  async function relay({ stream, fail }: Extract<ResponsesAnswer, { kind: "stream" }>): Promise<void> {
    const leave = () => stream.abandon();
    // A client that left before the first event: a listener of an aborted signal is never called.
    if (signal.aborted) {
      leave();
      return;
    }
    signal.addEventListener("abort", leave, { once: true });
    try {
      for (;;) {
        const frames = signal.aborted ? null : stream.take();
        if (frames === null) return;
        if (frames === undefined) {
          await stream.wait();
          continue;
        }
        for (const frame of frames) await send(frame);
      }
    } catch (error) {
      if (error instanceof CallerLeft) return;
      for (const event of splitFrames(fail(toErrorObject(error, requestId, log)))) await send(event);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** The message is the event's data, which contains its name. */
  async function send(frame: Uint8Array | string): Promise<void> {
    const text = typeof frame === "string" ? frame : decoder.decode(frame);
    const data = text.slice(text.indexOf("data: ") + 6).trimEnd();
    if (data === "[DONE]") return;
    if (!socket.send(data)) await socket.drained();
  }

  /** False when the client does not read. */
  function refuse(error: unknown, trace: Trace): boolean {
    if (error instanceof CallerLeft) return true;
    if (trace.calls === 0) onRefused(toRefusal(error, { requestId: messageId(), caller: socket.caller, trace }));
    return sendError(error);
  }

  function sendError(error: unknown): boolean {
    const isRead = socket.send(toErrorMessage(error, requestId, log));
    // The key is no longer valid, so no message of this connection can succeed.
    if (error instanceof GatewayError && errorCatalogue[error.code].status === 401)
      socket.close(1008, "The key is not valid.");
    return isRead;
  }

  function closeForShutdown(): void {
    socket.close(1012, "The gateway is shutting down.");
  }

  return {
    receive(text) {
      if (isRunning) {
        const message = "One response at a time: wait for the end of the last one.";
        // Otherwise a client that keeps sending without reading would fill the memory with refusals.
        if (!refuse(new GatewayError("response_in_progress", message), createTrace()))
          socket.close(1008, "Messages were sent while a response was running.");
        return;
      }
      isRunning = true;
      count++;
      const trace = createTrace();
      if (tracing !== null) trace.span = startMessageSpan(tracing, messageId());
      let failure: string | null = null;
      run(text, trace)
        .catch((error: unknown) => {
          failure = toOutcome(error);
          refuse(error, trace);
        })
        .finally(() => {
          trace.end();
          trace.span?.end(failure ?? trace.attempts.at(-1)?.failure ?? null);
          isRunning = false;
          if (isDraining) closeForShutdown();
        });
    },
    drain() {
      isDraining = true;
      if (!isRunning) closeForShutdown();
    },
  };
}

/** Each message begins a trace: the headers of the connection belong to no message. */
function startMessageSpan(tracing: Tracing, requestId: string): Span {
  const attributes = { "http.route": path, "network.protocol.name": "websocket", "switchyard.request.id": requestId };
  return tracing.start({ name: `response.create ${path}`, kind: "server", attributes }, null);
}

function createTrace(): Trace {
  const trace = new Trace(performance.now(), 0);
  trace.path = path;
  return trace;
}

function splitFrames(bytes: Uint8Array): string[] {
  const frames = decoder.decode(bytes).split("\n\n");
  return frames.filter((frame) => frame !== "");
}
