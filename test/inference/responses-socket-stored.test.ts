// Conversations over a WebSocket that begin with a turn that is not stored, at providers whose conversations the gateway stores.

import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createClient } from "../support/responses.ts";
import { SocketClient } from "../support/responses-socket.ts";
import { startResponsesVendor } from "../support/responses-vendor.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const vendor = await startResponsesVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const passing = { dialect: "openai", base_url: `${origin}/passing/v1`, api_key: "k", responses: "stateless" };
const config = {
  responses: { store_for_all: true },
  encryption_key: randomBytes(32).toString("base64"),
  providers: { passing },
};
const gateway = await sharedGateway({ vendor, config });
const client = createClient(gateway, await gateway.createKey());

const firsts = { "generate: false": { generate: false }, "store: false": { store: false } };

for (const model of ["sandbox/echo", "mockchat/echo", "passing/echo", "mock/echo"])
  test.each(
    Object.entries(firsts),
  )(`after a turn with %s, the stored turns have the whole conversation (${model})`, async (_, first) => {
    const socket = await new SocketClient(gateway, client.key).opened();
    const unstored = await socket.ask({ model, input: "one", ...first });
    expect(unstored.response?.store).toBe(false);
    const second = await socket.ask({ model, input: "two", previous_response_id: unstored.response?.id });
    expect(second.response).toMatchObject({ store: true, previous_response_id: unstored.response?.id });
    const third = await socket.ask({ model, input: "three", previous_response_id: second.response?.id });
    expect(third).toMatchObject({ type: "response.completed" });
    socket.socket.close();
    // Another provider gets the whole conversation from the gateway.
    const next = { model: "passing/echo", input: "four", previous_response_id: third.response?.id };
    const fourth = await client.create(next);
    expect(await inputTextsOf(fourth.id)).toEqual(["one", "two", "three", "four"]);
    for (const word of ["one", "two", "three", "four"]) expect(vendor.last().body.toString()).toContain(word);
  });

async function inputTextsOf(id: string): Promise<string[]> {
  const list = (await (await client.get(`${id}/input_items?order=asc&limit=100`)).json()) as {
    data: { role: string; content: { text: string }[] }[];
  };
  return list.data.flatMap(({ role, content }) => (role === "user" ? content.map(({ text }) => text) : []));
}
