// A pretend vendor in the OpenAI format, and for streams in Anthropic's too, run as its own process so that its CPU time is nobody's.
// It speaks raw HTTP/1.1 over sockets: one event is exactly one write, and a full socket is noticed at once.
//
// The last part of the model's name chooses the answer: `plain`, `stream` (events at an interval), `translated` (the same in
// Anthropic's format), `flood` (as fast as the socket takes them), `silent` (no answer). GET /sent says how many bytes of flood have left.

import type { Socket } from "bun";
import { chatCompletionAnswer } from "./requests.ts";

type Connection = {
  received: string;
  unsent: Buffer | undefined;
  afterDrain: (() => void) | undefined;
  stop: () => void;
};

const { chunks, intervalMs, floodLimitBytes } = JSON.parse(process.argv[2] ?? "{}") as {
  chunks: number;
  intervalMs: number;
  floodLimitBytes: number;
};

const plainAnswer = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${chatCompletionAnswer.length}\r\n\r\n${chatCompletionAnswer}`;
const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const streamEnd = "0\r\n\r\n";
const usage = { prompt_tokens: 300, completion_tokens: chunks, total_tokens: 300 + chunks };
const events = [
  ...Array.from({ length: chunks }, (_, index) => frameChunk({ content: `w${index} ` }, null)),
  frameChunk({}, "stop"),
  frameEvent(JSON.stringify({ ...chunkMembers(), choices: [], usage })),
  frameEvent("[DONE]"),
];
const block = { type: "content_block_delta", index: 0 };
const namedEvents = [
  frameNamed({
    type: "message_start",
    message: {
      id: "msg_bench",
      role: "assistant",
      content: [],
      model: "bench-model",
      usage: { input_tokens: 300, output_tokens: 1 },
    },
  }),
  frameNamed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ...Array.from({ length: chunks }, (_, index) =>
    frameNamed({ ...block, delta: { type: "text_delta", text: `w${index} ` } }),
  ),
  frameNamed({ type: "content_block_stop", index: 0 }),
  frameNamed({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: chunks },
  }),
  frameNamed({ type: "message_stop" }),
];
const floodBlock = Buffer.from(frameChunk({ content: "flood ".repeat(150) }, null).repeat(16));

let floodSentBytes = 0;

const listener = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { received: "", unsent: undefined, afterDrain: undefined, stop: () => {} };
      socket.setNoDelay(true);
    },
    data(socket, bytes) {
      socket.data.received += bytes.toString("latin1");
      const body = takeRequest(socket.data);
      if (body !== undefined) answer(socket, body);
    },
    drain(socket) {
      const { unsent } = socket.data;
      socket.data.unsent = undefined;
      if (unsent) send(socket, unsent);
      if (!socket.data.unsent) socket.data.afterDrain?.();
    },
    close(socket) {
      socket.data.stop();
    },
    error(socket) {
      socket.data.stop();
    },
  },
});
console.log(listener.port);
endWithParent();

/** The body of a request that has arrived whole; callers send one request at a time. */
function takeRequest(connection: Connection): string | undefined {
  const headEnd = connection.received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = connection.received.slice(0, headEnd);
  if (head.startsWith("GET ")) {
    connection.received = "";
    return "GET";
  }
  if (/^transfer-encoding:/im.test(head)) return takeChunkedBody(connection, headEnd + 4);
  const length = Number(/^content-length:\s*(\d+)/im.exec(head)?.[1] ?? 0);
  if (connection.received.length < headEnd + 4 + length) return undefined;
  const body = connection.received.slice(headEnd + 4, headEnd + 4 + length);
  connection.received = connection.received.slice(headEnd + 4 + length);
  return body;
}

function takeChunkedBody(connection: Connection, bodyStart: number): string | undefined {
  if (!connection.received.endsWith("0\r\n\r\n")) return undefined;
  const body = connection.received.slice(bodyStart);
  connection.received = "";
  return body;
}

function answer(socket: Socket<Connection>, body: string): void {
  if (body === "GET") {
    const sent = String(floodSentBytes);
    send(socket, Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${sent.length}\r\n\r\n${sent}`));
    return;
  }
  const model = /"model":\s*"([^"]*)"/.exec(body)?.[1] ?? "";
  if (model.endsWith("silent")) return;
  if (model.endsWith("stream")) streamTo(socket, events);
  else if (model.endsWith("translated")) streamTo(socket, namedEvents);
  else if (model.endsWith("flood")) floodTo(socket);
  else send(socket, Buffer.from(plainAnswer));
}

function streamTo(socket: Socket<Connection>, events: readonly string[]): void {
  send(socket, Buffer.from(streamHead));
  let next = 0;
  const timer = setInterval(() => {
    const event = events[next++];
    send(socket, Buffer.from(event ?? streamEnd));
    if (event === undefined) clearInterval(timer);
  }, intervalMs);
  socket.data.stop = () => clearInterval(timer);
}

function floodTo(socket: Socket<Connection>): void {
  let sentBytes = 0;
  let isOpen = true;
  socket.data.stop = () => {
    isOpen = false;
  };
  const pour = () => {
    // In turns of 16 blocks, so that a reader who keeps up does not starve the other connections of this process.
    for (let block = 0; block < 16; block++) {
      if (!isOpen) return;
      if (sentBytes >= floodLimitBytes) {
        socket.data.afterDrain = undefined;
        send(socket, Buffer.from(streamEnd));
        return;
      }
      send(socket, floodBlock);
      sentBytes += floodBlock.length;
      floodSentBytes += floodBlock.length;
      if (socket.data.unsent) return;
    }
    setImmediate(pour);
  };
  socket.data.afterDrain = pour;
  send(socket, Buffer.from(streamHead));
  pour();
}

function send(socket: Socket<Connection>, bytes: Buffer): void {
  if (socket.data.unsent) {
    socket.data.unsent = Buffer.concat([socket.data.unsent, bytes]);
    return;
  }
  const written = socket.write(bytes);
  if (written >= 0 && written < bytes.length) socket.data.unsent = bytes.subarray(written);
}

function frameChunk(delta: object, finishReason: string | null): string {
  return frameEvent(JSON.stringify({ ...chunkMembers(), choices: [{ index: 0, delta, finish_reason: finishReason }] }));
}

function frameEvent(text: string): string {
  const event = `data: ${text}\n\n`;
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

function frameNamed(event: { type: string; [member: string]: unknown }): string {
  const text = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function chunkMembers() {
  return { id: "chatcmpl-bench-0001", object: "chat.completion.chunk", created: 1700000000, model: "bench-model" };
}

/** The bench holds our standard input open; when it is gone, however it ended, so are we. */
function endWithParent(): void {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.resume();
}
