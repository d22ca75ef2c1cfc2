// /v3/responses over a WebSocket: each `response.create` message creates one response, whose events are sent as messages, one response at a
// time. The connection remembers the last response, so that it can be continued even when nothing is stored.

import type { Caller } from "../../access/caller.ts";
import { parse } from "../../contract/problems.ts";
import { createResponseRequest } from "../../contract/responses.ts";
import { errorCatalogue, GatewayError } from "../../errors.ts";
import type { LocalTurns, ResponsesAnswer } from "../../inference/responses/responses-input.ts";
import { Trace } from "../../inference/trace.ts";
import { editMembers } from "../../lib/json-scan.ts";
import { CallerLeft } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { checkScope } from "../check-call.ts";
import { toErrorMessage, toErrorObject } from "../error-reply.ts";
import { inlineUploads } from "../inline-uploads.ts";
import { type JsonBody, parseJson } from "../read-body.ts";
import type { RouteDependencies } from "../route-dependencies.ts";
import type { Socket, SocketRoute, SocketSession } from "../socket.ts";

type Dependencies = Pick<RouteDependencies, "responses" | "files" | "aliases" | "mayNameHost" | "log"> & {
  /** Counts a message as a request; throws when a limit is reached. */
  readonly admit: (socket: Socket) => void;
};

// Members of the message that do not belong to the request, or that a WebSocket implies.
const messageMembers: ReadonlySet<string> = new Set(["type", "event_id", "stream", "background", "generate"]);
const noEdits = new Map<string, string>();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function responsesSocket(dependencies: Dependencies): SocketRoute {
  const schema = createResponseRequest(dependencies.aliases, dependencies.mayNameHost);
  return { path: "/v3/responses", open: (socket) => new ResponsesSession(socket, dependencies, schema) };
}

class ResponsesSession implements SocketSession {
  readonly #socket: Socket;
  readonly #dependencies: Dependencies;
  readonly #schema: ReturnType<typeof createResponseRequest>;
  /** Only the last response can be continued. */
  #last: { readonly id: string; readonly items: readonly JsonObject[] } | null = null;
  #isRunning = false;
  #isDraining = false;
  #count = 0;

  constructor(socket: Socket, dependencies: Dependencies, schema: ReturnType<typeof createResponseRequest>) {
    this.#socket = socket;
    this.#dependencies = dependencies;
    this.#schema = schema;
  }

  receive(text: string): void {
    if (this.#isRunning) {
      const refusal = new GatewayError(
        "response_in_progress",
        "One response at a time: wait for the end of the last one.",
      );
      // Otherwise a client that keeps sending without reading would fill the memory with refusals.
      if (!this.#sendError(refusal)) this.#socket.close(1008, "Messages were sent while a response was running.");
      return;
    }
    this.#isRunning = true;
    this.#run(text)
      .catch((error) => this.#sendError(error))
      .finally(() => {
        this.#isRunning = false;
        if (this.#isDraining) this.#socket.close(1012, "The gateway is shutting down.");
      });
  }

  drain(): void {
    this.#isDraining = true;
    if (!this.#isRunning) this.#socket.close(1012, "The gateway is shutting down.");
  }

  async #run(message: string): Promise<void> {
    const caller = await this.#socket.identify();
    this.#dependencies.admit(this.#socket);
    const plain = parseJson(encoder.encode(message));
    const type = (plain.value as JsonObject | null)?.["type"];
    if (type !== "response.create")
      throw new GatewayError("unknown_message", "Unknown message type; send 'response.create'.", {
        param: "type",
      });
    const { previous_response_id: previousId } = plain.value as JsonObject;
    try {
      await this.#create(plain, caller);
    } finally {
      // A continuation that succeeds is remembered in place of the response that it continues.
      if (this.#last?.id === previousId) this.#last = null;
    }
  }

  async #create(plain: JsonBody, caller: Caller): Promise<void> {
    const { requestId, signal } = this.#socket;
    const edits = { replace: noEdits, remove: messageMembers, append: ['"stream":true'] };
    const edited = parseJson(encoder.encode(editMembers(plain.text, plain.scan, edits)));
    const { files } = this.#dependencies;
    const body = await inlineUploads(edited, { files, caller, format: "responses" });
    const request = parse(this.#schema, body.value);
    checkScope(caller, "responses");
    const answer = await this.#dependencies.responses.create({
      request,
      value: body.value as JsonObject,
      text: body.text,
      scan: body.scan,
      caller,
      connection: { signal },
      requestId: `${requestId}-${++this.#count}`,
      trace: new Trace(performance.now(), 0),
      wantsMetadata: false,
      local: this.#local,
      generates: (plain.value as JsonObject)["generate"] !== false,
    });
    if (answer.kind === "whole") throw new TypeError("a request with `stream: true` was not answered with a stream");
    await this.#relay(answer);
  }

  readonly #local: LocalTurns = {
    find: (id) => (this.#last?.id === id ? this.#last.items : null),
    remember: (id, items) => {
      this.#last = { id, items };
    },
  };

  async #relay({ stream, fail }: Extract<ResponsesAnswer, { kind: "stream" }>): Promise<void> {
    const leave = () => stream.abandon();
    this.#socket.signal.addEventListener("abort", leave, { once: true });
    try {
      for (;;) {
        const frames = this.#socket.signal.aborted ? null : stream.take();
        if (frames === null) return;
        if (frames === undefined) {
          await stream.wait();
          continue;
        }
        for (const frame of frames) await this.#send(frame);
      }
    } catch (error) {
      if (error instanceof CallerLeft) return;
      const { requestId } = this.#socket;
      for (const event of splitFrames(fail(toErrorObject(error, requestId, this.#dependencies.log))))
        await this.#send(event);
    } finally {
      this.#socket.signal.removeEventListener("abort", leave);
    }
  }

  /** The message is the event's data, which contains its name. */
  async #send(frame: Uint8Array | string): Promise<void> {
    const text = typeof frame === "string" ? frame : decoder.decode(frame);
    const data = text.slice(text.indexOf("data: ") + 6).trimEnd();
    if (data === "[DONE]") return;
    if (!this.#socket.send(data)) await this.#socket.drained();
  }

  /** False when the client does not read. */
  #sendError(error: unknown): boolean {
    if (error instanceof CallerLeft) return true;
    const isRead = this.#socket.send(toErrorMessage(error, this.#socket.requestId, this.#dependencies.log));
    // The key is no longer valid, so no message of this connection can succeed.
    if (error instanceof GatewayError && errorCatalogue[error.code].status === 401)
      this.#socket.close(1008, "The key is not valid.");
    return isRead;
  }
}

function splitFrames(bytes: Uint8Array): string[] {
  return decoder
    .decode(bytes)
    .split("\n\n")
    .filter((frame) => frame !== "");
}
