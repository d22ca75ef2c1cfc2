// The pool of the engine process, as the serving and worker processes of the same gateway see it. One connection carries one job.

import { connect, type Socket } from "node:net";
import { GatewayError } from "../../errors.ts";
import { pause, startDeadline, untilAborted } from "../../lib/deadline.ts";
import type { Log } from "../../log.ts";
import { fromFailure } from "./failure.ts";
import { type ParsedAnswer, parseAnswer } from "./local-engine.ts";
import { type Job, type Pool, startJobDeadline } from "./pool.ts";
import { drainingError, startError } from "./pool-errors.ts";
import type { AnswerHead, EngineHead, FileHead, JobHead, PoolName } from "./socket-messages.ts";
import { MessageReader, sendMessage } from "./socket-messages.ts";

export interface EngineProcess {
  readonly socketPath: string;
  /** Asks the supervisor for the process, which may take a moment and may be repeated. */
  start(): void;
}

// The process starts within half a second on an idle machine.
const startTimeoutMs = 30_000;
const connectAgainMs = 50;

export function createRemotePool(engines: EngineProcess, pool: PoolName, log: Log): Pick<Pool, "run" | "close"> {
  const closing = new AbortController();

  async function run(job: Job): Promise<ParsedAnswer> {
    if (closing.signal.aborted) throw drainingError();
    using deadline = startJobDeadline(job, [closing.signal]);
    const socket = await openConnection(engines, deadline.signal);
    try {
      return await untilAborted(exchange(socket, job), deadline.signal);
    } finally {
      socket.destroy();
    }
  }

  function exchange(socket: Socket, job: Job): Promise<ParsedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ParsedAnswer>();
    const reader = new MessageReader<EngineHead>();
    socket.on("data", (piece: Buffer) => {
      for (const { head, parts } of reader.push(piece)) {
        if ("progress" in head) job.onProgress?.(head.progress);
        else if ("read" in head) sendFile(socket, job, head.read).catch(reject);
        else if ("answer" in head) resolve(toAnswer(head.answer, parts));
        else reject(fromFailure(head.failure, job.task, log));
      }
    });
    socket.on("close", () => reject(lostError(job.task)));
    const { task, model, input, owner, lane, timeLimit } = job;
    const files = Object.entries(job.files).map(([member, { name, mediaType, size }]) => [
      member,
      { name, mediaType, size },
    ]);
    const timeoutMs = job.deadline - performance.now();
    const head: JobHead = {
      pool,
      task,
      model,
      input,
      owner,
      lane,
      timeLimit,
      timeoutMs,
      files: Object.fromEntries(files),
    };
    sendMessage(socket, head);
    return promise;
  }

  return {
    run,
    async close() {
      closing.abort(drainingError());
    },
  };
}

/** Starts the process if nothing listens. */
async function openConnection(engines: EngineProcess, signal: AbortSignal): Promise<Socket> {
  using deadline = startDeadline({
    timeoutMs: startTimeoutMs,
    signals: [signal],
    reason: (fired) => fired?.reason ?? startError(new Error("The engine process did not start.")),
  });
  for (;;) {
    const socket = await tryToConnect(engines.socketPath);
    if (socket !== null) return socket;
    engines.start();
    if (!(await pause(connectAgainMs, deadline.signal))) throw deadline.signal.reason;
  }
}

/** Null if nothing listens. */
function tryToConnect(path: string): Promise<Socket | null> {
  const { promise, resolve } = Promise.withResolvers<Socket | null>();
  const socket = connect(path, () => resolve(socket));
  // After the connection is open, its end is handled by "close".
  socket.on("error", () => resolve(null));
  return promise;
}

async function sendFile(socket: Socket, job: Job, member: string): Promise<void> {
  const bytes = await job.files[member]?.read();
  if (bytes === undefined) throw new Error(`There is no file ${member}.`);
  sendMessage<FileHead>(socket, { file: member }, [bytes]);
}

function toAnswer({ binaries, ...answer }: AnswerHead, [output, ...parts]: readonly Uint8Array[]): ParsedAnswer {
  return parseAnswer({
    ...answer,
    outputJson: new TextDecoder().decode(output),
    binaries: binaries.map((binary, index) => ({ ...binary, bytes: parts[index] ?? new Uint8Array() })),
  });
}

function lostError(task: string): GatewayError {
  return new GatewayError("provider_error", `The process of the local engines ended while it performed ${task}.`);
}
