// Recorded answers of vendors, replayed through the gateway: a client reads from it what the vendor's own client reads from the
// same bytes, in whatever pieces they arrive. The recordings are a folder of recorded exchanges beside the checkout, or
// the one that SWITCHYARD_RECORDINGS names; they are not a part of this project.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Door, type Excuse, excuses } from "../recordings/excuses.ts";
import { fromMessagesFailure, toMessagesView } from "../recordings/messages-view.ts";
import { compare, type Difference, isSameAnswer, type Outcome } from "../recordings/outcome.ts";
import { readWithAnthropic } from "../recordings/readers/anthropic.ts";
import { assembleWithOpenAI, readWithOpenAI } from "../recordings/readers/openai.ts";
import { findRecordings, type JsonObject, type Recording, readRecordings } from "../recordings/recording.ts";
import { type Mode, modesOf, type Replay, startReplay, toPrompt } from "../recordings/replay.ts";
import { toChatRequest, toMessagesRequest } from "../recordings/request.ts";
import { readWithVendorClient } from "../recordings/vendor-client.ts";
import { readEvents } from "../support/events.ts";
import type { Gateway } from "../support/gateway-settings.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";

const folder = findRecordings();
if (folder === null)
  test.skip("recorded answers: there is no folder of recordings beside the checkout, and SWITCHYARD_RECORDINGS names none", () => {});
else replayAll(await readRecordings(folder));

function replayAll(recordings: readonly Recording[]): void {
  let replay: Replay;
  let mock: Vendor;
  let gateway: Gateway;
  let key: string;
  const vendorReadings = new Map<Recording, Promise<Outcome>>();
  const applied = new Set<Excuse>();
  const needed = new Set<Excuse>();

  beforeAll(async () => {
    replay = startReplay(recordings);
    mock = await startVendor();
    gateway = await testGateway({
      vendor: mock,
      config: { providers: Object.fromEntries(recordings.map(({ provider }) => [provider, toSettings(provider)])) },
      env: {
        // Each recording is asked for once, and its failures are its own.
        SWITCHYARD_RETRIES: "0",
        SWITCHYARD_BREAKER_FAILURES: "0",
        AWS_ACCESS_KEY_ID: "an-id",
        AWS_SECRET_ACCESS_KEY: "a-secret",
        AWS_REGION: "us-east-1",
      },
    });
    key = await gateway.createKey();
  });

  afterAll(async () => {
    await gateway?.stop();
    await mock?.stop();
    await replay?.stop();
  });

  function toSettings(provider: string): JsonObject {
    // One vendor's requests are signed, with credentials from the environment.
    return provider === "bedrock" ? { base_url: replay.url } : { base_url: replay.url, api_key: "a-key" };
  }

  /** Read once, by whoever asks first. */
  function readVendor(recording: Recording): Promise<Outcome> {
    const reading = vendorReadings.get(recording) ?? readWithVendorClient(recording, replay.url);
    vendorReadings.set(recording, reading);
    return reading;
  }

  function gatewayTarget() {
    const toFailure = (status: number | null, code: string) => ({ status, code });
    return { baseURL: `${gateway.url}/v3`, apiKey: key, toFailure };
  }

  function withoutExcused(door: Door, recording: Recording, found: readonly Difference[]): readonly Difference[] {
    const held = excuses.filter((excuse) => excuse.door === door && excuse.applies(recording));
    for (const excuse of held) applied.add(excuse);
    return found.filter(({ member }) => {
      const excuse = held.find(({ members }) => members.includes(member));
      if (excuse !== undefined) needed.add(excuse);
      return excuse === undefined;
    });
  }

  /** What the vendor's client reads, in every mode, and the same in all of them. */
  async function expectParity(
    door: Door,
    recording: Recording,
    vendor: Outcome,
    read: (mode: Mode) => Promise<Outcome>,
  ): Promise<void> {
    const answers = await Promise.all(modesOf(recording).map(async (mode) => ({ mode, answer: await read(mode) })));
    for (const { mode, answer } of answers) {
      const differences = withoutExcused(door, recording, compare(vendor, answer));
      const unlike = answers.filter((other) => !isSameAnswer(other.answer, answer));
      expect({ mode, differences, unlike }).toEqual({ mode, differences: [], unlike: [] });
    }
  }

  describe("a client of the chat format reads what the vendor's client reads, in whatever pieces it arrives", () => {
    for (const recording of recordings)
      test.concurrent(recording.name, async () => {
        const vendor = await readVendor(recording);
        await expectParity("chat", recording, vendor, (mode) =>
          readWithOpenAI(toChatRequest(recording, mode), gatewayTarget()),
        );
      });
  });

  describe("a client of the Messages format reads it too", () => {
    for (const recording of recordings)
      test.concurrent(recording.name, async () => {
        const plain = await readVendor(recording);
        const vendor = recording.kind === "messages" ? plain : toMessagesView(plain);
        const target = { ...gatewayTarget(), toFailure: fromMessagesFailure(vendor.failure) };
        await expectParity("messages", recording, vendor, async (mode) => {
          const { outcome } = await readWithAnthropic(toMessagesRequest(recording, mode), target);
          return outcome;
        });
      });
  });

  describe("a message of a vendor with that format comes out as it is", () => {
    for (const recording of recordings.filter(({ kind, status }) => kind === "messages" && status === 200))
      test.concurrent(recording.name, async () => {
        const request = toMessagesRequest(recording, "event");
        const target = { baseURL: replay.url, apiKey: "a-key", toFailure: fromMessagesFailure(null) };
        const direct = await readWithAnthropic({ ...request, model: "recorded" }, target);
        const passed = await readWithAnthropic(request, gatewayTarget());
        expect(toPlain(passed.message)).toEqual(toPlain(direct.message));
        if (passed.message === null || !recording.stream) return;
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const body = JSON.stringify(request);
        const raw = await fetch(`${gateway.url}/v3/v1/messages`, { method: "POST", headers, body });
        expect(toPlainEvents(await raw.text())).toEqual(toPlainEvents(recording.body.toString()));
      });
  });

  describe("the chat format's client puts a stream together as it does with the vendor's", () => {
    for (const recording of recordings.filter(({ stream, status }) => stream && status === 200))
      test.concurrent(recording.name, async () => {
        const { response_format: _, ...request } = toChatRequest(recording, "event");
        const complaint = await assembleWithOpenAI(request, gatewayTarget());
        const { failure } = await readVendor(recording);
        if (complaint === null || failure !== null) return;
        // What the client cannot take from the vendor either, the gateway passes on as it came.
        const messages = [{ role: "user", content: toPrompt(recording, "event") }];
        const target = { ...gatewayTarget(), baseURL: replay.url };
        const direct = await assembleWithOpenAI({ model: "recorded", messages, stream: true }, target);
        expect(complaint).toBe(direct ?? "");
      });
  });

  test("every excuse that applies is needed", () => {
    expect([...applied].filter((excuse) => !needed.has(excuse)).map(({ why }) => why)).toEqual([]);
  });
}

const ourMembers = ["provider", "cost", "cost_reason", "provider_time"];

/** Without what the gateway adds, and what the client knows of the connection. */
function toPlain(message: JsonObject | null): JsonObject {
  const entries = Object.entries(JSON.parse(JSON.stringify(message)) ?? {}) as [string, unknown][];
  return Object.fromEntries(entries.filter(([name]) => !ourMembers.includes(name)));
}

function toPlainEvents(text: string): readonly unknown[] {
  return readEvents(text).events.map(({ name, data }) => ({ name, value: toPlain(JSON.parse(data)) }));
}
