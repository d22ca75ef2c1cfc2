// What a WebSocket connection remembers of responses that are not stored is bounded, per conversation and per key.

import { expect, test } from "bun:test";
import { createConnectionMemories } from "../../src/http/endpoints/connection-memory.ts";
import type { ResponseEvent } from "../support/responses.ts";
import { SocketClient } from "../support/responses-socket.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const megabyte = 1_048_576;
const gateway = await sharedGateway({ env: { SWITCHYARD_MAX_WEBSOCKET_MESSAGE_BYTES: String(20 * megabyte) } });
const key = await gateway.createKey();
const long = "a".repeat(15 * megabyte);

const idOf = ({ response }: ResponseEvent) => response?.id;

test("a conversation of more than 32 MiB is not remembered, and its continuation is refused", async () => {
  const socket = await new SocketClient(gateway, key).opened();
  const unstored = { model: "sandbox/echo", generate: false, store: false };
  const first = await socket.ask({ ...unstored, input: long });
  const second = await socket.ask({ ...unstored, input: long, previous_response_id: idOf(first) });
  const third = await socket.ask({ ...unstored, input: long, previous_response_id: idOf(second) });
  expect([first.type, second.type, third.type]).toEqual(Array(3).fill("response.completed"));
  const fourth = await socket.ask({ ...unstored, input: "Hello", previous_response_id: idOf(third) });
  expect(fourth).toMatchObject({
    type: "error",
    status: 400,
    error: {
      code: "previous_response_not_found",
      param: "previous_response_id",
      message: "The conversation is too long to be continued.",
    },
  });
  const next = await socket.ask({ ...unstored, input: "one" });
  const last = await socket.ask({ ...unstored, input: "two", previous_response_id: idOf(next) });
  expect(last.type).toBe("response.completed");
  socket.socket.close();
});

test("the connections of a key remember 128 MiB together, and a closed connection or a shorter conversation frees its part", () => {
  const openMemory = createConnectionMemories();
  const open = (keyId: string) => {
    const controller = new AbortController();
    return { memory: openMemory(keyId, controller.signal), close: () => controller.abort() };
  };
  const items = [{ type: "message", text: "a".repeat(30 * megabyte) }];
  const connections = [1, 2, 3, 4, 5].map(() => open("one"));
  for (const { memory } of connections) memory.remember("long", items);
  const [first, second, third, , last] = connections;
  const tooMuch = expect.objectContaining({ code: "previous_response_not_found" });
  expect(third?.memory.find("long")).toEqual(items);
  expect(() => last?.memory.find("long")).toThrow(tooMuch);
  const other = open("two").memory;
  other.remember("long", items);
  expect(other.find("long")).toEqual(items);

  first?.close();
  last?.memory.remember("again", items);
  expect(last?.memory.find("again")).toEqual(items);
  // Frees nothing twice, and remembers nothing for a client that has left.
  first?.memory.remember("late", items);
  first?.memory.forget("long");
  const next = open("one").memory;
  next.remember("long", items);
  expect(() => next.find("long")).toThrow(tooMuch);
  second?.memory.remember("short", []);
  next.remember("long", items);
  expect(next.find("long")).toEqual(items);
});
