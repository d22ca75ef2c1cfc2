// `responses.store_for_all`: the gateway keeps conversations itself, sealed, for every provider and across providers.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  answer,
  chatChunk,
  chatChunks,
  doneText,
  event,
  eventText,
  hang,
  rst,
  type Script,
  streamHead,
} from "../support/answers.ts";
import { claudeEvents, claudeMessage } from "../support/anthropic.ts";
import { readError } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { readFolder } from "../support/read-folder.ts";
import { type Client, createClient, type OwnResponse, readResponseStream, textOf } from "../support/responses.ts";
import { type ResponsesVendor, startResponsesVendor } from "../support/responses-vendor.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const newKey = () => randomBytes(32).toString("base64");
const firstKey = newKey();

let vendor: ResponsesVendor;
let folder: string;
let gateway: TestGateway;
let client: Client;

const storing = (key: string) => ({
  SWITCHYARD_RESPONSES_STORE_FOR_ALL: "true",
  SWITCHYARD_ENCRYPTION_KEY: key,
});

/** Of a gateway on the same data folder, as after a restart. */
function settings(env: Record<string, string>) {
  const origin = `http://127.0.0.1:${vendor.port}`;
  return {
    vendor,
    env: { SWITCHYARD_DATA_DIR: folder, ...env },
    config: {
      providers: {
        claude: { dialect: "anthropic", base_url: `${origin}/claude`, api_key: "k" },
        passing: { dialect: "openai", base_url: `${origin}/passing/v1`, api_key: "k", responses: "stateless" },
      },
    },
  };
}

beforeAll(async () => {
  vendor = await startResponsesVendor();
  folder = await mkdtemp(join(tmpdir(), "switchyard-stored-"));
  gateway = await testGateway(settings(storing(firstKey)));
  client = createClient(gateway, await gateway.createKey());
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => vendor.clear());

function bodyOf(last = vendor.last()): { messages: { role: string; content: unknown }[]; [more: string]: unknown } {
  return JSON.parse(last.body.toString());
}

test("references to one large item, again and again, are refused before the request fills the memory", async () => {
  const long = {
    choices: [{ index: 0, message: { role: "assistant", content: "x".repeat(100_000) }, finish_reason: "stop" }],
  };
  vendor.next(answer(200, { id: "c", object: "chat.completion", created: 1, model: "m", ...long }));
  const model = "mockchat/echo";
  const first = await client.create({ model, input: "hello" });
  const input = Array.from({ length: 400 }, () => ({ type: "item_reference", id: first.output[0]?.["id"] }));
  vendor.clear();
  expect(await readError(await client.post({ model, input }))).toMatchObject({ status: 422, code: "too_long" });
  expect(vendor.requests).toHaveLength(0);
});

describe("the limits of what a request reads from the store count the content, however well it compresses", () => {
  const long = "x".repeat(12_000_000);
  const model = "mockchat/echo";
  const tooLong = { status: 400, code: "previous_response_not_found" };
  const goOn = (id: string | undefined) => client.post({ model, input: "hi", previous_response_id: id });
  const referTo = (items: readonly unknown[]) =>
    client.post({ model, input: items.map((id) => ({ type: "item_reference", id })) });

  test("a conversation with too many bytes of items is not continued, but can be listed and retrieved", async () => {
    const first = await client.create({ model, input: long });
    const second = await client.create({ model, input: long, previous_response_id: first.id });
    const third = await client.create({ model, input: long, previous_response_id: second.id });
    vendor.clear();
    expect(await readError(await goOn(third.id))).toMatchObject(tooLong);
    expect(vendor.requests).toHaveLength(0);
    expect((await goOn(second.id)).status).toBe(200);
    expect((await listItems(third.id)).data).toHaveLength(5);
    expect((await client.retrieve(third.id)).id).toBe(third.id);
  });

  test("instructions, which each stored response repeats, count towards a higher limit", async () => {
    const turns: OwnResponse[] = [];
    for (let count = 0; count < 6; count += 1) {
      const previous_response_id = turns.at(-1)?.id ?? null;
      turns.push(await client.create({ model, input: "hi", instructions: long, previous_response_id }));
    }
    const items = turns.map(({ output }) => output[0]?.["id"]);
    vendor.clear();
    expect((await goOn(turns[4]?.id)).status).toBe(200);
    expect((await referTo(items.slice(0, 5))).status).toBe(200);
    expect(vendor.requests).toHaveLength(2);
    expect(await readError(await goOn(turns[5]?.id))).toMatchObject(tooLong);
    expect(await readError(await referTo(items))).toMatchObject({ status: 422, code: "too_long" });
    expect(vendor.requests).toHaveLength(2);
    const next = await client.create({ model, input: "hi", previous_response_id: turns[4]?.id ?? null });
    expect((await listItems(next.id)).data).toHaveLength(11);
  });
});

interface ItemList {
  readonly data: { id: string; type: string; role?: string; content?: unknown }[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

async function listItems(id: string, query = ""): Promise<ItemList> {
  return (await (await client.get(`${id}/input_items?${query}`)).json()) as ItemList;
}

describe("keeping", () => {
  test("the sandbox's responses can be asked for, listed, gone on from and deleted", async () => {
    const first = await client.create({ model: "sandbox/echo", input: "one", metadata: { a: "1" } });
    expect(first.store).toBe(true);
    expect(await client.retrieve(first.id)).toEqual(first);
    const second = await client.create({ model: "sandbox/echo", input: "two", previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    const items = await listItems(second.id, "order=asc");
    expect(items.data.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(await (await client.remove(first.id)).json()).toEqual({
      id: first.id,
      object: "response.deleted",
      deleted: true,
    });
    expect(await readError(await client.get(first.id))).toMatchObject({ status: 404, code: "response_not_found" });
  });

  test("a stream is kept as it ended, and its last event waits for that", async () => {
    const { id, last } = await client.stream({ model: "mockchat/echo", input: "one" });
    expect(last.response?.store).toBe(true);
    expect(await client.retrieve(id)).toEqual(last.response as never);
  });

  /** Head and all events of a stream in one write and with a length, so that the gateway gets all of it with its first read. */
  function inOneWrite(payloads: readonly { readonly type?: string }[], end = ""): Script {
    const events = payloads.map((payload) => (payload.type ? `event: ${payload.type}\n` : "") + eventText(payload));
    return answer(200, events.join("") + end, { "content-type": "text/event-stream" });
  }

  for (const model of ["mockchat/echo", "claude/echo", "passing/echo", "mock/echo", "sandbox/echo"]) {
    test(`a stream that arrives in one read is stored as it was reported, and can be continued (${model})`, async () => {
      if (model.startsWith("mockchat")) vendor.next(inOneWrite(chatChunks(["one", " read"]), doneText));
      if (model.startsWith("claude")) vendor.next(inOneWrite(claudeEvents(["one read"])));
      const { id, last } = await client.stream({ model, input: "one" });
      expect(last.type).toBe("response.completed");
      const { cost: _, provider_time: __, ...stored } = await client.retrieve(id);
      expect(stored).toMatchObject({ status: "completed", output: last.response?.output as never });
      if (model.startsWith("claude")) vendor.next(answer(200, claudeMessage("two")));
      const second = await client.create({ model, input: "two", previous_response_id: id });
      expect(second.status).toBe("completed");
    });
  }

  test("a stream that is complete before its reader leaves stays completed", async () => {
    vendor.next(inOneWrite(chatChunks(Array(100).fill("x".repeat(1_000))), doneText));
    const controller = new AbortController();
    const response = await client.post({ model: "mockchat/echo", input: "one", stream: true }, "", {
      signal: controller.signal,
    });
    const { value } = (await response.body?.getReader().read()) ?? {};
    controller.abort();
    const id = /"id":"(resp_[0-9a-f]{48})"/.exec(Buffer.from(value ?? []).toString())?.[1] ?? "";
    const stored = await waitFor("the response to have ended", async () => {
      const found = await client.retrieve(id);
      return found.status === "in_progress" ? null : found;
    });
    // Either the whole answer was read and stored, or it was cut off: never an end without its text.
    if (stored.status === "completed") expect(textOf(stored)).toHaveLength(100_000);
    else expect(stored["incomplete_details"]).toEqual({ reason: "cancelled" });
  });

  test("items of the input have ids, types and parts, and are paged by them", async () => {
    const input = [
      { role: "user", content: "a" },
      { role: "user", content: [{ type: "input_text", text: "b" }] },
      { type: "message", role: "user", content: "c" },
    ];
    const { id } = await client.create({ model: "mockchat/echo", input });
    const all = await listItems(id);
    expect(all).toMatchObject({ object: "list", has_more: false });
    expect(all.data.map(({ type, content }) => [type, content])).toEqual(
      ["c", "b", "a"].map((text) => ["message", [{ type: "input_text", text }]]),
    );
    expect(new Set(all.data.map((item) => item.id)).size).toBe(3);
    expect([all.first_id, all.last_id]).toEqual([all.data[0]?.id ?? "", all.data[2]?.id ?? ""]);
    const page = await listItems(id, "order=asc&limit=2");
    expect(page.has_more).toBe(true);
    const rest = await listItems(id, `order=asc&limit=2&after=${page.last_id}`);
    expect(rest.data.map(({ id: item }) => item)).toEqual([all.data[0]?.id ?? ""]);
    expect(await readError(await client.get(`${id}/input_items?after=msg_1`))).toMatchObject({
      status: 422,
      param: "after",
    });
  });

  test("a provider that has the format and no memory is given one", async () => {
    const first = await client.create({ model: "passing/echo", input: "one" });
    expect(first.store).toBe(true);
    expect(vendor.lastBody()["store"]).toBe(false);
    const second = await client.stream({ model: "passing/echo", input: "two", previous_response_id: first.id });
    expect(second.said).toBe("heard: one | two");
    expect(vendor.lastBody()).toMatchObject({ previous_response_id: null, store: false });
    expect(textOf(await client.retrieve(second.id))).toBe("heard: one | two");
    expect(JSON.stringify(await client.retrieve(second.id))).not.toMatch(/resp_vendor/);
  });

  test("with store: false nothing is kept", async () => {
    const { id, store } = await client.create({ model: "mockchat/echo", input: "one", store: false });
    expect(store).toBe(false);
    expect(await readError(await client.get(id))).toMatchObject({ code: "response_not_stored" });
  });
});

describe("going on", () => {
  test("a conversation moves from a provider with memory to others and back, and each is told all of it", async () => {
    const first = await client.create({ model: "mock/echo", input: "one" });
    const second = await client.create({ model: "mockchat/echo", input: "two", previous_response_id: first.id });
    expect(bodyOf().messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "one"],
      ["assistant", "heard: one"],
      ["user", "two"],
    ]);
    const third = await client.stream({ model: "mock2/echo", input: "three", previous_response_id: second.id });
    expect(third.said).toBe("heard: one | two | three");
    expect(vendor.lastBody()["previous_response_id"]).toBeNull();
    // No id of one provider, and none of ours, is told to another.
    expect(JSON.stringify(vendor.lastBody()["input"])).not.toMatch(/"id"/);
    const fourth = await client.create({ model: "mock2/echo", input: "four", previous_response_id: third.id });
    expect(vendor.lastBody()["previous_response_id"]).toMatch(/^resp_vendor/);
    expect(textOf(fourth)).toBe("heard: one | two | three | four");
    const fifth = await client.create({ model: "mock/echo", input: "five", previous_response_id: fourth.id });
    expect(textOf(fifth)).toBe("heard: one | two | three | four | five");
  });

  test("thoughts and calls of a model are told to it again, signed as they were", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "signed-by-the-vendor" };
    const call = { type: "tool_use", id: "toolu_1", name: "look", input: { at: "cat" } };
    vendor.next(answer(200, { ...claudeMessage(""), content: [thinking, call], stop_reason: "tool_use" }));
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const body = { model: "claude/c", tools, reasoning: { effort: "low" }, max_output_tokens: 4_000 };
    const first = await client.create({ ...body, input: "one" });
    expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    vendor.next(answer(200, claudeMessage("a cat")));
    const result = { type: "function_call_output", call_id: "toolu_1", output: "it purrs" };
    const second = await client.create({ ...body, input: [result], previous_response_id: first.id });
    expect(textOf(second)).toBe("a cat");
    const told = bodyOf().messages;
    expect(told[1]).toMatchObject({ role: "assistant", content: [thinking, call] });
    expect(JSON.stringify(told[2])).toContain("it purrs");
    // Another provider gets what it can read, and not the other's signature.
    await client.create({ model: "mock/echo", input: "two", previous_response_id: second.id });
    const elsewhere = JSON.stringify(vendor.lastBody());
    expect(elsewhere).toContain("it purrs");
    expect(elsewhere).not.toContain("reasoning");
    expect(elsewhere).not.toContain("signed-by-the-vendor");
  });

  test("a turn that was deleted breaks the conversation, and its later turns can still be read", async () => {
    const first = await client.create({ model: "mockchat/echo", input: "one" });
    const second = await client.create({ model: "mockchat/echo", input: "two", previous_response_id: first.id });
    const third = await client.create({ model: "mockchat/echo", input: "three", previous_response_id: second.id });
    await client.remove(second.id);
    expect(await client.retrieve(third.id)).toEqual(third);
    expect((await listItems(third.id)).data.map(({ content }) => content)).toEqual([
      [{ type: "input_text", text: "three" }],
    ]);
    vendor.clear();
    const error = await readError(
      await client.post({ model: "mockchat/echo", input: "x", previous_response_id: third.id }),
    );
    expect(error).toMatchObject({ status: 400, code: "previous_response_not_found", param: "previous_response_id" });
    expect(vendor.requests).toHaveLength(0);
    expect((await client.create({ model: "mockchat/echo", input: "x", previous_response_id: first.id })).store).toBe(
      true,
    );
  });

  test("work in the background can be taken elsewhere once its end was seen", async () => {
    const { id } = await client.create({ model: "mock/echo", input: "one", background: true });
    const early = await readError(await client.post({ model: "mockchat/echo", input: "x", previous_response_id: id }));
    expect(early.status).toBe(400);
    await client.retrieve(id);
    expect((await client.retrieve(id)).status).toBe("completed");
    await client.create({ model: "mockchat/echo", input: "two", previous_response_id: id });
    expect(bodyOf().messages.map(({ content }) => content)).toEqual(["one", "heard: one", "two"]);
  });
});

describe("streams that do not come to their end", () => {
  const begun: Script = [
    streamHead(),
    event(chatChunk({ role: "assistant", content: "" })),
    event(chatChunk({ content: "half" })),
  ];

  /** By then the end is written down; it is not waited for by the one who left. */
  const waitForStatus = (id: string, status: string) =>
    waitFor(`the response to be ${status}`, async () => {
      const response = await client.retrieve(id);
      return response.status === status ? response : null;
    });

  test("one that broke is told as failed, with what there was of it, and cannot be gone on from", async () => {
    vendor.next([...begun, rst]);
    const { id, last, done } = await client.stream({ model: "mockchat/echo", input: "one" });
    expect({ type: last.type, done }).toEqual({ type: "response.failed", done: false });
    const kept = await waitForStatus(id, "failed");
    expect(kept).toEqual(last.response as never);
    expect(textOf(kept)).toBe("half");
    const error = await readError(await client.post({ model: "mockchat/echo", input: "x", previous_response_id: id }));
    expect(error).toMatchObject({ status: 400, code: "previous_response_not_found" });
  });

  for (const model of ["mockchat/stall", "passing/stall"]) {
    test(`one whose reader left is told as incomplete, with that reason, and cannot be continued (${model})`, async () => {
      if (model.startsWith("mockchat")) vendor.on("stall", [...begun, hang]);
      const controller = new AbortController();
      const response = await client.post({ model, input: "one two three", stream: true }, "", {
        signal: controller.signal,
      });
      let text = "";
      for await (const bytes of response.body ?? []) {
        text += Buffer.from(bytes).toString();
        if (text.includes("text.delta")) break;
      }
      controller.abort();
      const id = /"id":"(resp_[0-9a-f]{48})"/.exec(text)?.[1] ?? "";
      const kept = await waitForStatus(id, "incomplete");
      expect(kept).toMatchObject({ store: true, incomplete_details: { reason: "cancelled" } });
      expect(kept.provider_time).toBeNumber();
      const chained = await readError(await client.post({ model, input: "x", previous_response_id: id }));
      expect(chained).toMatchObject({ status: 400, code: "previous_response_not_found" });
    });
  }

  test("one that runs is told as in progress; when the gateway died meanwhile, as failed in the end", async () => {
    const ownFolder = await mkdtemp(join(tmpdir(), "switchyard-stored-"));
    const own = await startGatewayProcess(
      settings({
        ...storing(firstKey),
        SWITCHYARD_DATA_DIR: ownFolder,
        // Long enough to find it in progress on a busy machine.
        SWITCHYARD_TOTAL_TIMEOUT_MS: "5000",
      }),
    );
    try {
      const ownClient = createClient(own, await own.createKey());
      vendor.on("stall", [...begun, hang]);
      const response = await ownClient.post({ model: "mockchat/stall", input: "one", stream: true });
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      const id = /"id":"(resp_[0-9a-f]{48})"/.exec(Buffer.from(value ?? []).toString())?.[1] ?? "";
      expect((await ownClient.retrieve(id)).status).toBe("in_progress");
      const [serving = 0] = (await own.processes()).serving;
      process.kill(serving, "SIGKILL");
      await reader?.cancel().catch(() => {});
      const ended = await waitFor("the response to be failed", async () => {
        const asked = await ownClient.get(id).catch(() => null);
        if (asked?.status !== 200) return null;
        const kept = (await asked.json()) as Record<string, unknown>;
        return kept["status"] === "failed" ? kept : null;
      });
      expect(ended).toMatchObject({ error: { code: "server_error" }, provider: "mockchat", provider_time: 0 });
    } finally {
      await own.kill();
      await rm(ownFolder, { recursive: true, force: true });
    }
  });
});

describe("at rest", () => {
  test("no word of a conversation can be read in the data folder, nor in the log", async () => {
    const marker = `marker-${crypto.randomUUID()}`;
    const first = await client.create({
      model: "mockchat/echo",
      input: `${marker} in`,
      metadata: { word: marker },
      instructions: marker,
    });
    await client.stream({ model: "mock/echo", input: `${marker} again`, previous_response_id: first.id });
    expect(textOf(await client.retrieve(first.id))).toContain(marker);
    const kept = await readFolder(folder);
    expect(kept).toContain(first.id);
    expect(kept).not.toContain(marker);
    expect(kept).not.toContain(firstKey);
    expect(gateway.log()).not.toContain(marker);
    expect(gateway.log()).not.toContain(firstKey);
  });

  test("what has expired is answered as what never existed", async () => {
    const { id } = await client.create({ model: "mockchat/echo", input: "one" });
    const files = await readdir(folder, { recursive: true });
    const file = files.find((name) => /\.(db|sqlite3?)$/.test(name));
    const database = new Database(join(folder, file ?? ""));
    // The gateway of this process writes to its ledger at the same time, and must be able to finish meanwhile.
    await waitFor("the store to be unlocked", () => {
      try {
        database.run("update responses set expires_at = ? where id = ?", [Date.now() - 1, id]);
        return true;
      } catch (error) {
        if (String(error).includes("locked")) return false;
        throw error;
      }
    });
    database.close();
    const error = await readError(await client.get(id));
    expect(error).toMatchObject({ status: 404, code: "response_not_found" });
    const chained = await readError(
      await client.post({ model: "mockchat/echo", input: "x", previous_response_id: id }),
    );
    expect(chained).toMatchObject({ status: 400, code: "previous_response_not_found" });
    expect(await readError(await client.remove(id))).toMatchObject({ status: 404, code: "response_not_found" });
  });

  test("a new key seals, an old one still opens; without its key nothing is told, and the log says why", async () => {
    const first = await client.create({ model: "mockchat/echo", input: "one" });
    const second = newKey();
    const restart = async (env: Record<string, string>) => {
      await gateway.stop();
      gateway = await testGateway(settings(env));
      client = createClient(gateway, client.key);
    };
    await restart(storing(`${second},${firstKey}`));
    expect(await client.retrieve(first.id)).toEqual(first);
    const next = await client.create({ model: "mockchat/echo", input: "two", previous_response_id: first.id });
    await restart(storing(second));
    expect(await client.retrieve(next.id)).toEqual(next);
    expect(await readError(await client.get(first.id))).toMatchObject({ status: 404, code: "response_not_found" });
    const chained = await readError(
      await client.post({ model: "mockchat/echo", input: "x", previous_response_id: next.id }),
    );
    expect(chained).toMatchObject({ status: 400, code: "previous_response_not_found" });
    await waitFor("the reason in the log", () => gateway.log().includes("unknown_key"));
    expect(gateway.log()).not.toContain(firstKey);
    // The operator has switched storage off: stored responses cannot be read.
    await restart({ SWITCHYARD_ENCRYPTION_KEY: second });
    expect(await readError(await client.get(next.id))).toMatchObject({ status: 404, code: "response_not_found" });
    await restart(storing(`${firstKey},${second}`));
    expect(await client.retrieve(first.id)).toEqual(first);
  });

  test("to keep conversations without a key to seal them is a mistake at the start", async () => {
    const started = startGatewayProcess({ vendor, env: { SWITCHYARD_RESPONSES_STORE_FOR_ALL: "true" } });
    await expect(started).rejects.toThrow("SWITCHYARD_ENCRYPTION_KEY");
  });
});

describe.skipIf(whyNoOwnPostgres() !== null)("a store that is away", () => {
  let postgres: OwnPostgres;
  let own: GatewayProcess;
  let ownClient: Client;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
    own = await startGatewayProcess(settings({ ...storing(firstKey), DATABASE_URL: await postgres.createStore() }));
    ownClient = createClient(own, await own.createKey());
  });
  afterAll(async () => {
    await own?.kill();
    await postgres?.stop();
  });

  test("a stream that ends while the store is away says that it failed; what cannot be kept is not told at all", async () => {
    const ready = Promise.withResolvers<void>();
    vendor.on("late", [
      streamHead(),
      event(chatChunk({ role: "assistant", content: "" })),
      event(chatChunk({ content: "half" })),
      { do: "until", ready: ready.promise },
      event(chatChunk({ content: " more" })),
      event(chatChunk({}, "stop")),
      event("[DONE]"),
    ]);
    const stored = await ownClient.create({ model: "mock/echo", input: "one" });
    const response = await ownClient.post({ model: "mockchat/late", input: "one", stream: true });
    await postgres.kill();
    ready.resolve();
    const { types, done, last } = readResponseStream(await response.text());
    expect(types).not.toContain("response.completed");
    expect({ done, last: last.type, status: last.response?.status }).toEqual({
      done: false,
      last: "response.failed",
      status: "failed",
    });
    for (const model of ["mockchat/echo", "mock/echo", "passing/echo"])
      for (const stream of [false, true]) {
        const error = await readError(await ownClient.post({ model, input: "one", stream }));
        expect([model, stream, error.status, error.code]).toEqual([model, stream, 503, "dependency_unavailable"]);
      }
    expect(await readError(await ownClient.get(stored.id))).toMatchObject({
      status: 503,
      code: "dependency_unavailable",
    });
    // What asks for nothing to be kept is answered all the same.
    expect(textOf(await ownClient.create({ model: "mockchat/echo", input: "one", store: false }))).toContain("one");
    await postgres.start();
    await waitFor("the store to be back", async () => (await ownClient.get(stored.id)).status === 200);
    expect(textOf(await ownClient.create({ model: "mock/echo", input: "two", previous_response_id: stored.id }))).toBe(
      "heard: one | two",
    );
  });
});
